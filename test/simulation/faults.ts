/** What can go wrong in a world, and how often. Chances are per step of that kind; each run draws its own. */
import type { Random } from './random.js'
import type { Process, World } from './world.js'

export interface Faults {
  /** A process dies right before it sends, or right before it hears an answer. */
  kill: number
  /** A process is stopped there, and goes on later (SIGSTOP, a long collection, a sleeping machine). */
  sleep: number
  sleepMaxMs: number
  /** All locks vanish soon after a process was suspended, as its own would after a long suspension. */
  sleepLosesLocks: number
  /** A connection to Redis breaks: the command may or may not have run. */
  cut: number
  /** Gaps between two deaths of a Redis server (ms); 0: it lives. */
  redisDiesEveryMs: number
  /** Gaps between two slow moments of the durable server (ms); 0: none. */
  redisStallsEveryMs: number
  /** Gaps between two losses of all locks (ms); 0: none. */
  locksVanishEveryMs: number
  /** The request to the network does not reach it, and the caller knows (refused connection). */
  notSent: number
  /** The connection breaks before the network has booked anything. */
  dropBefore: number
  /** The network books, and its answer is lost. */
  dropAfter: number
  /** The caller hears nothing, and the network books much later. */
  late: number
  /** The network's gateway hands the same request on twice. */
  twice: number
  /** HTTP 500, before or after booking. */
  error: number
  /** The network refuses an operation this time. */
  refuse: number
  /** The network's query does not show yet what was booked in the last seconds. */
  staleQuery: number
  /** A merchant's receiver answers 500 or 503 to an event, before or after it has noted it. */
  receiverFails: number
  /** A receiver never answers, whether it has noted the event or not. */
  receiverSilent: number
  /** The request to a receiver takes seconds, and may arrive after the caller has given up. */
  receiverSlow: number
  /** Gaps between two outages of all receivers (ms); 0: none. */
  receiversLeaveEveryMs: number
  /** For a whole life of a process its wall clock is wrong by up to this much, ahead or behind (ms). */
  clockErrorMaxMs: number
  /** Gaps between two jumps of the clock of a Redis server, back or forth (ms); 0: it goes right. */
  redisClockJumpsEveryMs: number
  /** How late the network reports what happened to a sale (ms): beyond every horizon and window. */
  notificationLateMaxMs: number
  /** Durable writes that a failover loses; 0: there is none. */
  failoverLoses: number
  /** A sale is captured, voided or refunded in the acquirer's portal, instead of by an operation of the merchant. */
  byHand: number
  /** The network does not know yet what becomes of a sale that it has booked: status 0, for a while. */
  unfinished: number
  /** The archive does what it is asked, and its answer is lost. */
  archiveLosesAnswer: number
  /** The archive answers late, perhaps beyond the deadline of the process that asks. */
  archiveSlow: number
  /** Gaps between two outages of the archive (ms); 0: none. */
  archiveLeavesEveryMs: number
  /** A process that is about to bring a payment back is stopped for hours: a machine that is moved, or set back. */
  sleepForHours: number
}

export const NO_FAULTS: Faults = {
  kill: 0,
  sleep: 0,
  sleepMaxMs: 0,
  sleepLosesLocks: 0,
  cut: 0,
  redisDiesEveryMs: 0,
  redisStallsEveryMs: 0,
  locksVanishEveryMs: 0,
  notSent: 0,
  dropBefore: 0,
  dropAfter: 0,
  late: 0,
  twice: 0,
  error: 0,
  refuse: 0,
  staleQuery: 0,
  receiverFails: 0,
  receiverSilent: 0,
  receiverSlow: 0,
  receiversLeaveEveryMs: 0,
  clockErrorMaxMs: 0,
  redisClockJumpsEveryMs: 0,
  notificationLateMaxMs: 0,
  failoverLoses: 0,
  byHand: 0,
  unfinished: 0,
  archiveLosesAnswer: 0,
  archiveSlow: 0,
  archiveLeavesEveryMs: 0,
  sleepForHours: 0
}

/** Each run has some of the classes and not others: a fault that never rests hides what another one would show. */
export function drawFaults(random: Random): Faults {
  const maybe = maybeOf(random)
  return {
    ...NO_FAULTS,
    kill: maybe(0.6, 0.01),
    sleep: maybe(0.5, 0.008),
    sleepMaxMs: 10_000,
    sleepLosesLocks: maybe(0.5, 0.8),
    cut: maybe(0.4, 0.01),
    redisDiesEveryMs: maybe(0.3, 12_000),
    redisStallsEveryMs: maybe(0.2, 12_000),
    locksVanishEveryMs: maybe(0.3, 4_000),
    notSent: maybe(0.3, 0.1),
    dropBefore: maybe(0.4, 0.15),
    dropAfter: maybe(0.5, 0.15),
    late: maybe(0.4, 0.15),
    twice: maybe(0.5, 0.4),
    error: maybe(0.3, 0.1),
    refuse: maybe(0.3, 0.5),
    staleQuery: maybe(0.3, 0.3),
    receiverFails: maybe(0.4, 0.3),
    receiverSilent: maybe(0.3, 0.2),
    receiverSlow: maybe(0.3, 0.2),
    receiversLeaveEveryMs: maybe(0.2, 12_000),
    clockErrorMaxMs: maybe(0.3, 1_000),
    redisClockJumpsEveryMs: maybe(0.3, 8_000),
    notificationLateMaxMs: maybe(0.3, 200_000)
  }
}

/** What can go wrong besides in a world with an archive. */
export function drawArchiveFaults(random: Random): Partial<Faults> {
  const maybe = maybeOf(random)
  return {
    // Holds expire in the trouble of these long worlds, and one whose void was refused waits for its issuer, which no world has.
    refuse: 0,
    archiveLosesAnswer: maybe(0.5, 0.1),
    archiveSlow: maybe(0.5, 0.2),
    archiveLeavesEveryMs: maybe(0.4, 20_000),
    sleepForHours: maybe(0.5, 0.2)
  }
}

function maybeOf(random: Random): (chance: number, value: number) => number {
  return (chance, value) => (random.chance(chance) ? value * (0.2 + random.next()) : 0)
}

const LOCKS_VANISH_AFTER_MS = 100

/**
 * Where a process may be struck: before it sends something, and before it hears the answer. `weight` makes moments
 * of interest more dangerous. True when it is dead.
 */
export function strike(world: World, faults: Faults, process: Process, where: () => string, weight = 1): boolean {
  if (process.isDead) return true
  if (process.isSafe) return false
  if (world.random.chance(faults.kill * weight)) {
    world.note('kill', `${process.name} ${where()}`)
    process.kill()
    return true
  }
  if (world.random.chance(faults.sleep * weight)) {
    const sleepMs = world.random.between(500, faults.sleepMaxMs)
    world.note('sleep', `${process.name} for ${sleepMs} ms ${where()}`)
    process.sleepsUntilMs = world.nowMs + sleepMs
    if (world.random.chance(faults.sleepLosesLocks)) world.after(LOCKS_VANISH_AFTER_MS, null, world.onLocksVanish)
  }
  return false
}
