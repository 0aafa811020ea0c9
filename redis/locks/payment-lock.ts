/**
 * The lock that keeps two workers off one payment, by Redlock (decision 1).
 *
 * It only saves network calls; correctness rests on the version compare of commit.lua. A lost lock aborts the
 * holder's signal, which stops new calls only: a call that has begun runs to its end, and its result is committed. While
 * the lock servers are unavailable, work continues without a lock once every earlier lock has expired (decision 25).
 */
import type { Redis as Single } from 'ioredis'
import Redlock, { ExecutionError, type Lock, ResourceLockedError } from 'redlock'
import { delay } from '../../runtime/delay.js'
import type { Logger } from '../../runtime/log.js'
import type { Redis } from '../connection/connections.js'
import { keys } from '../keys.js'

export interface PaymentLock {
  /**
   * Runs `work` under the lock `name`: the payment key of a payment, or its `deliveryLock`. `held` aborts when the lock is
   * lost or may be. The signal is used again after the work is done, so its listeners must be removed by then.
   * Answers `taken` without running anything when another holder has it. Throws while the lock servers have been unavailable
   * for less than the life of a lock; afterwards `work` runs without one.
   */
  hold<T>(name: string, work: (held: AbortSignal) => Promise<T>): Promise<T | 'taken'>
}

/** The name of the lock for the webhooks of a payment. A lock of its own: a slow receiver must not delay a capture. */
export function deliveryLock(paymentKey: string): string {
  return `hook:${paymentKey}`
}

/** A renewal that failed is tried again after this part of the lock's time. */
const RENEWALS_AGAIN = 20
/** How often unavailable lock servers are probed (ms). */
const PROBE_MS = 500

/** `clients`: 1, 3 or 5 independent masters. `ttlMs`: how long a dead holder blocks a payment. */
export function createPaymentLock(clients: readonly Redis[], ttlMs: number, log: Logger): PaymentLock {
  // Retries are ours: with its own, this Redlock returns locks that are expired already.
  const redlock = new Redlock(clients.filter(isClient), { retryCount: 0, driftFactor: 0.01 })
  redlock.on('error', error => {
    if (!(error instanceof ResourceLockedError)) log.debug({ err: error }, 'lock server did not answer')
  })
  const unused: Hold[] = []
  const outage = watchOutage(ttlMs, log, async () => {
    // The process stops and has closed it; a client that ends otherwise connects again at once.
    if (clients.some(client => client.status === 'end')) return
    await (await acquire(redlock, 'probe', ttlMs))?.release()
  })
  return {
    async hold(name, work) {
      const lock = outage.isDown() ? 'none' : await acquire(redlock, name, ttlMs).catch(outage.failed)
      if (lock === null) return 'taken'
      const keeper = keepAlive(lock === 'none' ? leaseOfTime(ttlMs) : lock, ttlMs, unused)
      try {
        return await work(keeper.signal)
      } finally {
        keeper.release()
      }
    }
  }
}

/**
 * Follows an outage of the lock servers. It is over when `probe` has resolved for the whole life of a lock: servers that
 * are started again and again must not keep payments waiting.
 */
function watchOutage(
  ttlMs: number,
  log: Logger,
  probe: () => Promise<void>
): {
  /** Whether it is of no use to ask for a lock. */
  isDown(): boolean
  /** What to do about an error: to wait (it throws), or to work without a lock. */
  failed(error: unknown): 'none'
} {
  let sinceMs: number | null = null
  let wellSinceMs: number | null = null
  const isLong = (): boolean => sinceMs !== null && performance.now() - sinceMs >= ttlMs
  const untilOver = async (): Promise<void> => {
    while (sinceMs !== null) {
      await delay(PROBE_MS)
      const nowMs = performance.now()
      wellSinceMs = await probe().then(
        () => wellSinceMs ?? nowMs,
        () => null
      )
      if (wellSinceMs !== null && nowMs - wellSinceMs >= ttlMs) sinceMs = null
    }
    log.info('payments are locked again')
  }
  return {
    isDown: () => isLong() && wellSinceMs === null,
    failed(error) {
      if (isLong()) return 'none'
      if (sinceMs === null) {
        sinceMs = performance.now()
        wellSinceMs = null
        log.warn(
          { err: error, lock_ttl_ms: ttlMs },
          'payments cannot be locked: they wait, then continue without locks'
        )
        void untilOver()
      }
      throw error
    }
  }
}

