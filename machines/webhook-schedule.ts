/**
 * When an undelivered event is sent again, as data (docs/WEBHOOKS.md, When you do not answer).
 *
 * The gaps grow to a day and add up to about three days, so that a receiver may be down over a weekend. Jitter keeps
 * the events that failed together from coming back together.
 */

const SECOND_MS = 1_000
const MINUTE_MS = 60 * SECOND_MS
const HOUR_MS = 60 * MINUTE_MS

export interface RetryPolicy {
  /** Gap before each further attempt; after the last one the event is undeliverable. */
  readonly delaysMs: readonly number[]
  /** Each gap varies by this share in both directions. */
  readonly jitter: number
}

export const standardRetries: RetryPolicy = {
  delaysMs: [
    5 * SECOND_MS,
    30 * SECOND_MS,
    2 * MINUTE_MS,
    10 * MINUTE_MS,
    1 * HOUR_MS,
    3 * HOUR_MS,
    6 * HOUR_MS,
    12 * HOUR_MS,
    24 * HOUR_MS,
    24 * HOUR_MS
  ],
  jitter: 0.2
}

/** The longest `Retry-After` that counts. */
export const RETRY_AFTER_MAX_MS = 24 * HOUR_MS

/**
 * The gap after `attempts` attempts, never shorter than the receiver's own wish (`retryAfterMs`, null: none).
 * `random` is from 0 to 1 and comes from outside. Null: there is no further attempt.
 */
export function retryDelayMs(
  policy: RetryPolicy,
  attempts: number,
  retryAfterMs: number | null,
  random: number
): number | null {
  const gapMs = policy.delaysMs[attempts - 1]
  if (gapMs === undefined) return null
  const jitteredMs = Math.round(gapMs * (1 + policy.jitter * (2 * random - 1)))
  return Math.max(jitteredMs, Math.min(retryAfterMs ?? 0, RETRY_AFTER_MAX_MS))
}

/** The longest that all gaps take; an event that is older gets no further attempt. */
export function spanMs(policy: RetryPolicy): number {
  return policy.delaysMs.reduce((sum, gapMs) => sum + gapMs, 0) * (1 + policy.jitter)
}
