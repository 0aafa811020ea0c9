/**
 * Moves payments at rest from Redis to the archive (decision 28): write them there, then remove each one that is still the
 * same. Each step may be repeated, also by two processes at once: a second process does the same work once more.
 */
import { assertNothingLost, type PaymentArchive } from '../../archive/archive.js'
import { lastChangeMs, type Payment, paymentStatuses } from '../../machines/model.js'
import { isAtRest } from '../../machines/payment/wake-ups.js'
import type { Writes } from '../../redis/connection/writes.js'
import { firstPaymentKeyAt, keys, partitionNumbers, partitionOf, paymentKeyOf } from '../../redis/keys.js'
import { newestArchivedIds, removePayments } from '../../redis/payments/archive-moves.js'
import { oldestOf } from '../../redis/payments/payment-indexes.js'
import { decodePayment } from '../../redis/payments/payment-record.js'
import type { Clock } from '../../runtime/clock.js'
import { withCrashPoints } from '../../runtime/crash-points.js'
import { delay } from '../../runtime/delay.js'
import { type Logger, warnRateLimited } from '../../runtime/log.js'
import type { ArchiveMetrics } from './archive-metrics.js'

export interface MoverDeps {
  readonly writes: Writes
  readonly archive: PaymentArchive
  readonly merchantIds: () => Promise<readonly string[]>
  readonly partitions: number
  /** How long a payment rests before it moves. */
  readonly afterMs: number
  readonly perSecond: number
  readonly metrics: ArchiveMetrics
  readonly clock: Clock
  readonly log: Logger
}

/** Payments that one statement writes into the archive. */
const BATCH = 200
/** Payments that one script removes, or that one command reads: others wait for less than a millisecond. */
const AT_ONCE = 50
/** Most payments end within an hour. The cursor stays so far behind that they need not be looked at twice. */
const LIFE_MS = 3_600_000

/** One partition waits for PostgreSQL while the other one waits for Redis. */
const PARTITIONS_AT_ONCE = 2

/**
 * Moves all that is due, partition by partition, until `stopping` aborts. The first failure ends the round. Resolves to the
 * time that it took to find out where nothing is due (ms).
 */
export async function moveRound(deps: MoverDeps, stopping: AbortSignal): Promise<number> {
  // What moves from now on would hide that the archive lost what moved before.
  await assertNothingLost(deps.archive, await newestArchivedIds(deps.writes.redis, deps.partitions))
  const merchantIds = await deps.merchantIds()
  const partitions = partitionNumbers(deps.partitions).values()
  let isFailed = false
  let idleMs = 0
  const round: Round = {
    ...deps,
    pace: paceOf(deps.perSecond),
    isOver: () => isFailed || stopping.aborted,
    worked: durationMs => {
      idleMs -= durationMs
    }
  }
  const moveNext = async (): Promise<void> => {
    const startedMs = performance.now()
    for (const partition of partitions) {
      if (round.isOver()) break
      const own = merchantIds.filter(merchantId => partitionOf(merchantId, deps.partitions) === partition)
      await moveNoted(round, partition)
      for (const merchantId of own) await moveOf(merchantId, round, partition)
    }
    idleMs += performance.now() - startedMs
  }
  const moving = Array.from({ length: PARTITIONS_AT_ONCE }, () =>
    moveNext().catch((error: unknown) => {
      isFailed = true
      throw error
    })
  )
  // All have ended before this does: the next round begins alone.
  for (const ended of await Promise.allSettled(moving)) if (ended.status === 'rejected') throw ended.reason
  if (!stopping.aborted) deps.metrics.waitingSince(null)
  return idleMs
}

/** Waits until `payments` more may have moved at this rate, however many partitions ask. */
type Pace = (payments: number) => Promise<void>

function paceOf(perSecond: number): Pace {
  let freeAtMs = performance.now()
  return async payments => {
    freeAtMs = Math.max(performance.now(), freeAtMs) + (payments / perSecond) * 1_000
    await delay(freeAtMs - performance.now())
  }
}

interface Round extends MoverDeps {
  readonly pace: Pace
  readonly isOver: () => boolean
  /** A batch was looked through, and moved where it rested. */
  readonly worked: (durationMs: number) => void
}