/** Redlock names the class of the client, and uses its scripts. */
function isClient(redis: Redis): redis is Redis & Single {
  return typeof redis.evalsha === 'function'
}

async function acquire(redlock: Redlock, name: string, ttlMs: number): Promise<Lock | null> {
  try {
    return await redlock.acquire([keys.lock(name)], ttlMs)
  } catch (error) {
    if (!(error instanceof ExecutionError)) throw error
    if (await isTaken(error)) return null
    // The client's own error says that a server is unavailable.
    throw (await votesAgainst(error))[0] ?? error
  }
}

/** Whether a server says that the lock is not, or no longer, ours to have. */
async function isTaken(error: unknown): Promise<boolean> {
  if (!(error instanceof ExecutionError)) return false
  return (await votesAgainst(error)).some(vote => vote instanceof ResourceLockedError)
}

/** Votes against because of the lock itself mean "taken"; any other means that a server is in trouble. */
async function votesAgainst(error: ExecutionError): Promise<Error[]> {
  const attempts = await Promise.all(error.attempts)
  return attempts.flatMap(attempt => [...attempt.votesAgainst.values()])
}

/** What is renewed during the work; `expiration` is wall time (ms). */
interface Lease {
  readonly expiration: number
  extend(ttlMs: number): Promise<Lease>
  release(): Promise<unknown>
}

/**
 * Stands in for a lock while the lock servers are unavailable. A process that was suspended for `ttlMs` can't renew it: another
 * worker may have taken its command over.
 */
function leaseOfTime(ttlMs: number): Lease {
  const expiration = Date.now() + ttlMs
  return {
    expiration,
    extend: async () => {
      if (Date.now() >= expiration) throw new Error('the process was suspended for longer than the life of a lock')
      return leaseOfTime(ttlMs)
    },
    release: async () => undefined
  }
}

/**
 * The signal of a holder. Its `aborted` compares the time itself: after a suspension Node handles the answers that wait
 * on sockets before its timers, so a timer alone would abort after the next call has begun.
 */
class Hold {
  /** Wall time (ms). */
  expiresAtMs = Number.POSITIVE_INFINITY
  isLost = false
  readonly #controller = new AbortController()
  readonly signal = this.#controller.signal

  constructor() {
    Object.defineProperty(this.signal, 'aborted', {
      get: () => {
        if (Date.now() >= this.expiresAtMs) this.lose()
        return this.isLost
      }
    })
  }

  lose(): void {
    if (this.isLost) return
    this.isLost = true
    this.#controller.abort(new Error('the lock of the payment expired'))
  }
}

/**
 * Renews at half time, and aborts when the lock's own time is over or a server says that the lock is lost. A renewal
 * without an answer is tried again until then: a server that stalls for a second does not cost the holder its lock.
 *
 * `unused` are the signals that aborted nothing: they serve again. Node puts each signal, 740 bytes, straight into old
 * space (measured), which only a full collection frees; one for each payment would bring that on all the time.
 */
function keepAlive(first: Lease, ttlMs: number, unused: Hold[]): { signal: AbortSignal; release: () => void } {
  const hold = unused.pop() ?? new Hold()
  let lock = first
  let renewal: NodeJS.Timeout
  let expiry: NodeJS.Timeout
  const schedule = (): void => {
    hold.expiresAtMs = lock.expiration
    renewal = setTimeout(() => void renew(), ttlMs / 2)
    expiry = setTimeout(lose, Math.max(0, lock.expiration - Date.now()))
  }
  const renew = async (): Promise<void> => {
    try {
      lock = await lock.extend(ttlMs)
      clearTimeout(expiry)
      if (!isReleased) schedule()
    } catch (error) {
      if (await isTaken(error)) lose()
      else if (!isReleased && !hold.isLost) renewal = setTimeout(() => void renew(), ttlMs / RENEWALS_AGAIN)
    }
  }
  const lose = (): void => {
    // After the release the signal is another holder's.
    if (!isReleased) hold.lose()
  }
  let isReleased = false
  schedule()
  return {
    signal: hold.signal,
    release: () => {
      isReleased = true
      clearTimeout(renewal)
      clearTimeout(expiry)
      hold.expiresAtMs = Number.POSITIVE_INFINITY
      if (!hold.isLost) unused.push(hold)
      // Not awaited: an unreleased lock expires, and a result must not wait for it.
      lock.release().catch(() => undefined)
    }
  }
}
