/**
 * When a payment is listed for manual review, and what an operator has seen at the acquirer: it becomes the event that the
 * record would have been. Pure.
 */
import type { Payment, PaymentProgress, ReviewReason } from '../model.js'
import { saleOf } from './amounts.js'
import type { ConcludedEvent, Finding, LifecycleEvent, PaymentEvent } from './events.js'
import type { Policy } from './policy.js'
import { isBeyondHorizon } from './tries.js'

type Reviewed = Pick<PaymentProgress, 'reviewReason'>

/**
 * Lists the payment for manual review. The first reason stays, because later ones follow from it. Reasons that say nothing
 * of its sale give way to a later one.
 */
export function listFor({ reviewReason }: Reviewed, reason: ReviewReason): Reviewed {
  const isVague = reviewReason === 'unresolved_for_long' || reviewReason === 'poisoned'
  return { reviewReason: reviewReason === null || isVague ? reason : reviewReason }
}

/** What stays open beyond the list age goes to manual review. */
export function listIfOld({ reviewReason }: Reviewed, sinceMs: number, policy: Policy, nowMs: number): Reviewed {
  const isOld = nowMs - sinceMs >= policy.reconcileListAfterMs
  return { reviewReason: reviewReason ?? (isOld ? 'unresolved_for_long' : null) }
}

/** An operator who has seen how it ended has reviewed the payment. */
export function reviewAfter(event: LifecycleEvent, { reviewReason }: Reviewed): Reviewed {
  return { reviewReason: isSeenByOperator(event) ? null : reviewReason }
}

/** Whether an operator has seen what the event says. Other events are the network's. */
export function isSeenByOperator(event: LifecycleEvent): boolean {
  return 'isSeenByOperator' in event && event.isSeenByOperator === true
}

/** The event for the chart: what the operator saw counts from the horizon. Null: nothing is in doubt. */
export function concludedEvent(
  { progress }: Payment,
  { isBooked, nowMs }: Extract<PaymentEvent, { type: 'OPERATION_CONCLUDED' }>,
  policy: Policy
): LifecycleEvent | null {
  if (progress.reconciliation === null) return null
  return isBeyondHorizon(progress.reconciliation, policy, nowMs)
    ? conclusionOf(progress, isBooked, nowMs)
    : { type: 'CONCLUSION_NOTED', isBooked, nowMs }
}

/** Findings that leave it open whether the operation is booked. */
const OPEN: readonly Finding['type'][] = [
  'RECORD_LAGS',
  'NO_ANSWER',
  'CONTRADICTED',
  'OPERATION_MISSING',
  'OPERATION_NOT_BOOKED'
]

/**
 * What an operator saw decides at the horizon, unless the record does: also a live sale that is to be voided. Until then
 * nothing is sent.
 */
export function unlessConcluded({ progress }: Payment, finding: Finding, policy: Policy): Finding | ConcludedEvent {
  const concluded = progress.reconciliation?.concluded ?? null
  const isJustVoided = finding.type === 'RECORD_LAGS' && finding.because === 'just_voided'
  const isOfLiveSale = finding.type === 'LATE_SALE' || finding.type === 'DUPLICATE_SALE' || isJustVoided
  if (concluded === null || !(isOfLiveSale || OPEN.includes(finding.type))) return finding
  const { nowMs } = finding
  if (!isBeyondHorizon(progress.reconciliation, policy, nowMs)) {
    return {
      type: 'RECORD_LAGS',
      because: 'behind',
      note: `an operator has seen it ${concluded.replace('_', ' ')}`,
      nowMs
    }
  }
  return isOfLiveSale ? finding : conclusionOf(progress, concluded === 'booked', nowMs, saleOf(finding)?.isChargedBack)
}

/** The end of what is in doubt. Only valid beyond the horizon: no copy of the request can arrive any more. */
function conclusionOf(
  { status }: PaymentProgress,
  isBooked: boolean,
  nowMs: number,
  isChargedBack = false
): ConcludedEvent {
  const concluded = { isSeenByOperator: true, ...(isChargedBack && { isChargedBack }), nowMs } as const
  switch (status) {
    case 'unknown':
    case 'failed':
      return { type: isBooked ? 'RESOLVED_AS_BOOKED' : 'RESOLVED_AS_MISSING', ...concluded }
    case 'expired':
      return { type: 'SALE_GONE', ...concluded }
    default:
      if (isBooked) return { type: 'OPERATION_BOOKED', ...concluded }
      return { type: 'OPERATION_NOT_BOOKED', isRefused: true, ...concluded }
  }
}
