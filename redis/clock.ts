/**
 * The time of the processes that decide about payments: the clock of their machine, set right by the clock of Redis
 * where the two differ. `webhooks` and `tokens`, which speak with the world outside, keep the clock of their machine.
 *
 * Much money depends on "nothing was heard for ten minutes", counted by one process and judged by another. A machine
 * whose clock is minutes ahead would cut that short: a payment would fail, or a refund be sent again, while the first
 * try is still on its way. The test environment adds an offset, so that a merchant can live through seven days in a
 * second; the live environment never reads it.
 */
import type { Environment } from '../machines/model.js'
import { type Clock, systemClock } from '../runtime/clock.js'
import type { Logger } from '../runtime/log.js'
import type { Redis } from './connections.js'
import { keys } from './keys.js'

/** How often a process looks for a new offset (ms). */
export const CLOCK_POLL_MS = 200
/** How often a process compares its machine's clock with that of Redis (ms). */
const COMPARE_MS = 5_000
/** A difference that does no harm, and that NTP is left to mend (ms). */
const TOLERATED_MS = 1_000
/** A comparison that took longer, because somebody slept meanwhile, is only better than none (ms). */
const ROUND_TRIP_MAX_MS = 200

/** A clock that `stop` leaves where it is. */
export interface FollowedClock extends Clock {
  stop(): void
}

export interface ClockOptions {
  readonly log?: Logger
  /** The clock of the machine, for tests. */
  readonly machine?: Clock
}

/** The clock of a process. While Redis is away what was last known of it counts. */
export async function followClock(
  redis: Redis,
  environment: Environment,
  { log, machine = systemClock }: ClockOptions = {}
): Promise<FollowedClock> {
  let [offsetMs, errorMs, isCompared] = [0, 0, false]
  const readOffset = async (): Promise<void> => {
    offsetMs = await readClockOffset(redis)
  }
  const compare = async (): Promise<void> => {
    const { foundMs, tookMs } = await errorOf(redis, machine)
    if (tookMs > ROUND_TRIP_MAX_MS && isCompared) return
    isCompared = true
    if (foundMs !== 0 && errorMs === 0)
      log?.warn({ ahead_ms: foundMs }, 'the clocks of this machine and of Redis differ: set the wrong one right')
    errorMs = foundMs
  }
  const rounds = [{ round: compare, everyMs: COMPARE_MS }]
  if (environment === 'test') rounds.push({ round: readOffset, everyMs: CLOCK_POLL_MS })
  await Promise.all(rounds.map(({ round }) => round()))
  const timers = rounds.map(({ round, everyMs }) => setInterval(() => void round().catch(() => undefined), everyMs))
  return { now: () => machine.now() - errorMs + offsetMs, stop: () => timers.forEach(clearInterval) }
}

/** The time of the server, as whole ms since the epoch. */
export async function serverTimeMs(redis: Redis): Promise<number> {
  const [seconds, microseconds] = await redis.time()
  return Number(seconds) * 1_000 + Math.floor(Number(microseconds) / 1_000)
}

/** How far a machine is ahead of Redis (ms); 0 when that is within what is tolerated or cannot be told apart from it. */
async function errorOf(redis: Redis, machine: Clock): Promise<{ foundMs: number; tookMs: number }> {
  const beforeMs = machine.now()
  const serverMs = await serverTimeMs(redis)
  const afterMs = machine.now()
  const aheadMs = Math.round((beforeMs + afterMs) / 2 - serverMs)
  const tookMs = Math.abs(afterMs - beforeMs)
  return { foundMs: Math.abs(aheadMs) > TOLERATED_MS + tookMs / 2 ? aheadMs : 0, tookMs }
}

/** How far the test environment is ahead of the system's clock (ms). */
export async function readClockOffset(redis: Redis): Promise<number> {
  return Number(await redis.get(keys.clockOffset()))
}

/** Moves the test environment forward. Answers the whole offset (ms); every process that follows it has it after `CLOCK_POLL_MS`. */
export async function advanceClock(redis: Redis, byMs: number): Promise<number> {
  return await redis.incrby(keys.clockOffset(), byMs)
}

/** Back to the system's clock. What happened meanwhile keeps its times. */
export async function resetClock(redis: Redis): Promise<void> {
  await redis.del(keys.clockOffset())
}
