/**
 * Buckets ("token buckets") on the memory-only Redis: one per key, shared by all processes.
 *
 * A limit protects the service from a client; it is no reason to be down. When that Redis does not answer within
 * `ANSWER_MS`, requests pass, and it is left alone for `PAUSE_MS`; then one request asks it for all. Requests that
 * waited while this process stood still come at once: they pass, too.
 */
import { type Logger, warnRateLimited } from '../../runtime/log.js'
import { withTimeout } from '../../runtime/with-timeout.js'
import type { Redis } from '../connection/connections.js'
import { keys } from '../keys.js'
import { defineNamedScript } from '../scripts.js'

const takeFromBucket = defineNamedScript<{
  keys: 'bucket'
  given: { perSecond: number; burst: number; reserve: number }
}>('take_from_bucket')

/** 0 per second: no limit. */
export interface RateLimit {
  readonly perSecond: number
  readonly burst: number
}

export interface Grant {
  readonly isAllowed: boolean
  /** Requests that may follow at once. */
  readonly remaining: number
  /** 0 when `remaining` is not. */
  readonly retryAfterMs: number
  readonly fullAfterMs: number
}

export interface RateLimiter {
  readonly burst: number
  /** The time in which a whole burst comes back, in seconds. */
  readonly windowS: number
  /**
   * Counts one request of `name` (a key id, an address), unless fewer than `reserve` would stay for others.
   * Null: the limit is not known just now, let the request pass.
   */
  take(name: string, reserve?: number): Promise<Grant | null>
}

const ANSWER_MS = 250
const PAUSE_MS = 1_000
/** Longer than a busy process stands still. */
const STOOD_STILL_MS = 2_000
const TICK_MS = 500

/** Null when `perSecond` is 0: no limit. */
export function createRateLimiter(redis: Redis, limit: RateLimit, log: Logger): RateLimiter | null {
  if (limit.perSecond === 0) return null
  let pausedUntilMs = 0
  let wasSilent = false
  let isProbing = false
  let tickedAtMs = performance.now()
  /** Also called by requests: after a freeze, sockets may be read before timers run. */
  const tick = (): void => {
    const nowMs = performance.now()
    if (nowMs - tickedAtMs > STOOD_STILL_MS) pausedUntilMs = nowMs + PAUSE_MS
    tickedAtMs = nowMs
  }
  setInterval(tick, TICK_MS).unref()

  return {
    burst: limit.burst,
    windowS: Math.ceil(limit.burst / limit.perSecond),
    async take(name, reserve = 0) {
      tick()
      // A server that is silent runs all that was sent to it once it is back, and the bucket would be empty.
      if (performance.now() < pausedUntilMs || isProbing) return null
      const isProbe = wasSilent
      isProbing = isProbe
      try {
        const taking = takeFromBucket(redis, { bucket: keys.rateLimit(name) }, { ...limit, reserve })
        const grant = parseGrant(await withTimeout(ANSWER_MS, taking))
        wasSilent = false
        return grant
      } catch (error) {
        wasSilent = true
        pausedUntilMs = performance.now() + PAUSE_MS
        warnRateLimited(log, { err: error }, 'requests are not limited: the memory-only Redis does not answer')
        return null
      } finally {
        if (isProbe) isProbing = false
      }
    }
  }
}

/** The script's answer: taken, requests left, ms until the next one, ms until the bucket is full. */
function parseGrant(reply: unknown): Grant {
  const [taken, remaining, retryAfterMs, fullAfterMs] = reply as [number, number, number, number]
  return { isAllowed: taken === 1, remaining, retryAfterMs, fullAfterMs }
}
