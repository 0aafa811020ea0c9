/**
 * Buckets ("token buckets") on the memory-only Redis: one per key, shared by all processes.
 *
 * A limit protects the service from a client; it is no reason to be down. When that Redis does not answer within
 * `ANSWER_MS`, requests pass, and it is left alone for `PAUSE_MS`.
 */
import type { Logger } from '../../runtime/log.js'
import { within } from '../../runtime/within.js'
import type { Redis } from '../connection/connections.js'
import { keys } from '../keys.js'
import { defineScript } from '../scripts.js'

const takeFromBucket = defineScript('take_from_bucket')

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

/** Null when `perSecond` is 0: no limit. */
export function createRateLimiter(redis: Redis, limit: RateLimit, log: Logger): RateLimiter | null {
  if (limit.perSecond === 0) return null
  let pausedUntilMs = 0

  return {
    burst: limit.burst,
    windowS: Math.ceil(limit.burst / limit.perSecond),
    async take(name, reserve = 0) {
      if (performance.now() < pausedUntilMs) return null
      try {
        const args = [limit.perSecond, limit.burst, reserve]
        return parseGrant(await within(ANSWER_MS, takeFromBucket(redis, [keys.rateLimit(name)], args)))
      } catch (error) {
        pausedUntilMs = performance.now() + PAUSE_MS
        log.warn({ err: error }, 'requests are not limited: the memory-only Redis does not answer')
        return null
      }
    }
  }
}

/** The script's answer: taken, requests left, ms until the next one, ms until the bucket is full. */
function parseGrant(reply: unknown): Grant {
  const [taken, remaining, retryAfterMs, fullAfterMs] = reply as [number, number, number, number]
  return { isAllowed: taken === 1, remaining, retryAfterMs, fullAfterMs }
}
