/** When the network is asked next about an outcome that is not known. Pure. */
import type { Reconciliation } from '../model.js'
import type { LifecycleEvent, Policy } from './events.js'

/**
 * The doubt that a request without an answer begins. Each further try of one operation lengthens the gap, so that a
 * request which always fails backs off.
 */
export function firstReconciliation(
  earlier: Reconciliation | null,
  policy: Policy,
  { nowMs }: LifecycleEvent
): Reconciliation {
  const attempts = earlier === null ? 0 : earlier.attempts + 1
  const gapMs = Math.min(gapAfter(attempts, policy), earlier === null ? unansweredGapMaxMs(policy) : RETRY_GAP_MAX_MS)
  return { sinceMs: nowMs, attempts, nextAtMs: nowMs + gapMs }
}

/** The longest gap between two tries of one operation, each without an answer (ms). */
const RETRY_GAP_MAX_MS = 300_000

/**
 * When to reconcile next. An answer lengthens the gap. No answer leaves it, so that an outage of the network delays
 * nothing once it is over. The not-found horizon has its own query, which decides about an absence.
 */
export function nextReconciliation(
  { sinceMs, attempts }: Pick<Reconciliation, 'sinceMs' | 'attempts'>,
  policy: Policy,
  event: LifecycleEvent
): Reconciliation {
  const { nowMs } = event
  const isAnswered = !isUnanswered(event)
  const answered = isAnswered ? attempts + 1 : attempts
  const gapMs = isAnswered ? gapAfter(answered, policy) : unansweredGapMs(nowMs - sinceMs, policy)
  const horizonMs = sinceMs + policy.notFoundHorizonMs
  const nextAtMs = nowMs < horizonMs ? Math.min(nowMs + gapMs, horizonMs) : nowMs + gapMs
  return { sinceMs, attempts: answered, nextAtMs }
}

/** The network did not answer a query, or the request that followed it. */
function isUnanswered(event: LifecycleEvent): boolean {
  return event.type === 'NO_ANSWER' || (event.type === 'EARLIER_TRY_IN_DOUBT' && event.outcome.type === 'NOT_SENT')
}

/** The longest gap after a query without an answer (ms). Within it, all that is in doubt is due after an outage. */
export const UNANSWERED_GAP_MAX_MS = 30_000

/** The age of the doubt, within bounds: a short fault is over soon, and a long outage costs few queries. */
function unansweredGapMs(ageMs: number, policy: Policy): number {
  return Math.min(Math.max(ageMs, gapAfter(0, policy)), unansweredGapMaxMs(policy))
}

function unansweredGapMaxMs(policy: Policy): number {
  return Math.min(UNANSWERED_GAP_MAX_MS, gapAfter(policy.reconcileDelaysMs.length, policy))
}

function gapAfter(attempts: number, { reconcileDelaysMs, notFoundHorizonMs }: Policy): number {
  return reconcileDelaysMs[Math.min(attempts, reconcileDelaysMs.length - 1)] ?? notFoundHorizonMs
}
