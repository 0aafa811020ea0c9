/** Why a payment does not take a command: the reason that the merchant sees (docs/API.md#errors). */
import { isOpen, type Payment, type RefusalCode } from '../model.js'
import type { PaymentEvent } from './events.js'
import { hasTag } from './machine.js'
import { takesRefund } from './refunds.js'
import { refundAmountCents, refundableCents } from './sums.js'

/** Only called for events that the chart refused; the order of the questions is the order of the contract. */
export function refusalOf(payment: Payment, event: PaymentEvent): RefusalCode {
  const { status, expiresAtMs, operation } = payment.progress
  if (isOpen(operation)) return 'operation_in_progress'
  if (event.type === 'CAPTURE') {
    if (status === 'expired') return 'preauth_expired'
    if (status !== 'pre_authorized') return 'invalid_state'
    const isLate = expiresAtMs !== null && event.nowMs >= expiresAtMs
    return isLate ? 'preauth_expired' : 'amount_exceeds_authorized'
  }
  if (event.type === 'CANCEL') {
    if (status === 'pre_authorized') return 'partial_void'
    // Above the balance is above the balance, also when nothing of it is left, and regardless of who refunded it.
    const { amountCents } = event
    const isAbove = amountCents === null ? status !== 'refunded' : amountCents > refundableCents(payment.progress)
    if (!hasTag(payment.progress, 'refundable')) return 'invalid_state'
    if (isAbove) return 'amount_exceeds_refundable'
    const isTaken = takesRefund(payment.progress, refundAmountCents(payment.progress, event))
    return isTaken ? 'invalid_state' : 'too_many_refunds'
  }
  return 'invalid_state'
}