/** Moves those that were noted, because they came back or did not rest when the cursor passed them. */
async function moveNoted(deps: Round, partition: number): Promise<void> {
  const nowMs = deps.clock.now()
  while (!deps.isOver()) {
    const due = await deps.writes.redis.zrangebyscore(keys.rests(partition), '-inf', nowMs, 'LIMIT', 0, BATCH)
    if (due.length === 0) return
    await moveBatch(deps, partition, due, nowMs)
  }
}

/** Moves the payments of a merchant behind its cursor. The cursor passes a payment that has moved or is noted. */
async function moveOf(merchantId: string, deps: Round, partition: number): Promise<void> {
  const { writes, clock } = deps
  const { redis } = writes
  const cursors = keys.archiveCursors(partition)
  const indexes = paymentStatuses.map(status => keys.byStatus(partition, merchantId, status))
  const nowMs = clock.now()
  const before = firstPaymentKeyAt(nowMs - deps.afterMs - LIFE_MS)
  let after = (await redis.hget(cursors, merchantId)) ?? ''
  while (!deps.isOver()) {
    const found = await oldestOf(redis, indexes, { after, before }, BATCH)
    if (found.length === 0) return
    await moveBatch(deps, partition, found, nowMs)
    after = found.at(-1) ?? after
    await redis.hset(cursors, merchantId, after)
  }
}

/** On return each payment has moved, or is noted to be looked at after `nowMs`. */
async function moveBatch(deps: Round, partition: number, paymentKeys: readonly string[], nowMs: number): Promise<void> {
  const startedMs = performance.now()
  const { writes, afterMs, worked } = deps
  const { redis } = writes
  const payments = await read(deps, partition, paymentKeys)
  const [ready, later]: [Payment[], (string | number)[]] = [[], []]
  const gone: string[] = []
  for (const paymentKey of paymentKeys) {
    const payment = payments.get(paymentKey)
    if (payment === null) gone.push(paymentKey)
    else if (payment === undefined || !isAtRest(payment.progress)) later.push(nowMs + afterMs, paymentKey)
    else if (lastChangeMs(payment) + afterMs > nowMs) later.push(lastChangeMs(payment) + afterMs, paymentKey)
    else ready.push(payment)
  }
  if (ready.length > 0) later.push(...(await move(deps, partition, ready, nowMs)))
  const rests = keys.rests(partition)
  if (gone.length > 0) {
    await redis.zrem(rests, ...gone)
    // One that came back between the read and now has lost its note.
    const back = [...(await read(deps, partition, gone))].filter(([, payment]) => payment !== null)
    later.push(...back.flatMap(([paymentKey]) => [nowMs + afterMs, paymentKey]))
  }
  if (later.length > 0) await redis.zadd(rests, ...later)
  worked(performance.now() - startedMs)
}

/** Payments by payment key: null where there is none, none where the record is not readable. */
async function read(
  { writes: { redis }, log }: MoverDeps,
  partition: number,
  paymentKeys: readonly string[]
): Promise<Map<string, Payment | null>> {
  const payments = new Map<string, Payment | null>()
  for (let start = 0; start < paymentKeys.length; start += AT_ONCE) {
    const some = paymentKeys.slice(start, start + AT_ONCE)
    const records = await redis.mget(some.map(paymentKey => keys.payment(partition, paymentKey)))
    for (const [index, paymentKey] of some.entries()) {
      const record = records[index] ?? null
      try {
        payments.set(paymentKey, record === null ? null : decodePayment(record, paymentKey))
      } catch (error) {
        warnRateLimited(log, { err: error }, 'a payment could not be read and stays in Redis')
      }
    }
  }
  return payments
}

/** Returns scores and payment keys of those that must be looked at again: they may have changed meanwhile. */
async function move(
  { archive, writes, metrics, pace, afterMs }: Round,
  partition: number,
  payments: readonly Payment[],
  nowMs: number
): Promise<(string | number)[]> {
  const paced = pace(payments.length)
  metrics.waitingSince(Math.min(...payments.map(lastChangeMs)) + afterMs)
  await withCrashPoints('archive.put', () => archive.put(payments))
  const again: (string | number)[] = []
  for (let start = 0; start < payments.length; start += AT_ONCE) {
    const some = payments.slice(start, start + AT_ONCE)
    const removed = await removePayments(writes, partition, some)
    if (removed < some.length) again.push(...some.flatMap(({ terms }) => [nowMs + LIFE_MS, paymentKeyOf(terms.id)]))
  }
  await paced
  return again
}
