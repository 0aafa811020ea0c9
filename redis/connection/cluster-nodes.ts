/** The servers behind a connection: what concerns each of them, and which of them has a key. */
import { Cluster, Command, type Redis as Single } from 'ioredis'
import { nameOfServer } from './cluster-masters.js'
import type { Redis } from './connections.js'
import { RedisUnavailable } from './redis-errors.js'

/** Every living master: for what has no key, such as settings and walks over all keys. */
export function mastersOf(redis: Redis): readonly Single[] {
  return redis instanceof Cluster ? redis.nodes('master') : [redis as Single]
}

/** Every key of every master that matches, in portions; a key that comes or goes meanwhile may be missing. */
export async function* scanKeys(
  redis: Redis,
  options: { count: number; match?: string; type?: string }
): AsyncGenerator<string[]> {
  for (const master of mastersOf(redis)) {
    const type = options.type === undefined ? [] : ['TYPE', options.type]
    let cursor = '0'
    do {
      const answer: unknown = await master.call(
        'SCAN',
        cursor,
        'MATCH',
        options.match ?? '*',
        'COUNT',
        options.count,
        ...type
      )
      const [next, found] = answer as [string, string[]]
      yield found
      cursor = next
    } while (cursor !== '0')
  }
}

/** The partitions that one command can read together: all of a single server, each alone in a Cluster. */
export function readableTogether(redis: Redis, partitions: readonly number[]): readonly (readonly number[])[] {
  return redis instanceof Cluster ? partitions.map(partition => [partition]) : [partitions]
}

/** The connection to the master that has a key, as far as this client knows. Throws while a Cluster has none. */
export function masterOf(redis: Redis, key: string): Single {
  if (!(redis instanceof Cluster)) return redis as Single
  const slot = new Command('get', [key]).getSlot()
  const name = slot === null ? undefined : redis.slots[slot]?.[0]
  const master = redis.nodes('master').find(node => nameOfServer(node) === name)
  if (master === undefined) throw new RedisUnavailable(`The Cluster has no master for ${key} at the moment.`)
  return master
}

/** Asks the Cluster anew who has what. Never rejects: the next error triggers another refresh. */
export function findMastersAgain(cluster: Cluster): Promise<void> {
  return new Promise(resolve => cluster.refreshSlotsCache(() => resolve()))
}

/** Whether an answer says that another node has the key by now, and that nothing was done. */
export function isMovedError(error: unknown): boolean {
  return error instanceof Error && /^(MOVED|UNBLOCKED|READONLY) /.test(error.message)
}

/** Calls `onLost` when a connection is lost, and `onBack` when one is usable again. */
export function watchConnections(redis: Redis, onLost: () => void, onBack: () => void): void {
  const watch = (server: Single): void => {
    server.on('close', onLost)
    server.on('ready', onBack)
  }
  if (redis instanceof Cluster) {
    for (const node of redis.nodes()) watch(node)
    redis.on('+node', watch)
  } else watch(redis as Single)
}
