/**
 * What an event means to a payment as it stands, before the chart is asked: an answer of the network becomes one finding
 * (findings.ts), the outcome of a call says what became of the operation, and what an operator saw counts only when the
 * operation can't be booked any more.
 *
 * Pure. All comparisons with the not-found horizon and with the acquirer's record are here, in the files of findings, and in
 * manual-review.ts.
 */
import type { Payment, PaymentProgress } from '../model.js'
import { knownVoidedCents, refundableCents } from './amounts.js'
import type { CallEvent, LifecycleEvent, PaymentEvent } from './events.js'
import { findingOf } from './findings.js'
import { concludedEvent, unlessConcluded } from './manual-review.js'
import type { Policy } from './policy.js'
import { mayArrive } from './tries.js'

/** The event for the chart. Null: the payment waits for no such answer. */
export function classify(payment: Payment, event: PaymentEvent, policy: Policy): LifecycleEvent | null {
  switch (event.type) {
    case 'FOUND':
    case 'ABSENT':
    case 'NO_ANSWER': {
      const finding = findingOf({ ...payment, policy }, event)
      return finding === null ? null : unlessConcluded(payment, finding, policy)
    }
    case 'APPROVED':
    case 'DECLINED':
    case 'REJECTED':
    case 'NOT_SENT':
    case 'UNPROVEN':
    case 'AMBIGUOUS':
      return outcomeOf(payment, event, policy)
    case 'OPERATION_CONCLUDED':
      return concludedEvent(payment, event, policy)
    default:
      return event
  }
}

/** What became of the call: of the running operation, of the release of a hold, or of a void that sets things right. */
function outcomeOf({ progress }: Payment, event: CallEvent, policy: Policy): LifecycleEvent {
  if (progress.status === 'pending') return event
  if (progress.phase === 'sending') return operationOutcome(progress, event, policy)
  return progress.phase === 'releasing' ? releaseOutcome(event) : correctionOutcome(progress, event)
}

function operationOutcome(progress: PaymentProgress, event: CallEvent, policy: Policy): LifecycleEvent {
  const { nowMs } = event
  switch (event.type) {
    case 'APPROVED': {
      const doubt = doubtOf(progress, event)
      return doubt === null ? event : { type: 'UNPROVEN', reason: doubt, call: 'ended', nowMs }
    }
    case 'DECLINED':
    case 'REJECTED':
    case 'NOT_SENT': {
      const { reconciliation } = progress
      const isInDoubt = reconciliation !== null && mayArrive(reconciliation, policy, nowMs)
      return { type: isInDoubt ? 'EARLIER_TRY_IN_DOUBT' : 'OPERATION_FAILED', outcome: event, nowMs }
    }
    default:
      return event
  }
}

/** Why an approval does not prove the operation: it states another amount, or a sale that has nothing left to refund. */
function doubtOf(
  { operation, ...facts }: PaymentProgress,
  { stated }: Extract<CallEvent, { type: 'APPROVED' }>
): string | null {
  const { kind, amountCents } = operation
  if (stated === undefined || kind === 'cancel' || kind === 'authorization') return null
  const [statedCents, expectedCents] =
    kind === 'capture'
      ? [stated.capturedCents, amountCents]
      : [stated.voidedCents, knownVoidedCents(facts) + amountCents]
  if (statedCents !== null && statedCents !== expectedCents) return `approved, but it states ${statedCents}`
  const isLast = kind === 'refund' && amountCents >= refundableCents({ operation, ...facts })
  return stated.isClosed && !isLast ? 'approved, but it states that nothing of the sale is left' : null
}

/** The release of a hold counts its tries, as every operation does. One that is too late leaves the sale to the issuer. */
function releaseOutcome(event: CallEvent): LifecycleEvent {
  const { nowMs } = event
  switch (event.type) {
    case 'NOT_SENT':
      return { type: 'NO_ANSWER', reason: event.reason, nowMs }
    case 'REJECTED':
      if (event.isTooLate) return { type: 'SALE_GONE', nowMs }
      return { type: 'UNPROVEN', reason: `not voided, code ${event.code}`, call: 'ended', nowMs }
    case 'DECLINED':
      return { type: 'RECORD_LAGS', because: 'behind', note: 'not voided', nowMs }
    default:
      return event
  }
}

/**
 * What became of the void of a duplicate or of a late sale. The next query decides about a void that did not happen.
 * One that is too late is not sent again: the sale is left to the issuer, or to the manual review.
 */
function correctionOutcome({ status }: PaymentProgress, event: CallEvent): LifecycleEvent {
  const { nowMs } = event
  switch (event.type) {
    case 'APPROVED':
      return { type: 'RECONCILE', nowMs }
    case 'NOT_SENT':
    case 'AMBIGUOUS':
      return { type: 'NO_ANSWER', reason: event.reason, nowMs }
    case 'REJECTED': {
      if (event.isTooLate && status === 'failed') return { type: 'SALE_GONE', nowMs }
      const because = event.isTooLate ? 'void_is_over' : 'behind'
      return { type: 'RECORD_LAGS', because, note: `not voided, code ${event.code}`, nowMs }
    }
    case 'UNPROVEN':
      return { type: 'RECORD_LAGS', because: 'behind', note: `not voided: ${event.reason}`, nowMs }
    default:
      return { type: 'RECORD_LAGS', because: 'behind', note: 'not voided', nowMs }
  }
}
