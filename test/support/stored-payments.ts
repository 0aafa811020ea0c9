/** Payments as they may stand in Redis, without the work that leads there. */
import type { PaymentProgress, PaymentTerms } from '../../machines/model.js'
import type { Redis } from '../../redis/connection/connections.js'
import { unreplicated } from '../../redis/connection/writes.js'
import { newPaymentId, partitionOf } from '../../redis/keys.js'
import { createPaymentStore } from '../../redis/payments/payments.js'
import { anAcceptance, aPayment, createCommand } from './payments.js'

const PARTITIONS = 16

/** Stores a payment of a merchant. Resolves to its id. */
export async function storePayment(
  redis: Redis,
  merchantId: string,
  createdAtMs: number,
  { terms, progress = {} }: { terms?: Partial<PaymentTerms>; progress?: Partial<PaymentProgress> }
): Promise<string> {
  const partition = partitionOf(merchantId, PARTITIONS)
  const id = newPaymentId(partition, createdAtMs)
  const payment = aPayment({ terms: { id, merchantId, createdAtMs, ...terms }, progress })
  await createPaymentStore(unreplicated(redis)).acceptPayment(
    payment,
    createCommand,
    anAcceptance({ partition, idempotencyRecordId: id })
  )
  return id
}
