/** Redis and the archive as one store of payments (decision 28). */
import type { Payment } from '../machines/model.js'
import type { Redis } from '../redis/connection/connections.js'
import type { Writes } from '../redis/connection/writes.js'
import { createdAtMs, firstPaymentKeyAt, keys, paymentIdOfKey, paymentKeyOf } from '../redis/keys.js'
import { archivedUpTo, newestArchived, restorePayment, timeBeforeRestore } from '../redis/payments/archive-moves.js'
import type { ListQuery, PaymentPage } from '../redis/payments/list-payments.js'
import { decodePayment } from '../redis/payments/payment-record.js'
import type { PaymentStore } from '../redis/payments/payments.js'
import { withCrashPoints } from '../runtime/crash-points.js'
import { ArchiveUnavailable, assertNothingLost, type PaymentArchive } from './archive.js'

interface ArchiveParts {
  readonly writes: Writes
  /** Runs for each payment that came back. */
  readonly onBroughtBack?: () => void
}

/**
 * The store over both. Its methods reject with `ArchiveUnavailable`, too: also about a payment that left Redis, in a process
 * without an archive. That one must not say that there is no such payment.
 */
export function withArchive(store: PaymentStore, archive: PaymentArchive | null, parts: ArchiveParts): PaymentStore {
  const { writes, onBroughtBack } = parts
  const { redis } = writes
  if (archive === null) return redisAlone(store, redis)
  /** Throws when the archive lost payments: it must have the newest one that left the partition. */
  const assertWhole = async (partition: number): Promise<void> => {
    const mark = await newestArchived(redis, partition)
    await assertNothingLost(archive, mark === null ? [] : [paymentIdOfKey(mark)])
  }
  const nowhere = async (partition: number): Promise<null> => {
    await assertWhole(partition)
    return null
  }
  /** To be read after Redis had nothing: a payment raises the mark when it leaves. */
  const mayHave = async (partition: number, paymentKey: string): Promise<boolean> =>
    paymentKey <= (await archivedUpTo(redis, partition))
  const takeBack = (paymentId: string): Promise<Payment | null> =>
    withCrashPoints('archive.takeBack', () => archive.takeBack(paymentId))
  const isOf = async (paymentId: string, merchantId: string | undefined): Promise<boolean> =>
    merchantId === undefined || (await archive.find(paymentId))?.terms.merchantId === merchantId
  return {
    ...store,

    async load(partition, paymentKey) {
      const payment = await store.load(partition, paymentKey)
      if (payment !== null || !(await mayHave(partition, paymentKey))) return payment
      return (await archive.find(paymentIdOfKey(paymentKey))) ?? (await nowhere(partition))
    },

    async loadForChange(partition, paymentKey, merchantId) {
      for (;;) {
        const payment = await store.load(partition, paymentKey)
        if (payment !== null || !(await mayHave(partition, paymentKey))) return payment
        const paymentId = paymentIdOfKey(paymentKey)
        if (!(await isOf(paymentId, merchantId))) return await nowhere(partition)
        const askedAtMs = await timeBeforeRestore(redis, paymentKey, partition)
        const archived = await takeBack(paymentId)
        if (archived === null) return await nowhere(partition)
        const restored = await restorePayment(writes, archived, askedAtMs)
        if (restored === null) continue
        onBroughtBack?.()
        return restored
      }
    },

    list: (query, signal) => listBoth({ store, archive, redis, assertWhole }, query, signal),

    async replaceArchived(payment) {
      await withCrashPoints('archive.put', () => archive.put([payment]))
      // The row says that the payment is in Redis: it is no news for those who read the archive alone.
      await takeBack(payment.terms.id)
    }
  }
}

function redisAlone(store: PaymentStore, redis: Redis): PaymentStore {
  const load: PaymentStore['load'] = async (partition, paymentKey) => {
    const payment = await store.load(partition, paymentKey)
    if (payment !== null || paymentKey > ((await newestArchived(redis, partition)) ?? '')) return payment
    throw new ArchiveUnavailable(new Error('it is not set in this process, and payments of this time have left Redis'))
  }
  return { ...store, load, loadForChange: load }
}

/** Each source is complete down to where its page ends, and what both have is merged down to the end that comes first. */
async function listBoth(
  {
    store,
    archive,
    redis,
    assertWhole
  }: {
    store: PaymentStore
    archive: PaymentArchive
    redis: Redis
    assertWhole: (partition: number) => Promise<void>
  },
  query: ListQuery,
  signal?: AbortSignal
): Promise<PaymentPage> {
  const page = await store.list(query, signal)
  const mark = await archivedUpTo(redis, query.partition)
  if (mark === '' || mark < endOf(page, query)) return page
  signal?.throwIfAborted()
  // None of the archive is newer: PostgreSQL need not look at the months after it.
  const newestMs = createdAtMs(paymentIdOfKey(mark)) + 1
  const createdToMs = Math.min(query.createdToMs ?? newestMs, newestMs)
  const [older] = await Promise.all([archive.list({ ...query, createdToMs }, signal), assertWhole(query.partition)])
  const found = new Map(page.payments.map(payment => [payment.terms.id, payment]))
  const others = older.payments.filter(({ terms }) => !found.has(terms.id))
  for (const payment of await current(redis, query, others)) found.set(payment.terms.id, payment)
  const end = [page.nextAfterId ?? '', older.nextAfterId ?? ''].sort().at(-1) || null
  const payments = [...found.values()]
    .filter(({ terms }) => end === null || terms.id >= end)
    .sort((one, other) => (one.terms.id < other.terms.id ? 1 : -1))
  const shown = payments.slice(0, query.limit)
  return { payments: shown, nextAfterId: payments.length > shown.length ? (shown.at(-1)?.terms.id ?? null) : end }
}

/** The oldest payment key that a page of Redis may have. */
function endOf({ nextAfterId }: PaymentPage, { createdFromMs }: ListQuery): string {
  if (nextAfterId !== null) return paymentKeyOf(nextAfterId)
  return createdFromMs === null ? '' : firstPaymentKeyAt(createdFromMs)
}

/** Rows of the archive as the payments are now: what Redis has counts, and may not belong to the list any more. */
async function current(
  redis: Redis,
  { partition, status, externalReference }: ListQuery,
  rows: readonly Payment[]
): Promise<Payment[]> {
  if (rows.length === 0) return []
  const paymentKeys = rows.map(({ terms }) => paymentKeyOf(terms.id))
  const records = await redis.mget(paymentKeys.map(paymentKey => keys.payment(partition, paymentKey)))
  return rows
    .map((row, index) => {
      const record = records[index] ?? ''
      return record === '' ? row : decodePayment(record, paymentKeys[index] ?? '')
    })
    .filter(
      ({ terms, progress }) =>
        (status === null || progress.status === status) &&
        (externalReference === null || terms.externalReference === externalReference)
    )
}
