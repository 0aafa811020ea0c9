/**
 * The memory-only Redis, and the proof that card data in flight cannot reach a disk (invariant 7).
 *
 * Each new connection is proved before a data command may use it: after a failover or a restart another server answers
 * under the same address. The server may be down, also at start: then data commands are rejected at once (decision 25).
 */
import { Redis as Single } from 'ioredis'
import type { Config } from '../../runtime/config.js'
import { delay } from '../../runtime/delay.js'
import type { ProcessContext } from '../../runtime/lifecycle.js'
import { messageOf } from '../../runtime/message-of.js'
import { NoAnswerInTime } from '../../runtime/with-timeout.js'
import { connectInBackground, disconnect, lastErrorOf, type Redis } from '../connection/connections.js'
import {
  isFullOfClients,
  isRedisUnavailable,
  isRefusal,
  RedisUnavailable,
  reasonOf
} from '../connection/redis-errors.js'
import { keys } from '../keys.js'
import { requireRights } from './acl-rights.js'
import { type Installation, otherTie, tieMemoryOnly } from './installation.js'
import { type DiskUse, diskUseOf, inTime } from './memory-only-settings.js'
import { versionProblem } from './server-state.js'

/** How long a start waits for the server before it continues without it (ms). */
const START_WAIT_MS = 3_000
const LOOK_AGAIN_MS = 100
const LOOK_AGAIN_REFUSED_MS = 1_000
/** How often a proved server is asked again: its settings can change while it runs. */
const LOOK_EVERY_MS = 2_000
const NO_CLUSTER = 'SECRETS_REDIS_URL must name one server or Sentinels, not a Cluster.'

/**
 * What may be sent to a server that is not proved: handshake, proof and health. EVAL is the check of permissions; a
 * script with data begins with EVALSHA, and its EVAL follows NOSCRIPT of the same connection at once.
 */
const HARMLESS = new Set(['auth', 'hello', 'select', 'client', 'info', 'config', 'ping', 'quit', 'eval'])

type Probe = { readonly kind: 'down'; readonly reason: string } | ({ readonly kind: 'asked' } & DiskUse)

/**
 * The connection of a process to the memory-only Redis; it is closed at the stop of the process. Rejects when the server,
 * or a replica of it, is found to write to a disk, refuses to tell, or serves another installation: a token that was made
 * in the test environment is never found in live. In /readyz that is a problem; a server
 * that is down is a problem only where it is `required`, and else a warning.
 */
export async function openMemoryOnly(
  context: Pick<ProcessContext, 'log' | 'onStop' | 'onReadyCheck' | 'onWarning'> & {
    readonly config: Pick<Config, 'environment' | 'redisUrl' | 'secretsRedisUrl'>
  },
  installation: Installation,
  need: 'required' | 'optional'
): Promise<Redis> {
  const { config, log, onStop, onReadyCheck, onWarning } = context
  const secrets = connectInBackground(config.secretsRedisUrl, 'secrets', log, 'SECRETS_REDIS_URL')
  onStop('memory-only redis', () => disconnect(secrets))
  if (!(secrets instanceof Single)) throw new Error(NO_CLUSTER)
  const look = proveConnections(secrets, installation)
  const found = await untilAsked(look)
  if (found.kind === 'asked' && found.problem !== undefined) throw new Error(found.problem)
  await requireRights(secrets, 'SECRETS_REDIS_URL', context, async () => (await look()).kind === 'asked')
  onReadyCheck('memory-only redis', async () => {
    const now = await look()
    if (now.kind === 'asked') return now.problem
    return need === 'required' ? downSentence(now.reason) : undefined
  })
  onWarning('memory-only redis', async () => {
    const now = await look()
    if (now.kind === 'asked') return now.warning
    return need === 'optional' ? downSentence(now.reason) : undefined
  })
  return secrets
}

/**
 * The same questions for a command that works with no data, asked once. `settings`: a connection that reads settings. Writes
 * nothing. Rejects while the server is down.
 */
