/**
 * What is done with a payment whose data came back and may be older than what was done (decision 31). Pure.
 *
 * It is compared with the acquirer's record first, and that counts: what it shows is adopted, and only what it lacks is sent.
 */
import type { HistoryEntry, Payment, PaymentTerms } from '../model.js'
import type { LifecycleEvent, PaymentEvent } from './events.js'
import { BUYER_ERASED, SEEN_BY_OPERATOR } from './history.js'
import { hasTag, isInFlight } from './machine.js'
import type { Policy } from './policy.js'

/** Events that show the acquirer's record of the sale. With any other the payment was not compared. */
const COMPARED: Readonly<Partial<Record<LifecycleEvent['type'], true>>> = {
  NOTHING_NEW: true,
  CONTRADICTED: true,
  DUPLICATE_SALE: true,
  LATE_SALE: true,
  SALE_AUTHORISED: true,
  SALE_CAPTURED: true,
  SALE_GONE: true,
  SALE_DENIED: true,
  SALE_ABSENT: true,
  HOLD_LAPSED: true,
  OPERATION_BOOKED: true,
  OPERATION_MISSING: true,
  OPERATION_NOT_BOOKED: true,
  CHARGED_BACK: true,
  AMOUNT_CORRECTED: true,
  REFUND_REVERSED: true,
  REFUNDED_EXTERNALLY: true
}

/**
 * Whether nothing vouches for what is stored of a payment. What was sent before the data came back may be booked until the
 * horizon, so a payment that was compared earlier is not vouched for.
 */
export function isUnvouched(payment: Payment, policy: Policy): boolean {
  const { unvouchedBeforeMs, notFoundHorizonMs } = policy
  return isAcceptedBefore(payment.terms, policy) && lastComparedMs(payment) < unvouchedBeforeMs + notFoundHorizonMs
}

/** When the payment was compared with the acquirer's record last (ms). */
function lastComparedMs({ terms, history }: Payment): number {
  return history.findLast(isComparison)?.atMs ?? terms.createdAtMs
}

/** When an event was taken last (ms): an erasure is none. */
function lastEventMs({ terms, history }: Payment): number {
  return history.findLast(({ event }) => event !== BUYER_ERASED)?.atMs ?? terms.createdAtMs
}

function isComparison({ event, detail }: HistoryEntry): boolean {
  return Object.hasOwn(COMPARED, event) && detail !== SEEN_BY_OPERATOR
}

/** Whether a payment was accepted before the data came back. */
export function isAcceptedBefore({ createdAtMs }: PaymentTerms, { unvouchedBeforeMs }: Policy): boolean {
  return createdAtMs < unvouchedBeforeMs
}

/** Whether an event begins an operation that may have been done already. Its call is not made: `unsentEvent` follows. */
export function isComparedFirst(payment: Payment, event: PaymentEvent, policy: Policy): boolean {
  return (event.type === 'CAPTURE' || event.type === 'CANCEL') && isUnvouched(payment, policy)
}

/** In the place of the outcome of that call. */
export function unsentEvent(nowMs: number): PaymentEvent {
  return { type: 'UNPROVEN', reason: 'not sent: the data may be older than what was done', call: 'not_made', nowMs }
}

/** The event of a wake-up that has the payment compared with the acquirer's record. Null: a call of it may be in flight. */
export function comparisonEvent({ progress }: Payment, nowMs: number): PaymentEvent | null {
  if (isInFlight(progress)) return null
  return hasTag(progress, 'verifiable')
    ? { type: 'NETWORK_NOTIFICATION', reported: 'change', nowMs }
    : { type: 'RECONCILE', nowMs }
}

/** When a payment that rests is compared once more (ms): no call of before can arrive any more. Null: it need not be. */
export function finalComparisonAtMs(payment: Payment, policy: Policy): number | null {
  if (!isUnvouched(payment, policy) || !hasTag(payment.progress, 'verifiable')) return null
  return policy.unvouchedBeforeMs + policy.notFoundHorizonMs
}

/** Whether an open payment has been compared, or is left to an operator since the data came back. */
export function isCompared(payment: Payment, policy: Policy): boolean {
  const { reconciliation, verification, reviewReason } = payment.progress
  if (isInFlight(payment.progress)) return false
  if (reviewReason !== null && lastEventMs(payment) >= policy.unvouchedBeforeMs) return true
  return finalComparisonAtMs(payment, policy) === null && reconciliation === null && verification === null
}
