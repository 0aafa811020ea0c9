/** Whether the servers behind a connection are new enough for this service, and take writes. */
import { mastersOf, nameOfServer } from '../connection/cluster-nodes.js'
import type { Redis } from '../connection/connections.js'
import type { RedisVariable } from '../connection/redis-errors.js'

/** The first one with all that the scripts use. */
const VERSION_MIN = 7

export interface ServerVersion {
  /** `host:port`. */
  readonly name: string
  /** Such as 7.2.4. Valkey reports the version of Redis that it is compatible with. */
  readonly version: string
}

/** Of every master. */
export async function versionsOf(redis: Redis): Promise<ServerVersion[]> {
  return await Promise.all(
    mastersOf(redis).map(async node => {
      const [, version = 'unknown'] = /^redis_version:(\S+)/m.exec(await node.info('server')) ?? []
      return { name: nameOfServer(node), version }
    })
  )
}

export function isTooOld(version: string): boolean {
  return Number.parseInt(version, 10) < VERSION_MIN
}

/** The sentence about servers that are too old, or undefined. Rejects while one can't be asked. */
export async function versionProblem(redis: Redis, variable: RedisVariable): Promise<string | undefined> {
  const old = (await versionsOf(redis)).filter(({ version }) => isTooOld(version))
  if (old.length === 0) return undefined
  const which = old.map(({ name, version }) => `${name} is Redis ${version}`).join(', ')
  return `The Redis of ${variable} is too old: ${which}, and this service needs ${VERSION_MIN}.0 or newer. Bring it to a newer version, or name another server in ${variable}. \`npm start\` takes the redis-server on the PATH.`
}

/** The sentence about a durable Redis that refuses all writes because of its disk, or undefined. PING tells, too. */
export async function diskProblem(redis: Redis): Promise<string | undefined> {
  const answers = await Promise.allSettled(mastersOf(redis).map(node => node.ping()))
  const refusals = answers.flatMap(answer => (answer.status === 'rejected' ? [String(answer.reason.message)] : []))
  const refusal = refusals.find(message => message.startsWith('MISCONF'))
  if (refusal === undefined) return undefined
  return `The Redis of REDIS_URL refuses writes, because it can't write to its disk (${refusal}). Make room there, or repair it: its log names the file. It takes writes again by itself; nothing that was accepted is lost.`
}
