/**
 * The clock of a process, compared with that of Redis.
 *
 * Processes that decide about payments follow the clock of Redis (`followClock`). Much money depends on "nothing was
 * heard for ten minutes", counted by one process and judged by another. A machine whose clock is minutes ahead would
 * cut that short: a payment would fail, or a refund be sent again, while the first try is still on its way. The test
 * environment adds an offset, so that a merchant can live through seven days in a second; the live environment never
 * reads it.
 *
 * Webhooks, API keys and tokens belong to the world outside, and have no such offset: their clock is that of the machine,
 * set right (`watchClock`, `FollowedClock.real`). Every process publishes the difference and warns of it.
 */
import type { Environment } from '../../machines/model.js'
import { type Clock, systemClock } from '../../runtime/clock.js'
import type { ProcessContext } from '../../runtime/lifecycle.js'
import { publishClockDifference } from '../../runtime/metrics.js'
import { keys } from '../keys.js'
import type { Redis } from './connections.js'

/** How often a process looks for a new offset (ms). */
export const CLOCK_POLL_MS = 1_000
/** How often a process compares its machine's clock with that of Redis (ms). */
const COMPARE_MS = 5_000
/** A harmless difference, which NTP corrects (ms). */
const TOLERATED_MS = 1_000
/** No clock that is kept right differs by so much (ms). */
const APART_MS = 60_000
/** A comparison that took longer, because a process or Redis paused meanwhile, is only better than none (ms). */
const ROUND_TRIP_MAX_MS = 200

/** A clock that `stop` leaves where it is. */
export interface WatchedClock extends Clock {
  stop(): void
  /**
   * Whether the clocks of the machine and of Redis differ so much that one of them is surely wrong: nothing that can't be
   * undone becomes due until they agree.
   */
  isApart(): boolean
}

export interface FollowedClock extends WatchedClock {
  /** The time of the world outside, also where the clock of the test environment was moved: `webhooks` goes by it. */
  readonly real: Clock
}

export interface ClockOptions {
  /** The process that warns of a difference, publishes it, and stops the clock with itself. */
  readonly process?: Pick<ProcessContext, 'onStop' | 'onWarning'>
  /** The clock of the machine, and one that no setting of it moves, for tests. */
  readonly machine?: Clock
  readonly steady?: Clock
}

/** The clock of a process that decides about payments. While Redis is unavailable, it uses the last known difference. */
export async function followClock(
  redis: Redis,
  environment: Environment,
  options: ClockOptions = {}
): Promise<FollowedClock> {
  const machine = await watchClock(redis, options)
  if (environment === 'live') return { ...machine, real: machine }
  let offsetMs = await readClockOffset(redis, environment)
  const readOffset = async (): Promise<void> => {
    offsetMs = await readClockOffset(redis, environment)
  }
  const timer = setInterval(() => void readOffset().catch(() => undefined), CLOCK_POLL_MS)
  const stop = (): void => {
    clearInterval(timer)
    machine.stop()
  }
  options.process?.onStop('clock', stop)
  return { now: () => machine.now() + offsetMs, stop, isApart: machine.isApart, real: machine }
}

/**
 * The clock of the machine, corrected by that of Redis where the two differ by more than is tolerated. A clock that is set
 * between two comparisons is seen at once, against one that can't be set: the time then goes on from the last comparison.
 */
export async function watchClock(
  redis: Redis,
  { process, machine = systemClock, steady = steadyClock }: ClockOptions
): Promise<WatchedClock> {
  let found: (Difference & { readonly stepMs: number }) | undefined
  let isComparing = false
  /** Its changes are steps of the machine's clock. */
  const apartMs = (): number => machine.now() - steady.now()
  const compare = async (): Promise<void> => {
    const difference = await measure(redis, machine)
    if (found === undefined || difference.tookMs <= ROUND_TRIP_MAX_MS) found = { ...difference, stepMs: apartMs() }
  }
  const compareOnce = (): void => {
    if (isComparing) return
    isComparing = true
    void compare()
      .catch(() => undefined)
      .finally(() => {
        isComparing = false
      })
  }
  await compare()
  const timer = setInterval(compareOnce, COMPARE_MS)
  const stop = (): void => clearInterval(timer)
  const errorMs = (): number => {
    if (found === undefined) return 0
    const steppedMs = apartMs() - found.stepMs
    const knownMs = isTolerated(found) ? 0 : found.aheadMs
    if (Math.abs(steppedMs) <= TOLERATED_MS) return knownMs
    compareOnce()
    return knownMs + steppedMs
  }
  process?.onStop('clock', stop)
  process?.onWarning('clock', () => warningOf(errorMs()))
  if (process !== undefined) publishClockDifference(() => found?.aheadMs ?? 0)
  return { now: () => machine.now() - errorMs(), stop, isApart: () => Math.abs(errorMs()) > APART_MS }
}

/** Runs on while the clock of the machine is set. Its zero means nothing. In whole ms, like every time that is stored. */
const steadyClock: Clock = { now: () => Math.round(performance.now()) }

interface Difference {
  /** How far the machine is ahead of Redis (ms); negative when it is behind. */
  readonly aheadMs: number
  readonly tookMs: number
}

async function measure(redis: Redis, machine: Clock): Promise<Difference> {
  const beforeMs = machine.now()
  const serverMs = await serverTimeMs(redis)
  const afterMs = machine.now()
  return { aheadMs: Math.round((beforeMs + afterMs) / 2 - serverMs), tookMs: Math.abs(afterMs - beforeMs) }
}

/** A measurement is wrong by half of its round trip at most. */
function isTolerated({ aheadMs, tookMs }: Difference): boolean {
  return Math.abs(aheadMs) <= TOLERATED_MS + tookMs / 2
}

function warningOf(errorMs: number): string | undefined {
  if (errorMs === 0) return undefined
  const seconds = (Math.abs(errorMs) / 1_000).toFixed(1)
  return `The clock of this machine is ${seconds} s ${errorMs > 0 ? 'ahead of' : 'behind'} that of Redis. Set the wrong one right (NTP).`
}

/** The time of the server, as whole ms since the epoch. */
export async function serverTimeMs(redis: Redis): Promise<number> {
  const [seconds, microseconds] = await redis.time()
  return Number(seconds) * 1_000 + Math.floor(Number(microseconds) / 1_000)
}

/** How far the test environment is ahead of the system's clock (ms). The live environment never reads it. */
export async function readClockOffset(redis: Redis, environment: Environment): Promise<number> {
  return environment === 'live' ? 0 : Number(await redis.get(keys.clockOffset()))
}

/** Moves the test environment forward. Answers the whole offset (ms); every process that follows it has it after `CLOCK_POLL_MS`. */
export async function advanceClock(redis: Redis, byMs: number): Promise<number> {
  return await redis.incrby(keys.clockOffset(), byMs)
}

/** Back to the system's clock. What happened meanwhile keeps its times. */
export async function resetClock(redis: Redis): Promise<void> {
  await redis.del(keys.clockOffset())
}
