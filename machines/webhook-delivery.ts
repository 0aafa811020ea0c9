/**
 * What follows from each outcome of a webhook event, for the event and for the endpoint of its merchant (docs/WEBHOOKS.md, When
 * you do not answer).
 *
 * Pure: the worker sends and reports the outcome; time and chance come with it. Scripts write what is concluded here.
 */
import { DAY_MS } from './durations.js'

const SECOND_MS = 1_000

/** Each gap between attempts varies by this share in both directions: what failed together does not come back together. */
const GAP_JITTER = 0.2
/** The longest `Retry-After` that counts for the event. */
export const RETRY_AFTER_MAX_MS = DAY_MS
/** Failures in a row after which an endpoint is paused. */
const FAILURES_MAX = 5
const PAUSE_MAX_MS = 30 * SECOND_MS
/** A pause may be shorter by this share. */
const PAUSE_JITTER = 0.2
/** A trial without an outcome for this long (its worker died) is followed by another one. */
const TRIAL_PATIENCE_MS = 30 * SECOND_MS
/**
 * A failure that is so much later than planned was delayed by this service, such as by an outage of Redis. With the patience of a
 * trial it is longer than the longest `WEBHOOK_TIMEOUT_MS`.
 */
const DELAYED_AFTER_MS = 45 * SECOND_MS
/** How long the line of an endpoint that takes no more at the moment waits, unless a success lets it go on. */
const FULL_WAIT_MS = SECOND_MS
/** Payments of one line that go on in one step. */
const STEP_MAX = 100
/** Payments of the line that follow a success. */
const FOLLOWERS = 2

/** How long an event can be sent again after its delivery, or after the last attempt that it might have got. */
export const RETENTION_DAYS = 30
/** Events of one payment that may wait: bounds memory for a dead endpoint. A hundred refunds need fewer. */
export const WAITING_MAX = 250

/** Statuses that are about the receiver and not about this event. */
export const THROTTLING: readonly (number | null)[] = [429, 503]

/** Whether an answer says that the event has arrived. */
export function isReceipt(status: number | null): boolean {
  return status !== null && status >= 200 && status <= 299
}

/** What is known of a delivery besides the event itself. Times in ms since the epoch. */
export interface Delivery {
  /** How many have failed. */
  readonly attempts: number
  /** When it was created or replayed. */
  readonly sinceMs: number
}

/** One try to deliver an event. */
export interface Attempt {
  readonly atMs: number
  /** HTTP status; null when there was no answer. */
  readonly status: number | null
  readonly durationMs: number
  /** First characters of the answer, or why there was none; '' after a success. */
  readonly note: string
}

/** An endpoint whose last attempt failed, with any event. One that works has nothing to remember: null. */
export interface Failing {
  /** In a row. */
  readonly failures: number
  /** From then on it was tried again and again. */
  readonly sinceMs: number
  /** When its next attempt was due, as was planned at the last failure. Null: an earlier version wrote this. */
  readonly nextMs: number | null
  /** Until then nothing is sent, then one event as a trial. Null: it is not paused. */
  readonly pausedUntilMs: number | null
}

/** Why an event is not sent: its webhooks are switched off, its endpoint is paused, or takes no more just now. */
type Hindrance = 'off' | 'paused' | 'full'

export type Outcome =
  /** `status` null: no answer. The connection was refused, cut, too slow or untrusted, or its target must not be called. */
  | { readonly kind: 'attempted'; readonly status: number | null; readonly retryAfterMs: number | null }
  | { readonly kind: Hindrance }

export interface Circumstances {
  readonly nowMs: number
  /** From 0 to 1. */
  readonly random: number
  /** It was sent although its endpoint is paused. */
  readonly isTrial: boolean
  /** Gap before each further attempt (`WEBHOOK_RETRY_DELAYS_MS`). */
  readonly delaysMs: readonly number[]
}

/**
 * What an outcome means for the event and its endpoint, and which payments of the line follow at once. `fails`: one failure more
 * in a row. `as old`: one that has waited as long as an event that was given up, and is given up next.
 */
const rows = {
  received: { event: 'delivered', endpoint: 'works', follow: 'due' },
  gone: { event: 'undeliverable', endpoint: 'fails', follow: 'as old' },
  refused: { event: 'waits', endpoint: 'fails', follow: 'none' },
  refusedForTheLastTime: { event: 'undeliverable', endpoint: 'fails', follow: 'as old' },
  // What waits behind a dead endpoint goes as soon as it is due.
  switchedOff: { event: 'forgotten', endpoint: 'works', follow: 'due' },
  held: { event: 'waits', endpoint: 'same', follow: 'none' },
  // The endpoint was down for the whole span of the attempts.
  overdue: { event: 'undeliverable', endpoint: 'same', follow: 'as old' }
} as const

export interface Conclusion {
  readonly event: (typeof rows)[keyof typeof rows]['event'] | 'set aside'
  /** Of an event that waits: when it is due (ms). One that waits for its endpoint alone has been due since it exists. */
  readonly dueMs?: number
  readonly failing: Failing | null
  /** When the line of the endpoint is due, at the latest (ms): then `timers` lets it go on. */
  readonly lineDueMs?: number
  /** Payments of the line that go on at once: as many at most, of those that were due by then (ms). */
  readonly follow?: { readonly max: number; readonly dueByMs: number }
}

/** Why an event must not be sent now; null: it is sent. */
export function hindranceOf(given: {
  readonly isOff: boolean
  readonly failing: Failing | null
  readonly isTrial: boolean
  readonly hasRoom: boolean
}): Hindrance | null {
  const { isOff, failing, isTrial, hasRoom } = given
  if (isOff) return 'off'
  if (isTrial) return null
  if (failing !== null && failing.pausedUntilMs !== null) return 'paused'
  return hasRoom ? null : 'full'
}

