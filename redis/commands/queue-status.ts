/** How much work waits, where, and for how long: one row per partition. */

import type { Redis } from '../connection/connections.js'
import { serverTimeMs } from '../connection/redis-clock.js'
import { fieldsOf } from '../connection/reply-fields.js'
import { keys, PAYMENTS_GROUP, partitionNumbers } from '../keys.js'
import { entryTimeMs } from '../streams.js'

export interface QueueStatus {
  readonly partition: number
  /** Commands that have no result yet. */
  readonly length: number
  /** Of these: delivered to a worker. */
  readonly pending: number
  /** Age of the oldest command, by the clock of Redis (ms); null when there is none. */
  readonly oldestAgeMs: number | null
  /** Payments that have a wake-up: an expiry or a reconciliation. */
  readonly scheduled: number
  /** Expiries that are due now. */
  readonly due: number
  /** Reconciliations that are due now. */
  readonly reconcileDue: number
  readonly deadLetters: number
  readonly inReview: number
  /** Payments whose outcome is in doubt for at least so long: by age in seconds, see `DOUBT_AGES_S`. */
  readonly inDoubt: Readonly<Record<string, number>>
}

/** Ages in seconds that metrics and alerts use: a minute, the not-found horizon, an hour, a day. */
export const DOUBT_AGES_S = [0, 60, 600, 3_600, 86_400] as const

/** `nowMs` by the clock of the service, which decides what is due. */
export async function queueStatus(redis: Redis, partitions: number, nowMs: number): Promise<QueueStatus[]> {
  const redisNowMs = await serverTimeMs(redis)
  const numbers = partitionNumbers(partitions)
  return await Promise.all(numbers.map(partition => statusOf(redis, partition, { nowMs, redisNowMs })))
}

async function statusOf(
  redis: Redis,
  partition: number,
  times: { nowMs: number; redisNowMs: number }
): Promise<QueueStatus> {
  const stream = keys.commands(partition)
  const [length, oldest, pending, expiries, queries, due, reconcileDue, deadLetters, inReview] = await Promise.all([
    redis.xlen(stream),
    redis.xrange(stream, '-', '+', 'COUNT', 1),
    pendingOf(redis, stream),
    redis.zcard(keys.due(partition)),
    redis.zcard(keys.reconcile(partition)),
    redis.zcount(keys.due(partition), '-inf', times.nowMs),
    redis.zcount(keys.reconcile(partition), '-inf', times.nowMs),
    redis.xlen(keys.deadLetters(partition)),
    redis.hlen(keys.review(partition))
  ])
  const inDoubt = Object.fromEntries(
    await Promise.all(
      DOUBT_AGES_S.map(async ageS => {
        const sinceMs = times.nowMs - ageS * 1_000
        return [String(ageS), await redis.zcount(keys.inDoubt(partition), '-inf', sinceMs)] as const
      })
    )
  )
  const oldestId = oldest[0]?.[0]
  const oldestAgeMs = oldestId === undefined ? null : Math.max(0, times.redisNowMs - entryTimeMs(oldestId))
  const scheduled = expiries + queries
  return { partition, length, pending, oldestAgeMs, scheduled, due, reconcileDue, deadLetters, inReview, inDoubt }
}

/** A stream without its group is one that no worker has ever read. */
async function pendingOf(redis: Redis, stream: string): Promise<number> {
  const rows = (await redis.xinfo('CONSUMERS', stream, PAYMENTS_GROUP).catch(() => [])) as unknown[][]
  return rows.reduce((sum, row) => sum + Number(fieldsOf(row).get('pending')), 0)
}
