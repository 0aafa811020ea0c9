/**
 * A repeated refund whose idempotency record is gone: after its retention, or with data that came from an older backup. The
 * payment still has the refund with its key, in Redis or in the archive.
 */
import type { CommandResult } from '../../machines/commands.js'
import { isOpen, type Payment } from '../../machines/model.js'
import type { AskedEvent } from '../../machines/payment/events.js'
import { repeatedRefund } from '../../machines/payment/refunds.js'
import type { PaymentStore } from '../../redis/payments/payments.js'
import type { Submission } from './payments-port.js'
import type { RecordedScope } from './request-card.js'

/** The answer to such a request, which must not be sent again: the buyer would get the money twice. Null: it is none. */
export async function withoutRecord(
  store: Pick<PaymentStore, 'readIdempotency'>,
  { merchantId, partition, record }: Pick<RecordedScope, 'merchantId' | 'partition' | 'record'>,
  payment: Payment | null,
  asked: AskedEvent
): Promise<Submission | null> {
  if (payment?.terms.merchantId !== merchantId || asked.type !== 'CANCEL') return null
  const { terms, progress } = payment
  const earlier = repeatedRefund(progress, asked)
  if (earlier === null || (await store.readIdempotency(partition, record)) !== null) return null
  if (earlier === 'other') return { kind: 'conflict', paymentId: terms.id }
  if (isOpen(earlier)) return { kind: 'in_progress', terms, progress, isReplay: true }
  const result: CommandResult =
    earlier.state === 'succeeded'
      ? { kind: 'succeeded', progress }
      : { kind: 'failed', code: earlier.error ?? 'provider_rejected' }
  return { kind: 'finished', terms, result, isReplay: true }
}
