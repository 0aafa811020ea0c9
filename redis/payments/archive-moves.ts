/** What the durable Redis does for the archive: payments leave it, and come back (decision 28). */
import type { Payment } from '../../machines/model.js'
import { masterOf } from '../connection/cluster-nodes.js'
import type { Redis } from '../connection/connections.js'
import { serverTimeMs } from '../connection/redis-clock.js'
import type { Writes } from '../connection/writes.js'
import { storedVouch } from '../installation/epochs.js'
import { firstPaymentKeyAt, keys, partitionNumbers, partitionOfPayment, paymentIdOfKey, paymentKeyOf } from '../keys.js'
import { defineBatchScript, defineNamedScript } from '../scripts.js'
import { indexedSaleId, referencePrefix } from './payment-indexes.js'
import { decodePayment, encodePayment } from './payment-record.js'

const removeScript = defineBatchScript<{
  keys: keyof ReturnType<typeof keysOf> | 'rests' | 'archived'
  given: ReturnType<typeof membersOf> & { version: string }
}>('remove_payments')
const restoreScript = defineNamedScript<{
  keys: keyof ReturnType<typeof keysOf> | 'rests'
  given: ReturnType<typeof membersOf> & { record: string; restsUntilMs: number; latestMs: number }
}>('restore_payment')

/** An older version can't return within this time: it would have had to leave twice, and rests for days between. */
const RESTORE_WITHIN_MS = 60_000
/** A payment that came back stays at least this long, so that it does not leave before its change. */
const STAY_MS = 3_600_000

/** Removes payments of one partition, each if its version is still this one. Returns how many were. */
export async function removePayments(writes: Writes, partition: number, payments: readonly Payment[]): Promise<number> {
  const rests = keys.rests(partition)
  const calls = payments.map(payment => ({
    keys: { ...keysOf(payment), rests, archived: keys.archived(partition) },
    given: { ...membersOf(payment), version: String(payment.version) }
  }))
  return Number(await writes.run(rests, node => removeScript(node, calls)))
}

/** The time of Redis (ms), to be read before the archive is asked for the payment. */
export function timeBeforeRestore(redis: Redis, paymentKey: string, partition: number): Promise<number> {
  return serverTimeMs(masterOf(redis, keys.payment(partition, paymentKey)))
}

/** Stores a payment of the archive unless it is here. Returns what is stored now; null: too late, ask the archive again. */
export async function restorePayment(writes: Writes, payment: Payment, askedAtMs: number): Promise<Payment | null> {
  const rests = keys.rests(partitionOfPayment(payment.terms.id))
  const named = { ...keysOf(payment), rests }
  const given = {
    ...membersOf(payment),
    record: encodePayment(payment),
    restsUntilMs: askedAtMs + STAY_MS,
    latestMs: askedAtMs + RESTORE_WITHIN_MS
  }
  const stored = await writes.run(rests, node => restoreScript(node, named, given))
  return typeof stored === 'string' ? decodePayment(stored, paymentKeyOf(payment.terms.id)) : null
}

/** The key of the newest payment that ever left a partition; null: all payments are in Redis. */
export async function newestArchived(redis: Redis, partition: number): Promise<string | null> {
  return (await redis.get(keys.archived(partition))) || null
}

/** The ids of the payments that are the newest of all that left their partitions. */
export async function newestArchivedIds(redis: Redis, partitions: number): Promise<string[]> {
  const marks = await Promise.all(partitionNumbers(partitions).map(partition => newestArchived(redis, partition)))
  return marks.flatMap(mark => (mark ? [paymentIdOfKey(mark)] : []))
}

/**
 * Up to which payment key the archive may have payments of a partition; '': none. Restored data has the mark of its backup.
 * The payments that left since were created before the data came back: no more is known of them (decision 31).
 */
export async function archivedUpTo(redis: Redis, partition: number): Promise<string> {
  const [mark, stored] = await Promise.all([newestArchived(redis, partition), redis.get(keys.vouch(partition))])
  const vouch = stored === null ? null : storedVouch.decode(stored)
  const backMs = vouch?.missing?.toMs ?? vouch?.unvouchedBeforeMs ?? 0
  const restored = backMs === 0 ? '' : firstPaymentKeyAt(backMs)
  return mark !== null && mark > restored ? mark : restored
}

/** The keys of one payment that both scripts use. */
function keysOf({ terms, progress }: Payment) {
  const { id, merchantId } = terms
  const partition = partitionOfPayment(id)
  return {
    payment: keys.payment(partition, paymentKeyOf(id)),
    status: keys.byStatus(partition, merchantId, progress.status),
    references: keys.byReference(partition, merchantId),
    sales: keys.sales(partition, indexedSaleId(progress))
  }
}

/** What the indexes have of a payment. */
function membersOf({ terms, progress }: Payment) {
  const member = paymentKeyOf(terms.id)
  const reference = `${referencePrefix(terms.externalReference)}${member}`
  return { member, reference, sale: indexedSaleId(progress) || undefined }
}