export async function memoryOnlyProblems(
  secrets: Redis,
  settings: Redis,
  installation: Installation | null
): Promise<DiskUse> {
  if (!(settings instanceof Single)) throw new Error(NO_CLUSTER)
  const use = await diskUseOf(settings)
  if (use.problem !== undefined || installation === null) return use
  return { ...use, problem: otherTie(await secrets.get(keys.installation()), installation) }
}

function downSentence(reason: string): string {
  return `The Redis of SECRETS_REDIS_URL can't be used (${reason}). Requests with tokens and CVVs are answered 503; all others go on, without locks where REDLOCK_URLS is empty. ${adviceFor(reason)}`
}

function adviceFor(reason: string): string {
  if (reason.startsWith('READONLY'))
    return 'It is a replica: name the master in SECRETS_REDIS_URL, or end REPLICAOF there.'
  if (reason.startsWith('OOM')) return 'It is full: raise its maxmemory.'
  if (reason.startsWith('NOREPLICAS')) return 'Bring its replicas back, or lower its min-replicas-to-write.'
  if (isFullOfClients(reason)) return 'Raise its maxclients.'
  return 'Start it again.'
}

/** Rejects data commands of `secrets` unless the server of its connection is proved. Returns a way to look again. */
function proveConnections(secrets: Single, installation: Installation): () => Promise<Probe> {
  let isProved = false
  const send = secrets.sendCommand.bind(secrets)
  secrets.sendCommand = (command, stream) => {
    if (isProved || HARMLESS.has(command.name) || command.args[0] === keys.installation()) return send(command, stream)
    command.reject(new RedisUnavailable('The memory-only Redis is down, or not proved to keep nothing on a disk.'))
    return command.promise
  }
  let refusal: string | undefined
  let looking: Promise<Probe> | null = null
  const lookOnce = async (): Promise<Probe> => {
    const { stream } = secrets
    const found = await probe(secrets, installation, refusal)
    if (found.kind === 'asked' && secrets.stream === stream) isProved = found.problem === undefined
    return found
  }
  const look = (): Promise<Probe> => {
    looking ??= lookOnce().finally(() => {
      looking = null
    })
    return looking
  }
  let watching: AbortController | null = null
  const watch = async ({ signal }: AbortController): Promise<void> => {
    while (!signal.aborted) {
      const found = await look()
      // A refused question is asked again: the server may load its ACL late.
      const isRefused = found.kind === 'asked' && found.problem !== undefined
      await delay(isProved ? LOOK_EVERY_MS : isRefused ? LOOK_AGAIN_REFUSED_MS : LOOK_AGAIN_MS, signal)
    }
  }
  secrets.on('close', () => {
    isProved = false
    looking = null
    watching?.abort()
  })
  secrets.on('ready', () => {
    refusal = undefined
    watching?.abort()
    watching = new AbortController()
    void watch(watching)
  })
  secrets.on('error', error => {
    refusal = isRefusal(error) ? error.message : undefined
  })
  return look
}

/** `refusal`: why the server did not let this process log in. */
async function probe(secrets: Single, installation: Installation, refusal: string | undefined): Promise<Probe> {
  try {
    const use = await diskUseOf(secrets)
    const problem = (await inTime(versionProblem(secrets, 'SECRETS_REDIS_URL'))) ?? use.problem
    // It forgets what it is tied to when it is restarted, so each look ties it again.
    if (problem === undefined) await inTime(tieMemoryOnly(secrets, installation))
    return { kind: 'asked', ...use, problem }
  } catch (error) {
    const problem = refusal ?? (isDown(error) ? undefined : messageOf(error))
    return problem === undefined
      ? { kind: 'down', reason: reasonOf(error, lastErrorOf(secrets)) }
      : { kind: 'asked', problem, warning: undefined }
  }
}

function isDown(error: unknown): boolean {
  return (isRedisUnavailable(error) && !isRefusal(error)) || error instanceof NoAnswerInTime
}

async function untilAsked(look: () => Promise<Probe>): Promise<Probe> {
  const endMs = performance.now() + START_WAIT_MS
  while (true) {
    const found = await look()
    if (found.kind === 'asked' || performance.now() > endMs) return found
    await delay(LOOK_AGAIN_MS)
  }
}
