/**
 * What an event means to a payment as it stands, before the chart is asked: an answer of the network becomes one finding
 * (record.ts), the outcome of a call says what became of the operation, and what an operator saw counts only when the
 * operation can't be booked any more.
 *
 * Pure. All comparisons with the not-found horizon and with the acquirer's record are here and in record.ts.
 */
import type { Payment } from '../model.js'
import type { CallEvent, Finding, LifecycleEvent, PaymentEvent, Policy } from './events.js'
import { hasTag } from './machine.js'
import { findingOf, isBeyondHorizon } from './record.js'

/** The event for the chart. Null: the payment waits for no such answer. */
export function classify(payment: Payment, event: PaymentEvent, policy: Policy): LifecycleEvent | null {
  switch (event.type) {
    case 'FOUND':
    case 'ABSENT':
    case 'NO_ANSWER':
      return findingOf({ ...payment, policy }, event)
    case 'APPROVED':
    case 'DECLINED':
    case 'REJECTED':
    case 'NOT_SENT':
    case 'AMBIGUOUS':
      return outcomeOf(payment, event, policy)
    case 'OPERATION_CONCLUDED': {
      if (!isBeyondHorizon(payment.progress.reconciliation, policy, event.nowMs)) return null
      return { type: event.isBooked ? 'RESOLVED_AS_BOOKED' : 'RESOLVED_AS_MISSING', nowMs: event.nowMs }
    }
    default:
      return event
  }
}

/** What became of the call: of the running operation, of the release of a hold, or of a void that sets things right. */
function outcomeOf({ progress }: Payment, event: CallEvent, policy: Policy): LifecycleEvent {
  if (progress.status === 'pending') return event
  const isConclusive = event.type === 'DECLINED' || event.type === 'REJECTED' || event.type === 'NOT_SENT'
  if (!isConclusive && hasTag(progress, 'in_flight')) return event
  if (progress.phase !== 'sending') return correctionOf(progress, event)
  const { reconciliation, operation } = progress
  // A refund is sent again only beyond the horizon: no earlier try of it can arrive.
  const isInDoubt =
    reconciliation !== null && operation.kind !== 'refund' && !isBeyondHorizon(reconciliation, policy, event.nowMs)
  return { type: isInDoubt ? 'EARLIER_TRY_IN_DOUBT' : 'OPERATION_FAILED', outcome: event, nowMs: event.nowMs }
}

/**
 * What became of the void of a duplicate, of a late sale or of a lapsed hold. One that did not happen is decided on by the
 * next look at the record. One that is too late is left to the issuer, or to the manual review.
 */
function correctionOf(
  progress: Payment['progress'],
  event: CallEvent
): Finding | Extract<PaymentEvent, { type: 'RECONCILE' }> {
  const { nowMs } = event
  switch (event.type) {
    case 'APPROVED':
      return { type: 'RECONCILE', nowMs }
    case 'NOT_SENT':
    case 'AMBIGUOUS':
      return { type: 'NO_ANSWER', reason: event.reason, nowMs }
    case 'REJECTED':
      if (event.isTooLate && hasTag(progress, 'verifiable')) return { type: 'NOTHING_NEW', nowMs }
      if (event.isTooLate && (progress.status === 'failed' || progress.status === 'expired')) {
        return { type: 'SALE_GONE', nowMs }
      }
      return { type: 'RECORD_LAGS', note: `not voided, code ${event.code}`, nowMs }
    default:
      return { type: 'RECORD_LAGS', note: 'not voided', nowMs }
  }
}
