/**
 * What an event means to a payment as it stands, before the chart is asked: an answer of the network becomes one finding
 * (record.ts), the outcome of a call says what became of the operation, and what an operator saw counts only when the
 * operation can't be booked any more.
 *
 * Pure. All comparisons with the not-found horizon and with the acquirer's record are here and in record.ts.
 */
import type { Payment } from '../model.js'
import { conclusionOf } from './conclusions.js'
import type { CallEvent, LifecycleEvent, PaymentEvent, Policy } from './events.js'
import { hasTag } from './machine.js'
import { findingOf } from './record.js'
import { knownVoidedCents, refundableCents } from './sums.js'
import { isBeyondHorizon, mayArrive } from './tries.js'

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
    case 'UNPROVEN':
    case 'AMBIGUOUS':
      return outcomeOf(payment, event, policy)
    case 'OPERATION_CONCLUDED': {
      const { isBooked, nowMs } = event
      if (payment.progress.reconciliation === null) return null
      if (!isBeyondHorizon(payment.progress.reconciliation, policy, nowMs)) {
        return { type: 'CONCLUSION_NOTED', isBooked, nowMs }
      }
      return conclusionOf(payment.progress, isBooked, nowMs)
    }
    default:
      return event
  }
}

/** What became of the call: of the running operation, of the release of a hold, or of a void that sets things right. */
function outcomeOf({ progress }: Payment, event: CallEvent, policy: Policy): LifecycleEvent {
  if (progress.status === 'pending') return event
  const { nowMs } = event
  const doubt = event.type === 'APPROVED' && progress.phase === 'sending' ? doubtOf(progress, event) : null
  if (doubt !== null) return { type: 'UNPROVEN', reason: doubt, nowMs }
  const isConclusive = event.type === 'DECLINED' || event.type === 'REJECTED' || event.type === 'NOT_SENT'
  if (!isConclusive && hasTag(progress, 'in_flight')) return event
  if (progress.phase !== 'sending') return correctionOf(progress, event)
  const { reconciliation } = progress
  const isInDoubt = reconciliation !== null && mayArrive(reconciliation, policy, nowMs)
  return { type: isInDoubt ? 'EARLIER_TRY_IN_DOUBT' : 'OPERATION_FAILED', outcome: event, nowMs }
}

/** Why an approval does not prove the operation: it states another amount, or a sale that has nothing left to refund. */
function doubtOf(
  { operation, ...figures }: Payment['progress'],
  { stated }: Extract<CallEvent, { type: 'APPROVED' }>
): string | null {
  const { kind, amountCents } = operation
  if (stated === undefined || kind === 'cancel' || kind === 'authorization') return null
  const [statedCents, expectedCents] =
    kind === 'capture'
      ? [stated.capturedCents, amountCents]
      : [stated.voidedCents, knownVoidedCents(figures) + amountCents]
  if (statedCents !== null && statedCents !== expectedCents) return `approved, but it states ${statedCents}`
  const isLast = kind === 'refund' && amountCents >= refundableCents({ operation, ...figures })
  return stated.isClosed && !isLast ? 'approved, but it states that nothing of the sale is left' : null
}

/**
 * What became of the void of a duplicate, of a late sale or of a lapsed hold. One that did not happen is decided on by the
 * next look at the record. One that is too late is not sent again: the sale is left to the issuer, or to the manual review.
 */
function correctionOf(progress: Payment['progress'], event: CallEvent): LifecycleEvent {
  const { nowMs } = event
  switch (event.type) {
    case 'APPROVED':
      return { type: 'RECONCILE', nowMs }
    case 'NOT_SENT':
    case 'AMBIGUOUS':
      return { type: 'NO_ANSWER', reason: event.reason, nowMs }
    case 'REJECTED':
      if (event.isTooLate && (progress.status === 'failed' || progress.phase === 'releasing')) {
        return { type: 'SALE_GONE', nowMs }
      }
      // The release of a hold counts its tries, as every operation does.
      if (progress.phase === 'releasing') return { type: 'UNPROVEN', reason: `not voided, code ${event.code}`, nowMs }
      return {
        type: 'RECORD_LAGS',
        note: `not voided, code ${event.code}`,
        ...(event.isTooLate && { isVoidOver: true }),
        nowMs
      }
    case 'UNPROVEN':
      return { type: 'RECORD_LAGS', note: `not voided: ${event.reason}`, nowMs }
    default:
      return { type: 'RECORD_LAGS', note: 'not voided', nowMs }
  }
}
