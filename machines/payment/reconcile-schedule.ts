/** When the network is queried next about an outcome that is not known. Pure. */
import type { QuerySchedule, Reconciliation } from '../model.js'
import type { LifecycleEvent } from './events.js'
import type { Policy } from './policy.js'

/** `isRefused`: the network answered, and the answer proves nothing. `mayArrive`: the try may still be booked. */
export interface TryAnswer {
  readonly isRefused: boolean
  readonly mayArrive: boolean
}

export const NO_ANSWER: TryAnswer = { isRefused: false, mayArrive: true }

/**
 * The doubt that begins, or goes on, with a try whose outcome is not known. Each further try of one operation lengthens the
 * gap, so that a request which always fails backs off.
 */
export function afterTry(
  earlier: Reconciliation | null,
  { isRefused, mayArrive }: TryAnswer,
  policy: Policy,
  nowMs: number
): Reconciliation {
  const attempts = earlier === null ? 0 : earlier.attempts + 1
  const gapMs = Math.min(gapAfter(attempts, policy), earlier === null ? unansweredGapMaxMs(policy) : RETRY_GAP_MAX_MS)
  return {
    openedMs: earlier?.openedMs ?? nowMs,
    tries: (earlier?.tries ?? 0) + 1,
    sinceMs: nowMs,
    unansweredMs: mayArrive ? nowMs : (earlier?.unansweredMs ?? null),
    refusedMs: isRefused ? nowMs : null,
    concluded: earlier?.concluded ?? null,
    attempts,
    nextAtMs: nowMs + gapMs
  }
}

/** The longest gap between two tries of one operation, each without an answer (ms). */
const RETRY_GAP_MAX_MS = 300_000

/**
 * When to reconcile next. An answer lengthens the gap. No answer leaves it, so that an outage of the network delays
 * nothing once it is over. The not-found horizon has its own query, which decides about an absence.
 *
 * What is listed for its age has answers enough: the next gap is as long as the doubt is old (`openedMs`: since when). An
 * operator or a notification has it queried at once.
 */
export function nextQuery(
  { sinceMs, attempts, openedMs = sinceMs }: OpenQuery,
  policy: Policy,
  event: LifecycleEvent
): QuerySchedule {
  const { nowMs } = event
  const isAnswered = !isUnanswered(event)
  const answered = isAnswered ? attempts + 1 : attempts
  const gapMs = gapBefore({ sinceMs, attempts: answered, openedMs }, policy, nowMs, isAnswered)
  const horizonMs = sinceMs + policy.notFoundHorizonMs
  const nextAtMs = nowMs < horizonMs ? Math.min(nowMs + gapMs, horizonMs) : nowMs + gapMs
  return { sinceMs, attempts: answered, nextAtMs }
}

type OpenQuery = Pick<QuerySchedule, 'sinceMs' | 'attempts'> & { readonly openedMs?: number }

function gapBefore(
  { sinceMs, attempts, openedMs }: Required<OpenQuery>,
  policy: Policy,
  nowMs: number,
  isAnswered: boolean
): number {
  const ageMs = nowMs - openedMs
  // The record of a payment that is listed for its age may be one that can't be read at all.
  if (ageMs >= policy.reconcileListAfterMs) return isAnswered ? ageMs : longestGapMs(policy)
  if (isAnswered) return gapAfter(attempts, policy)
  // A short fault is over soon, and a long outage costs few queries.
  return Math.min(Math.max(nowMs - sinceMs, gapAfter(0, policy)), unansweredGapMaxMs(policy))
}

/** The network did not answer a query, or the request that followed it. */
function isUnanswered(event: LifecycleEvent): boolean {
  return event.type === 'NO_ANSWER' || (event.type === 'EARLIER_TRY_IN_DOUBT' && event.outcome.type === 'NOT_SENT')
}

/** The longest gap after a query without an answer (ms). Within it, all that is in doubt is due after an outage. */
export const UNANSWERED_GAP_MAX_MS = 30_000

function unansweredGapMaxMs(policy: Policy): number {
  return Math.min(UNANSWERED_GAP_MAX_MS, longestGapMs(policy))
}

function longestGapMs(policy: Policy): number {
  return gapAfter(policy.reconcileDelaysMs.length, policy)
}

function gapAfter(attempts: number, { reconcileDelaysMs, notFoundHorizonMs }: Policy): number {
  return reconcileDelaysMs[Math.min(attempts, reconcileDelaysMs.length - 1)] ?? notFoundHorizonMs
}
