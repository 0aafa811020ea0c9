/**
 * Which installation the data of a Redis belongs to.
 *
 * The first process writes the environment, the number of partitions and an id into the key `installation`. From then on
 * every process and the operator compare before they write anything: test processes on live data would let buyers pay
 * with a simulator, and with another number of partitions every merchant would be looked for in the wrong place.
 */
import { randomUUID } from 'node:crypto'
import type { Environment } from '../../machines/model.js'
import type { Config } from '../../runtime/config.js'
import { delay } from '../../runtime/delay.js'
import { CannotAsk } from '../../runtime/health.js'
import { parseJson } from '../../runtime/json.js'
import type { ProcessContext } from '../../runtime/lifecycle.js'
import { version } from '../../runtime/version.js'
import type { Redis } from '../connection/connections.js'
import { RedisUnavailable } from '../connection/redis-errors.js'
import { rejectAsUnreachable } from '../connection/unreachable.js'
import { keys } from '../keys.js'
import { FORMAT, readable, required, storedValue } from '../stored-fields.js'

/** What the data was created as. */
export interface Installation {
  readonly environment: Environment
  readonly partitions: number
  readonly id: string
}

/** Its format number is that of all the data. */
const storedInstallation = storedValue<Installation>('installation', {
  id: [required],
  environment: [required],
  partitions: [required]
})

/** The key `installation` of a memory-only Redis. */
const storedTie = storedValue<Pick<Installation, 'environment' | 'id'>>('installation', {
  id: [required],
  environment: [required]
})

/** Its elements: the format, the id, the environment. */
const TIE_LENGTH = 3

/** What a process is configured with; partitions by those that use them. An empty id is not compared. */
type Wanted = Pick<Config, 'environment' | 'installationId'> & { readonly partitions?: number }

const WAIT_FOR_BIRTH_MS = 200

/**
 * Compares; where there is no data yet, writes what it is, in one atomic command. Throws a sentence about a difference.
 * Data that exists is only read, because a Redis that is full or read-only still answers reads.
 */
export async function claimInstallation(redis: Redis, wanted: Wanted & { partitions: number }): Promise<Installation> {
  const { environment, partitions, installationId } = wanted
  const known = await findInstallation(redis)
  if (known !== null) return requireAgreement(known, wanted)
  const born: Installation = { environment, partitions, id: installationId || randomUUID() }
  const found = await redis.set(keys.installation(), storedInstallation.encode(born), 'NX', 'GET')
  return found === null ? born : requireAgreement(readStamp(found), wanted)
}

/** For a process that may not write: compares, and waits for another process to write what the data is. */
export async function awaitInstallation(
  redis: Redis,
  { config, log, signal }: Pick<ProcessContext, 'log' | 'signal'> & { readonly config: Wanted }
): Promise<Installation> {
  for (let tries = 0; ; tries++) {
    const found = await findInstallation(redis)
    if (found !== null)
      return requireAgreement(found, { environment: config.environment, installationId: config.installationId })
    if (tries === 0) log.warn('the durable Redis holds no data yet; start `api`, `payments` or `timers`')
    await delay(WAIT_FOR_BIRTH_MS, signal)
    signal.throwIfAborted()
  }
}

/** What the data was created as; null when there is none. */
export async function findInstallation(redis: Redis): Promise<Installation | null> {
  const found = await redis.get(keys.installation())
  return found === null ? null : readStamp(found)
}

/** Ties a memory-only Redis to the installation of the durable one. Throws a sentence when it is tied to another one. */
export async function tieMemoryOnly(secrets: Redis, installation: Installation): Promise<void> {
  const { environment, id } = installation
  const stamp = storedTie.encode({ environment, id })
  // A write, also where the tie exists: a server that is read-only or full refuses it, and every token.
  const found = await secrets.set(keys.installation(), stamp, 'NX', 'GET')
  const sentence = otherTie(found, installation)
  if (sentence !== undefined) throw new Error(sentence)
}

/** The sentence about a memory-only Redis that is tied to another installation. `found`: what it holds of that. */
export function otherTie(found: string | null, { environment, id }: Installation): string | undefined {
  if (found === null) return undefined
  const [other] = readable(found, storedTie.decode)
  if (other === undefined) {
    return "The Redis of SECRETS_REDIS_URL serves an installation that this version can't read. Restart that Redis: it keeps nothing."
  }
  if (other.environment === environment && other.id === id) return undefined
  return (
    `The Redis of SECRETS_REDIS_URL serves installation ${other.id} (${other.environment}), and the data of REDIS_URL belongs to ${id} (${environment}). ` +
    'Give each installation a memory-only Redis of its own. If the other one is gone, restart that Redis: it keeps nothing.'
  )
}

/** Throws a sentence when a process configured with `wanted` must not work with this data. */
export function requireAgreement(found: Installation, wanted: Wanted): Installation {
  const { environment, partitions, id } = found
  if (environment !== wanted.environment) {
    throw new Error(
      `REDIS_URL holds ${environment} data (installation ${id}), SERVICE_ENV says ${wanted.environment}. Correct the one that is wrong; nothing was written.`
    )
  }
  if (wanted.installationId !== '' && id !== wanted.installationId) {
    throw new Error(
      `REDIS_URL holds the data of installation ${id}, INSTALLATION_ID says ${wanted.installationId}. Two installations can't share a database; nothing was written.`
    )
  }
  if (wanted.partitions !== undefined && partitions !== wanted.partitions) {
    throw new Error(
      `This data was created with ${partitions} partitions, PARTITIONS says ${wanted.partitions}. Set PARTITIONS=${partitions}; the number can't change.`
    )
  }
  return found
}

/** The sentence for /readyz when another server, or an emptied one, answers in the place of installation `id`. */
export async function changeOf(redis: Redis, id: string): Promise<string | undefined> {
  const text = await redis.get(keys.installation()).catch(rejectAsUnreachable(redis))
  const found = text === null ? null : readStamp(text)
  if (found?.id === id) return undefined
  const now = found === null ? 'is empty' : `holds the data of installation ${found.id}`
  return `The Redis of REDIS_URL ${now}; this process was started on ${id}. Stop the processes, bring that data back, then start them.`
}

/** Rejects unless the data is that of installation `id`, and can be asked: what is not found in it may exist. */
export async function assertUnchanged(redis: Redis, id: string): Promise<void> {
  const problem = await changeOf(redis, id).catch((error: unknown) => {
    if (error instanceof CannotAsk) return error.message
    throw error
  })
  if (problem !== undefined) throw new RedisUnavailable(problem)
}

function readStamp(text: string): Installation {
  const parsed = parseJson(text)
  const found: readonly unknown[] = Array.isArray(parsed) ? parsed : []
  const [format] = found
  if (format === FORMAT && found.length === TIE_LENGTH) {
    throw new Error(
      `REDIS_URL leads to the memory-only Redis of installation ${found[1]}. Are REDIS_URL and SECRETS_REDIS_URL swapped? Nothing was written.`
    )
  }
  if (format === FORMAT) return storedInstallation.decode(text)
  if (typeof format === 'number') {
    throw new Error(
      `REDIS_URL holds data in format ${format}, and this version (${version}) reads format ${FORMAT}. Start a version that reads format ${format}; nothing was written.`
    )
  }
  throw new Error('The key `installation` of REDIS_URL is not readable. Is this the Redis of another program?')
}
