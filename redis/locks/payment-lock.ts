/**
 * The lock that keeps two workers off one payment, by Redlock.
 *
 * It lives on the memory-only Redis, or on REDLOCK_URLS: on the durable one each lock would wait for an fsync. It only saves
 * network calls; correctness rests on the version compare of commit.lua. The holder of a lost lock begins no
 * other call: one that has begun runs to its end, and its result is committed. While
 * the lock servers are unavailable, work continues without a lock once every earlier lock has expired (decision 25).
 */
import type { Redis as Single } from 'ioredis'
import Redlock, { ExecutionError, Lock, ResourceLockedError } from 'redlock'
import type { Lease } from '../../machines/lease.js'
import { delay } from '../../runtime/delay.js'
import type { Logger } from '../../runtime/log.js'
import { inBatches } from '../connection/batches.js'
import type { Redis } from '../connection/connections.js'
import { keys } from '../keys.js'

export interface PaymentLock {
  /**
   * Runs `work` under the lock `name`: the payment key of a payment, or its `deliveryLock`. Its lease is lost when the lock is
   * lost or may be.
   * Answers `taken` without running anything when another holder has it. Throws while the lock servers have been unavailable
   * for less than the life of a lock; afterwards `work` runs without one.
   */
  withLock<T>(name: string, work: (lease: Lease) => Promise<T>): Promise<T | 'taken'>
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
  const redlock = new Redlock(clients as readonly Single[], { retryCount: 0, driftFactor: 0.01 })
  redlock.on('error', error => {
    if (!(error instanceof ResourceLockedError)) log.debug({ err: error }, 'lock server did not answer')
  })
  const outage = watchOutage(ttlMs, log, async () => {
    // The process stops and has closed it; a client that ends otherwise connects again at once.
    if (clients.some(client => client.status === 'end')) return
    await (await acquire(redlock, ['probe'], ttlMs))?.release()
  })
  const acquireOne = inBatches((names: readonly string[]) => acquireEach(redlock, names, ttlMs))
  return {
    async withLock(name, work) {
      const lock = outage.isDown() ? lockOfTime(ttlMs) : await acquireOne(name).catch(outage.failed)
      if (lock === null) return 'taken'
      const lease = new RenewedLease(lock, ttlMs)
      try {
        return await work(lease)
      } finally {
        lease.release()
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
  /** What to do about an error: to wait (it throws), or to work with what stands in for a lock. */
  failed(error: unknown): Renewable
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
      if (isLong()) return lockOfTime(ttlMs)
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

/**
 * The locks of `names`, null for one that another holder has. Redlock locks them all or none with one command; each is renewed
 * and released alone. When one of them is taken, each is asked for alone.
 */
async function acquireEach(redlock: Redlock, names: readonly string[], ttlMs: number): Promise<(Lock | null)[]> {
  // Redlock would give one lock to both callers that ask for it.
  const isEachAsked = new Set(names).size === names.length
  const together = isEachAsked ? await acquire(redlock, names, ttlMs) : null
  if (together !== null) {
    const { value, attempts, expiration } = together
    return names.map(name => new Lock(redlock, [keys.lock(name)], value, attempts, expiration))
  }
  return names.length === 1 ? [null] : await Promise.all(names.map(name => acquire(redlock, [name], ttlMs)))
}

async function acquire(redlock: Redlock, names: readonly string[], ttlMs: number): Promise<Lock | null> {
  try {
    return await redlock.acquire(names.map(keys.lock), ttlMs)
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
interface Renewable {
  readonly expiration: number
  extend(ttlMs: number): Promise<Renewable>
  release(): Promise<unknown>
}

/**
 * Stands in for a lock while the lock servers are unavailable. A process that was suspended for `ttlMs` can't renew it: another
 * worker may have taken its command over.
 */
function lockOfTime(ttlMs: number): Renewable {
  const expiration = Date.now() + ttlMs
  return {
    expiration,
    extend: async () => {
      if (Date.now() >= expiration) throw new Error('the process was suspended for longer than the life of a lock')
      return lockOfTime(ttlMs)
    },
    release: async () => undefined
  }
}

/**
 * Renews a lock at half time. The lease is lost when the lock's own time is over or a server says that the lock is lost. A
 * renewal without an answer is tried again until then: a server that stalls for a second does not cost the holder its lock.
 */
class RenewedLease implements Lease {
  readonly #ttlMs: number
  readonly #listeners = new Set<() => void>()
  #lock: Renewable
  #state: 'held' | 'lost' | 'released' = 'held'
  #renewal: NodeJS.Timeout | undefined
  #expiry: NodeJS.Timeout | undefined

  constructor(lock: Renewable, ttlMs: number) {
    this.#ttlMs = ttlMs
    this.#lock = lock
    this.#schedule()
  }

  /**
   * Compares the time itself: after a suspension Node handles the answers that wait on sockets before its timers, so a
   * timer alone would end the lease after the next call has begun.
   */
  isLost(): boolean {
    if (Date.now() >= this.#lock.expiration) this.#lose()
    return this.#state === 'lost'
  }

  onLost(listener: () => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  release(): void {
    if (this.#state === 'held') this.#state = 'released'
    this.#clear()
    // Not awaited: an unreleased lock expires, and a result must not wait for it.
    this.#lock.release().catch(() => undefined)
  }

  #schedule(): void {
    this.#renewal = setTimeout(() => void this.#renew(), this.#ttlMs / 2)
    this.#expiry = setTimeout(() => this.#lose(), Math.max(0, this.#lock.expiration - Date.now()))
  }

  async #renew(): Promise<void> {
    try {
      this.#lock = await this.#lock.extend(this.#ttlMs)
      this.#clear()
      if (this.#state !== 'released') this.#schedule()
    } catch (error) {
      if (await isTaken(error)) this.#lose()
      else if (this.#state === 'held')
        this.#renewal = setTimeout(() => void this.#renew(), this.#ttlMs / RENEWALS_AGAIN)
    }
  }

  #lose(): void {
    if (this.#state !== 'held') return
    this.#state = 'lost'
    for (const listener of this.#listeners) listener()
  }

  #clear(): void {
    clearTimeout(this.#renewal)
    clearTimeout(this.#expiry)
  }
}
