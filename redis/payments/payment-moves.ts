/** What the durable Redis does for the archive: payments leave it, and come back (decision 28). */
import { Cluster } from 'ioredis'
import type { Payment } from '../../machines/model.js'
import { masterOf } from '../connection/cluster-nodes.js'
import type { Redis } from '../connection/connections.js'
import { serverTimeMs } from '../connection/redis-clock.js'
import type { Writes } from '../connection/writes.js'
import { keys, partitionOfPayment, paymentKeyOf } from '../keys.js'
import { defineScript } from '../scripts.js'
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
const restoreScript = defineScript('restore_payment')

/** An older version can't return within this time: it would have had to leave twice, and rests for days between. */
const RESTORE_WITHIN_MS = 60_000
/** A payment that came back stays at least this long, so that it does not leave before its change. */
const STAY_MS = 3_600_000

/** Removes payments of one partition, each if its version is still this one. Returns how many were. */
export async function removePayments(writes: Writes, partition: number, payments: readonly Payment[]): Promise<number> {
  const rests = keys.rests(partition)
  const places = [rests, keys.archived(partition), ...payments.flatMap(placesOf)]
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
  const places = [...placesOf(payment), rests]
  const times = [askedAtMs + STAY_MS, askedAtMs + RESTORE_WITHIN_MS]
  const values = [encodePayment(payment), ...valuesOf(payment), indexMax, ...times]
  const stored = await writes.run(rests, node => restoreScript(node, places, values))
  return typeof stored === 'string' ? decodePayment(stored, paymentKeyOf(payment.terms.id)) : null
}

/** The key of the newest payment that ever left a partition; null: all payments are in Redis. */
export function newestArchived(redis: Redis, partition: number): Promise<string | null> {
  return redis.get(keys.archived(partition))
}

/** The keys of one payment that both scripts use. */
function placesOf({ terms, progress }: Payment): string[] {
  const { id, merchantId, externalReference } = terms
  const partition = partitionOfPayment(id)
  const paymentKey = paymentKeyOf(id)
  const mark = leafMark(paymentKey)
  return [
    keys.payment(partition, paymentKey),
    ...withLeaves(statusIndex(partition, merchantId, progress.status), mark),
    ...withLeaves(referenceIndex(partition, merchantId, referencePrefix(externalReference)), mark),
    keys.sales(partition, indexedSaleId(progress))
  ]
}

function valuesOf({ terms, progress }: Payment): [paymentKey: string, mark: string, prefix: string, sale: string] {
  const paymentKey = paymentKeyOf(terms.id)
  return [paymentKey, leafMark(paymentKey), referencePrefix(terms.externalReference), indexedSaleId(progress)]
}
