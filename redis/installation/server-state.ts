/** Whether the servers behind a connection are new enough for this service, and take writes. */
import { messageOf } from '../../runtime/message-of.js'
import { nameOfServer } from '../connection/cluster-masters.js'
import { mastersOf } from '../connection/cluster-nodes.js'
import type { Redis } from '../connection/connections.js'
import type { RedisVariable } from '../connection/redis-errors.js'
import { infoField } from '../connection/reply-fields.js'
import { askMasters } from '../connection/unreachable.js'

/** The first one with all that the scripts use. */
const VERSION_MIN = 7

/** Such as 7.2.4. Valkey reports the version of Redis that it is compatible with. */
export async function versionOf(server: Redis): Promise<string> {
  return infoField(await server.info('server'), 'redis_version') ?? 'unknown'
}

export function isTooOld(version: string): boolean {
  return Number.parseInt(version, 10) < VERSION_MIN
}

/** The sentence about servers that are too old, or undefined. Rejects while one can't be asked. */
export async function versionProblem(redis: Redis, variable: RedisVariable): Promise<string | undefined> {
  const servers = mastersOf(redis).map(async node => ({ name: nameOfServer(node), version: await versionOf(node) }))
  const old = (await Promise.all(servers)).filter(({ version }) => isTooOld(version))
  if (old.length === 0) return undefined
  const which = old.map(({ name, version }) => `${name} is Redis ${version}`).join(', ')
  return `The Redis of ${variable} is too old: ${which}, and this service needs ${VERSION_MIN}.0 or newer. Bring it to a newer version, or name another server in ${variable}. \`npm start\` takes the redis-server on the PATH.`
}

/** Refused before its first line by a server that takes no writes: a script may write unless its flags say otherwise. */
const WRITING_SCRIPT = '#!lua\nreturn 1'

/** Why a server refuses all writes, and what to do, by the first word of its answer. */
const WRITES_REFUSED: Readonly<Record<string, string>> = {
  MISCONF: "it can't write to its disk ($). Make room there, or repair it: its log names the file",
  OOM: 'its memory is full ($). Raise its maxmemory, and find what grew (docs/OPERATIONS.md)',
  READONLY: 'it is a replica ($). Let REDIS_URL lead to the master, or make this server the master again',
  NOREPLICAS: 'too few replicas follow it ($). Bring them back, or lower its min-replicas-to-write',
  NOPERM: 'its user may not ($). Load durable.acl of this release into it'
}

/** The sentence about a durable Redis that refuses writes, or undefined. Rejects while one can't be asked. */
export async function writeProblem(redis: Redis): Promise<string | undefined> {
  const refusals = await askMasters(redis, master =>
    master.eval(WRITING_SCRIPT, 0).then(
      () => undefined,
      (error: unknown) => refusalOf(messageOf(error)) ?? Promise.reject(error)
    )
  )
  const why = refusals.find(refusal => refusal !== undefined)
  if (why === undefined) return undefined
  return `The Redis of REDIS_URL refuses writes, because ${why}. It takes writes again by itself then; nothing that was accepted is lost.`
}

function refusalOf(answer: string): string | undefined {
  const [word = ''] = answer.split(' ', 1)
  return WRITES_REFUSED[word]?.replace('$', () => answer)
}
