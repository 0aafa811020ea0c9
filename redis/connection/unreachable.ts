/** What a check says while its server can't be asked: the same for all checks, so that it is reported once. */
import type { Redis as Single } from 'ioredis'
import { CannotAsk } from '../../runtime/health.js'
import { mastersOf } from './cluster-nodes.js'
import { lastErrorOf, type Redis } from './connections.js'
import { adviceOn, type DataServer, dataServers, isFullOfClients, isUnanswered, reasonOf } from './redis-errors.js'

/** What a loop says of the error of its last turn. Throws as a check does when nothing was answered. */
export function problemOfTurn(redis: Redis, what: string, error: unknown): string {
  return isUnanswered(error) ? rejectAsUnreachable(redis)(error) : `${what}: ${reasonOf(error)}`
}

/** Rejects with the sentence for /readyz when the Redis of `variable` could not be asked. */
export function rejectAsUnreachable(redis: Redis, variable: DataServer = 'REDIS_URL'): (error: unknown) => never {
  return error => {
    const reason = reasonOf(error, lastErrorOf(redis))
    const advice = isFullOfClients(reason) ? adviceOn(reason) : 'It must be up and allow INFO and EVAL.'
    throw new CannotAsk(dataServers[variable].name, `The Redis of ${variable} can't be asked (${reason}). ${advice}`)
  }
}

/** Asks every master. Rejects with the sentence when one does not answer. */
export async function askMasters<T>(redis: Redis, ask: (master: Single) => Promise<T>): Promise<T[]> {
  return await Promise.all(mastersOf(redis).map(ask)).catch(rejectAsUnreachable(redis))
}
