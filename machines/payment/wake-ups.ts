/** The wake-ups of a payment: when a command is due that no request asks for. One at rest needs none, except after a restore. Pure. */
import { isOpen, lastChangeMs, type Payment, type PaymentProgress } from '../model.js'
import type { PaymentEvent } from './events.js'
import { hasTag, isInFlight, requireKnownPlace } from './machine.js'
import type { Policy } from './policy.js'
import { finalComparisonAtMs } from './unvouched.js'

/** Longer than a call and its tries take. A payment that still waits for the outcome then is woken (ms). */
export const CALL_MAX_MS = 600_000

/** The wake-ups of a payment (ms). */
export interface WakeTimes {
  readonly expiryAtMs: number | null
  /** The next reconciliation; the pace may delay it (redis/reconciliation/reconcile-pace.ts). */
  readonly reconcileAtMs: number | null
}

/**
 * `nowMs`: the time of the decision. A payment whose call is in flight has a wake-up in case its command is lost. One at rest is
 * compared once more with the acquirer's record when its data may be older than what was done. Throws `WrittenByOtherVersion`
 * for a place that the chart does not know: a wake-up that another version set must stay.
 */
export function wakeTimes(payment: Payment, nowMs: number, policy: Policy): WakeTimes {
  requireKnownPlace(payment)
  const wake = openWakeTimes(payment.progress)
  if (wake.reconcileAtMs !== null) return wake
  const reconcileAtMs = isInFlight(payment.progress) ? nowMs + CALL_MAX_MS : finalComparisonAtMs(payment, policy)
  return { ...wake, reconcileAtMs }
}

/** Whether the payment has a wake-up, whenever it is. */
export function needsWakeUp(payment: Payment, policy: Policy): boolean {
  const { expiryAtMs, reconcileAtMs } = wakeTimes(payment, lastChangeMs(payment), policy)
  return expiryAtMs !== null || reconcileAtMs !== null
}

/** The same, but null while a call is in flight. */
function openWakeTimes(progress: PaymentProgress): WakeTimes {
  const { status, expiresAtMs, verification } = progress
  if (status === 'pre_authorized') return { expiryAtMs: expiresAtMs, reconcileAtMs: verification?.nextAtMs ?? null }
  return { expiryAtMs: null, reconcileAtMs: reconcileAtMs(progress) }
}

/** The earlier one of its wake times; null: none, or a call is in flight. */
export function wakeAtMs(progress: PaymentProgress): number | null {
  const { expiryAtMs, reconcileAtMs } = openWakeTimes(progress)
  return expiryAtMs === null || reconcileAtMs === null
    ? (expiryAtMs ?? reconcileAtMs)
    : Math.min(expiryAtMs, reconcileAtMs)
}

function reconcileAtMs(progress: PaymentProgress): number | null {
  if (progress.phase === 'sending') return null
  if (progress.reconciliation !== null) return progress.reconciliation.nextAtMs
  return hasTag(progress, 'verifiable') ? (progress.verification?.nextAtMs ?? null) : null
}

/** The event of a wake-up: the end of the window, or the next reconciliation. */
export function wakeEvent({ status, expiresAtMs }: PaymentProgress, nowMs: number): PaymentEvent {
  const isOver = status === 'pre_authorized' && expiresAtMs !== null && nowMs >= expiresAtMs
  return { type: isOver ? 'EXPIRE' : 'RECONCILE', nowMs }
}

/** Whether nothing is left to do for the service or an operator. Merchants and the network may still ask for something. */
export function isAtRest(progress: PaymentProgress): boolean {
  const { operation, reconciliation, verification, reviewReason } = progress
  const isUnfinished = reconciliation !== null || verification !== null || reviewReason !== null
  return hasTag(progress, 'resting') && !isOpen(operation) && !isUnfinished && wakeAtMs(progress) === null
}
