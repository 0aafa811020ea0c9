/** How far the workers are behind: per partition, the age of the oldest command that none of them has taken yet. */
import type { Logger } from '../../runtime/log.js'
import type { Redis } from '../connection/connections.js'
import { serverTimeMs } from '../connection/redis-clock.js'
import { fieldsOf } from '../connection/reply-fields.js'
import { keys, PAYMENTS_GROUP, partitionNumbers } from '../keys.js'
import { entryTimeMs, nothingIfMissing } from '../streams.js'

export interface Backlog {
  /** Age of the oldest command of a partition that waits for a worker, as last seen (ms); 0 when none waits. */
  ageMs(partition: number): number
  stop(): void
}

/** How often the streams are looked at (ms). A look costs two reads per partition. */
const INTERVAL_MS = 500

/** For so long after an age was read, the streams are looked at: a process without requests does not look (ms). */
const LOOKS_FOR_MS = 10_000

/**
 * Keeps looking until it is stopped, while ages are read. While Redis is unavailable, all ages are 0: requests fail for
 * that reason anyway.
 */
export function watchBacklog(redis: Redis, partitions: number, log: Logger): Backlog {
  let ages: readonly number[] = []
  let isLooking = false
  let readAtMs = Number.NEGATIVE_INFINITY
  const look = async (): Promise<void> => {
    if (isLooking) return
    if (performance.now() > readAtMs + LOOKS_FOR_MS) {
      // What was seen last is not true any more when the next request comes.
      ages = []
      return
    }
    isLooking = true
    try {
      ages = await unreadAges(redis, partitions)
    } catch (error) {
      ages = []
      log.debug({ err: error }, 'the backlog could not be read')
    } finally {
      isLooking = false
    }
  }
  const timer = setInterval(() => void look(), INTERVAL_MS)
  return {
    ageMs(partition) {
      readAtMs = performance.now()
      return ages[partition] ?? 0
    },
    stop: () => clearInterval(timer)
  }
}

/** The age of the oldest unread command of each partition, by the clock of Redis (ms); 0: there is none. */
export async function unreadAges(redis: Redis, partitions: number): Promise<number[]> {
  const nowMs = await serverTimeMs(redis)
  return await Promise.all(
    partitionNumbers(partitions).map(async partition => {
      const stream = keys.commands(partition)
      const [oldest] = await redis.xrange(stream, `(${await lastDelivered(redis, stream)}`, '+', 'COUNT', 1)
      return oldest === undefined ? 0 : Math.max(0, nowMs - entryTimeMs(oldest[0]))
    })
  )
}

/** Id of the last command that was delivered. Before the first worker created the group, it is `0-0`. */
async function lastDelivered(redis: Redis, stream: string): Promise<string> {
  return lastDeliveredIn(await redis.xinfo('GROUPS', stream).catch(nothingIfMissing), PAYMENTS_GROUP) ?? '0-0'
}

/** The same of a group, in the answer to XINFO GROUPS; undefined: it is missing. */
export function lastDeliveredIn(groups: unknown, group: string): string | undefined {
  const found = (groups as unknown[][]).map(fieldsOf).find(fields => fields.get('name') === group)
  return found?.get('last-delivered-id')?.toString()
}
