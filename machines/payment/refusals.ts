/** Why a payment does not take a command: the reason that the merchant sees (docs/API.md#errors). */
import { isOpen, type Payment, type PaymentProgress, type RefusalCode } from '../model.js'
import { refundAmountCents, refundableCents } from './amounts.js'
import type { PaymentEvent, RequestEvent } from './events.js'
import { hasTag } from './machine.js'
import { takesRefund } from './refunds.js'

/** Only called for events that the chart refused; the order of the questions is the order of the contract. */
export function refusalOf(payment: Payment, event: PaymentEvent): RefusalCode {
  if (isOpen(payment.progress.operation)) return 'operation_in_progress'
  if (event.type === 'CAPTURE') return refusalOfCapture(payment.progress, event.nowMs)
  if (event.type === 'CANCEL') return refusalOfCancel(payment.progress, event)
  return 'invalid_state'
}

function refusalOfCapture({ status, expiresAtMs }: PaymentProgress, nowMs: number): RefusalCode {
  if (status === 'expired') return 'preauth_expired'
  if (status !== 'pre_authorized') return 'invalid_state'
  return expiresAtMs !== null && nowMs >= expiresAtMs ? 'preauth_expired' : 'amount_exceeds_authorized'
}

function refusalOfCancel(progress: PaymentProgress, event: RequestEvent): RefusalCode {
  const { status } = progress
  if (status === 'pre_authorized') return 'partial_void'
  if (!hasTag(progress, 'refundable')) return 'invalid_state'
  // Above the balance is above the balance, also when nothing of it is left, and regardless of who refunded it.
  const { amountCents } = event
  if (amountCents === null ? status !== 'refunded' : amountCents > refundableCents(progress))
    return 'amount_exceeds_refundable'
  return takesRefund(progress, refundAmountCents(progress, event)) ? 'invalid_state' : 'too_many_refunds'
}