/** What follows for an event that can't be read. */
export function setAside(failing: Failing | null): Conclusion {
  return { event: 'set aside', failing }
}

/** What follows from an outcome. Total: every outcome has a conclusion, in each state of the endpoint. */
export function conclude(
  delivery: Delivery,
  before: Failing | null,
  outcome: Outcome,
  given: Circumstances
): Conclusion {
  const { nowMs, delaysMs } = given
  const row = rows[rowOf(delivery, before, outcome, given)]
  const isFailure = row.endpoint === 'fails'
  const retryMs = nowMs + gapMs(delivery.attempts + 1, outcome, given)
  const failing = { works: null, same: before, fails: failingAfter(before, outcome, retryMs, given) }[row.endpoint]
  const isWaiting = row.event === 'waits'
  const waitsUntilMs = failing?.pausedUntilMs ?? (isFailure ? retryMs : nowMs + FULL_WAIT_MS)
  const lineDueMs = row.endpoint === 'works' ? nowMs : waitsUntilMs
  const follow = {
    due: { max: FOLLOWERS, dueByMs: nowMs },
    'as old': { max: 1, dueByMs: nowMs - spanMs(delaysMs) },
    none: undefined
  }[row.follow]
  return {
    event: row.event,
    failing,
    ...(isWaiting ? { dueMs: isFailure ? retryMs : delivery.sinceMs } : {}),
    ...(isWaiting || failing !== before ? { lineDueMs } : {}),
    ...(follow && { follow })
  }
}

/** What of a line goes on: `max` of those that are due. `trial`: what becomes of the endpoint when one goes on as a trial. */
export interface LineStep {
  readonly max: number
  readonly trial: Failing | null
  /** When the line is due again, if so many went on (ms). */
  readonly againMs: number
}

/** Everything that is due, in portions; while the endpoint is paused, one trial at its time. */
export function stepOfLine(failing: Failing | null, nowMs: number): LineStep {
  if (failing === null || failing.pausedUntilMs === null)
    return { max: STEP_MAX, trial: null, againMs: nowMs + FULL_WAIT_MS }
  if (failing.pausedUntilMs > nowMs) return { max: 0, trial: null, againMs: failing.pausedUntilMs }
  const againMs = nowMs + TRIAL_PATIENCE_MS
  return { max: 1, trial: { ...failing, nextMs: againMs, pausedUntilMs: againMs }, againMs }
}

/** The longest that all gaps take (ms). */
export function spanMs(delaysMs: readonly number[]): number {
  return Math.ceil(delaysMs.reduce((sum, delayMs) => sum + delayMs, 0) * (1 + GAP_JITTER))
}

function rowOf(
  { attempts, sinceMs }: Delivery,
  before: Failing | null,
  outcome: Outcome,
  { nowMs, delaysMs }: Circumstances
): keyof typeof rows {
  // A slow endpoint, or one after a shorter outage, loses no event.
  const isOverdue = nowMs >= Math.max(sinceMs, failingSinceMs(before, nowMs)) + spanMs(delaysMs)
  switch (outcome.kind) {
    case 'off':
      return 'switchedOff'
    case 'paused':
    case 'full':
      return isOverdue ? 'overdue' : 'held'
    case 'attempted':
      if (isReceipt(outcome.status)) return 'received'
      if (outcome.status === 410) return 'gone'
      return isOverdue || attempts >= delaysMs.length ? 'refusedForTheLastTime' : 'refused'
  }
}

/** The gap after so many attempts, never shorter than the receiver's own wish. */
function gapMs(attempts: number, outcome: Outcome, { delaysMs, random }: Circumstances): number {
  const wishMs = outcome.kind === 'attempted' ? Math.min(outcome.retryAfterMs ?? 0, RETRY_AFTER_MAX_MS) : 0
  const delayMs = delaysMs[attempts - 1] ?? 0
  return Math.max(Math.round(delayMs * (1 + GAP_JITTER * (2 * random - 1))), wishMs)
}

/** Since when the endpoint is known to fail (ms). Of the time in which this service was away nothing is known. */
function failingSinceMs(failing: Failing | null, nowMs: number): number {
  if (failing === null) return nowMs
  const { sinceMs, nextMs } = failing
  return nextMs !== null && nowMs > nextMs + DELAYED_AFTER_MS ? nowMs : sinceMs
}

/** One failure more. A failure of what was sent before a pause does not make it longer. */
function failingAfter(
  before: Failing | null,
  outcome: Outcome,
  retryMs: number,
  { nowMs, random, isTrial }: Circumstances
): Failing {
  if (before !== null && before.pausedUntilMs !== null && !isTrial) return before
  const failures = (before?.failures ?? 0) + 1
  const isThrottled = outcome.kind === 'attempted' && THROTTLING.includes(outcome.status)
  const wishMs = isThrottled ? Math.min(outcome.retryAfterMs ?? 0, PAUSE_MAX_MS) : 0
  const growingMs = Math.min(SECOND_MS * 2 ** Math.max(failures - FAILURES_MAX, 0), PAUSE_MAX_MS)
  const pauseMs = Math.max(Math.round(growingMs * (1 - PAUSE_JITTER * random)), wishMs)
  const isPaused = failures >= FAILURES_MAX || wishMs > 0
  const pausedUntilMs = isPaused ? nowMs + pauseMs : null
  const nextMs = Math.max(retryMs, pausedUntilMs ?? retryMs)
  return { failures, sinceMs: failingSinceMs(before, nowMs), nextMs, pausedUntilMs }
}
