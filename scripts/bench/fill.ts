/** Stored payments for measurements, as the service itself would store them. */
import { randomUUID } from 'node:crypto'
import { newPayment, type Payment } from '../../machines/model.js'
import type { NetworkReferences } from '../../machines/network.js'
import { decide, wakeTimes } from '../../machines/payment/decide.js'
import type { Redis } from '../../redis/connection/connections.js'
import { unreplicated } from '../../redis/connection/writes.js'
import {
  createdAtMs,
  idempotencyRecord,
  keys,
  newPaymentId,
  partitionOf,
  paymentKeyOf,
  shortHash
} from '../../redis/keys.js'
import { createCommitStore } from '../../redis/payments/commits.js'
import { encodeIdempotency } from '../../redis/payments/idempotency.js'
import { INDEX_KEY_MAX, referenceIndex, referencePrefix } from '../../redis/payments/payment-indexes.js'
import { encodePayment } from '../../redis/payments/payment-record.js'
import { readConfig } from '../../runtime/config.js'

const BATCH = 512

/**
 * Stores finished payments with the service's own encoders and its commit, without HTTP and network. Redis holds the same
 * as after a payment through the API. Returns their ids. `timeOf`: when each was created and ended (ms).
 */
export async function fill(
  redis: Redis,
  merchantId: string,
  count: number,
  timeOf: (index: number) => number = Date.now
): Promise<string[]> {
  const { partitions, ...policy } = readConfig({ SERVICE_ENV: 'test' })
  const partition = partitionOf(merchantId, partitions)
  const commits = createCommitStore(unreplicated(redis))
  const finish = async (payment: Payment): Promise<void> => {
    await writeAccepted(redis, partition, payment)
    const nowMs = payment.terms.createdAtMs
    const decision = decide(payment, { type: 'APPROVED', isCaptured: true, references: references(), nowMs }, policy)
    if (decision.kind === 'refused') throw new Error('unreachable: a pending payment takes an approval')
    await commits.commit(
      { ...decision, nowMs, wake: wakeTimes(decision.payment.progress, nowMs), ends: null, begins: null },
      partition
    )
  }
  const ids: string[] = []
  for (let at = 0; at < count; at += BATCH) {
    const length = Math.min(BATCH, count - at)
    const batch = Array.from({ length }, (_, index) => newPaymentId(partition, timeOf(at + index)))
    await Promise.all(batch.map(id => finish(acceptedPayment(merchantId, id))))
    ids.push(...batch)
  }
  return ids
}

/** What accept_payment.lua writes, without the command, which a worker would run. */
async function writeAccepted(redis: Redis, partition: number, payment: Payment): Promise<void> {
  const { id, merchantId, externalReference } = payment.terms
  const paymentKey = paymentKeyOf(id)
  const record = idempotencyRecord(merchantId, payment.progress.operation.idempotencyKey)
  const prefix = referencePrefix(externalReference)
  const [index, bucket = index] = referenceIndex(partition, merchantId, prefix)
  const hasRoom = (await redis.zcard(index)) < INDEX_KEY_MAX
  await redis
    .multi()
    .set(
      keys.idempotency(partition, record),
      encodeIdempotency({ fingerprint: shortHash(id), paymentKey, kind: 'create', result: null })
    )
    .set(keys.payment(partition, paymentKey), encodePayment(payment))
    .zadd(keys.byStatus(partition, merchantId, 'pending'), 0, paymentKey)
    .zadd(hasRoom ? index : bucket, 0, `${prefix}${paymentKey}`)
    .exec()
}

function references(): NetworkReferences {
  return { saleId: randomUUID(), tid: '1120015212969', nsu: '887616', authorizationCode: '376631' }
}

/** A payment right after it was accepted. */
export function acceptedPayment(merchantId: string, id: string): Payment {
  return newPayment(
    {
      id,
      merchantId,
      externalReference: `order-${id}`,
      captureMode: 'auto',
      amountCents: 1_990,
      currency: 'BRL',
      installments: 1,
      statementDescriptor: 'LOJA',
      card: { brand: 'visa', last4: '0060', cardId: null },
      customer: { name: 'Ada Lovelace', email: 'ada@example.com' },
      metadata: { basket: '4711' },
      preauthTtlMs: 7 * 24 * 3_600_000,
      createdAtMs: createdAtMs(id)
    },
    createKeyOf(merchantId, id)
  )
}

/** The Idempotency-Key of such a payment, as long as a short key of a merchant. */
export function createKeyOf(merchantId: string, id: string): string {
  return idempotencyRecord(merchantId, id)
}
