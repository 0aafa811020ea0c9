/** What the durable Redis does for the archive: payments leave it, and come back (decision 28). */
import { Cluster } from 'ioredis'
import type { Payment } from '../../machines/model.js'
import { masterOf } from '../connection/cluster-nodes.js'
import type { Redis } from '../connection/connections.js'
import { serverTimeMs } from '../connection/redis-clock.js'
import type { Writes } from '../connection/writes.js'
import { keys, partitionOfPayment, paymentKeyOf } from '../keys.js'
import { defineNamedScript, defineScript } from '../scripts.js'
import {
  INDEX_KEY_MAX,
  indexedSaleId,
  leafMark,
  referenceIndex,
  referencePrefix,
  statusIndex,
  withLeaves
} from './payment-indexes.js'
import { decodePayment, encodePayment } from './payment-record.js'

const removeScript = defineScript('remove_payments')
const restoreScript = defineNamedScript<{
  keys: 'payment' | 'status' | 'statusLeaf' | 'references' | 'bucket' | 'bucketLeaf' | 'sales' | 'rests'
  given: {
    readonly record: string
    readonly member: string
    readonly sale: string | undefined
    readonly mark: string
    readonly prefix: string
    readonly indexMax: number
    readonly restsUntilMs: number
    readonly latestMs: number
  }
}>('restore_payment')

/** An older version can't return within this time: it would have had to leave twice, and rests for days between. */
const RESTORE_WITHIN_MS = 60_000
/** A payment that came back stays at least this long, so that it does not leave before its change. */
const STAY_MS = 3_600_000

/** Removes payments of one partition, each if its version is still this one. Returns how many were. */
export async function removePayments(writes: Writes, partition: number, payments: readonly Payment[]): Promise<number> {
  const rests = keys.rests(partition)
  const places = [rests, keys.archived(partition), ...payments.flatMap(payment => Object.values(keysOf(payment)))]
  const values = payments.flatMap(payment => {
    const [paymentKey, ...others] = valuesOf(payment)
    return [payment.version, paymentKey, ...others]
  })
  return Number(await writes.run(rests, node => removeScript(node, places, values)))
}

/** The time of Redis (ms), to be read before the archive is asked for the payment. */
export function timeBeforeRestore(redis: Redis, paymentKey: string, partition: number): Promise<number> {
  const key = keys.payment(partition, paymentKey)
  return serverTimeMs(redis instanceof Cluster ? masterOf(redis, key) : redis)
}

/** Stores a payment of the archive unless it is here. Returns what is stored now; null: too late, ask the archive again. */
export async function restorePayment(
  writes: Writes,
  payment: Payment,
  askedAtMs: number,
  indexMax: number = INDEX_KEY_MAX
): Promise<Payment | null> {
  const rests = keys.rests(partitionOfPayment(payment.terms.id))
  const named = { ...keysOf(payment), rests }
  const [member, mark, prefix, sale] = valuesOf(payment)
  const given = {
    record: encodePayment(payment),
    member,
    // JSON that Redis reads can't hold half of a surrogate pair.
    sale: sale.replace(/\p{Surrogate}/gu, '\ufffd') || undefined,
    mark,
    prefix,
    indexMax,
    restsUntilMs: askedAtMs + STAY_MS,
    latestMs: askedAtMs + RESTORE_WITHIN_MS
  }
  const stored = await writes.run(rests, node => restoreScript(node, named, given))
  return typeof stored === 'string' ? decodePayment(stored, paymentKeyOf(payment.terms.id)) : null
}

/** The key of the newest payment that ever left a partition; null: all payments are in Redis. */
export function newestArchived(redis: Redis, partition: number): Promise<string | null> {
  return redis.get(keys.archived(partition))
}

/** The keys of one payment that both scripts use, in the order of remove_payments.lua. */
function keysOf({ terms, progress }: Payment) {
  const { id, merchantId, externalReference } = terms
  const partition = partitionOfPayment(id)
  const mark = leafMark(paymentKeyOf(id))
  const [status = '', statusLeaf = ''] = withLeaves(statusIndex(partition, merchantId, progress.status), mark)
  const index = referenceIndex(partition, merchantId, referencePrefix(externalReference))
  const [references = '', bucket = '', bucketLeaf = ''] = withLeaves(index, mark)
  const payment = keys.payment(partition, paymentKeyOf(id))
  const sales = keys.sales(partition, indexedSaleId(progress))
  return { payment, status, statusLeaf, references, bucket, bucketLeaf, sales }
}

function valuesOf({ terms, progress }: Payment): [paymentKey: string, mark: string, prefix: string, sale: string] {
  const paymentKey = paymentKeyOf(terms.id)
  return [paymentKey, leafMark(paymentKey), referencePrefix(terms.externalReference), indexedSaleId(progress)]
}
