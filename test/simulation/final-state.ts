/** What the audit of a world compares (audit.ts). */
import type { Payment } from '../../machines/model.js'
import { paymentIdOfKey, paymentKeyOf } from '../../redis/keys.js'
import { decodePayment } from '../../redis/payments/payment-record.js'
import type { Ledger } from '../../scripts/simulator/ledger.js'
import type { Installation } from './simulated-installation.js'

export interface FinalState {
  /** The service's payments, by id: of Redis, and of the archive what Redis does not have. */
  readonly payments: ReadonlyMap<string, Payment>
  readonly inRedis: ReadonlyMap<string, Payment>
  /** The network's. */
  readonly ledger: Ledger
  readonly installation: Installation
}

export function readFinalState(installation: Installation): FinalState {
  const inRedis = new Map<string, Payment>()
  for (const key of installation.durable.data.values.keys()) {
    const paymentKey = /:pay:(.+)$/.exec(key)?.[1]
    const text = paymentKey === undefined ? null : installation.durable.data.text(key)
    if (paymentKey !== undefined && text !== null)
      inRedis.set(paymentIdOfKey(paymentKey), decodePayment(text, paymentKey))
  }
  const archived = installation.archive?.rows.rows ?? new Map<string, string>()
  const payments = new Map(inRedis)
  for (const [id, record] of archived) if (!inRedis.has(id)) payments.set(id, decodePayment(record, paymentKeyOf(id)))
  return { payments, inRedis, ledger: installation.network.ledger, installation }
}
