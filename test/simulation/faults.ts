/** What can go wrong in a world, and how often. An amount is a chance per step of that kind, unless its name says ms. */
import type { Random } from './random.js'
import type { Process, World } from './world.js'

/**
 * How often a world has the fault at all, and how much of it then: 20 to 120 % of this. Each run has some and not others: a fault
 * that never rests hides what another one would show.
 */
type Drawn = readonly [chance: number, value: number]
/** In the worlds for which it is chosen. */
const CHOSEN: Drawn = [0, 0]

const drawn = {
  /** A process dies right before it sends, or right before it hears an answer. */
  kill: [0.6, 0.01],
  /** A process is stopped there, and goes on later (SIGSTOP, a long collection, a sleeping machine). */
  sleep: [0.5, 0.008],
  /** All locks vanish soon after a process was suspended, as its own would after a long suspension. */
  sleepLosesLocks: [0.5, 0.8],
  /** A connection to Redis breaks: the command may or may not have run. */
  cut: [0.4, 0.01],
  /** Gaps between two deaths of a Redis server (ms); 0: it lives. */
  redisDiesEveryMs: [0.3, 12_000],
  /** Gaps between two slow moments of the durable server (ms); 0: none. */
  redisStallsEveryMs: [0.2, 12_000],
  /** Gaps between two losses of all locks (ms); 0: none. */
  locksVanishEveryMs: [0.3, 4_000],
  /** The request to the network does not reach it, and the caller knows (refused connection). */
  notSent: [0.3, 0.1],
  /** The connection breaks before the network has booked anything. */
  dropBefore: [0.4, 0.15],
  /** The network books, and its answer is lost. */
  dropAfter: [0.5, 0.15],
  /** The caller hears nothing, and the network books much later. */
  late: [0.4, 0.15],
  /** The network's gateway hands the same request on twice. */
  twice: [0.5, 0.4],
  /** HTTP 500, before or after booking. */
  error: [0.3, 0.1],
  /** The network refuses an operation this time. */
  refuse: [0.3, 0.5],
  /** The network's query does not show yet what was booked in the last seconds. */
  staleQuery: [0.3, 0.3],
  /** A merchant's receiver answers 500 or 503 to an event, before or after it has noted it. */
  receiverFails: [0.4, 0.3],
  /** A receiver never answers, whether it has noted the event or not. */
  receiverSilent: [0.3, 0.2],
  /** The request to a receiver takes seconds, and may arrive after the caller has given up. */
  receiverSlow: [0.3, 0.2],
  /** Gaps between two outages of all receivers (ms); 0: none. */
  receiversLeaveEveryMs: [0.2, 12_000],
  /** For a whole life of a process its wall clock is wrong by up to this much, ahead or behind (ms). */
  clockErrorMaxMs: [0.3, 1_000],
  /** Gaps between two jumps of the clock of a Redis server, back or forth (ms); 0: it goes right. */
  redisClockJumpsEveryMs: [0.3, 8_000],
  /** How late the network reports what happened to a sale (ms): beyond every horizon and window. */
  notificationLateMaxMs: [0.3, 200_000],
  /** The longest stop of a process (ms). */
  sleepMaxMs: CHOSEN,
  /** Durable writes that a failover loses; 0: there is none. */
  failoverLoses: CHOSEN,
  /** A sale is captured, voided or refunded in the acquirer's portal, instead of by an operation of the merchant. */
  byHand: CHOSEN,
  /** The network does not know yet what becomes of a sale that it has booked: status 0, for a while. */
  unfinished: CHOSEN
} as const satisfies Readonly<Record<string, Drawn>>

/** What can go wrong besides in a world with an archive. */
const drawnWithArchive = {
  /** The archive does what it is asked, and its answer is lost. */
  archiveLosesAnswer: [0.5, 0.1],
  /** The archive answers late, perhaps beyond the deadline of the process that asks. */
  archiveSlow: [0.5, 0.2],
  /** Gaps between two outages of the archive (ms); 0: none. */
  archiveLeavesEveryMs: [0.4, 20_000],
  /** A process that is about to bring a payment back is stopped for hours: a machine that is moved, or set back. */
  sleepForHours: [0.5, 0.2]
} as const satisfies Readonly<Record<string, Drawn>>

export type Faults = Record<keyof typeof drawn | keyof typeof drawnWithArchive, number>

const names = Object.keys({ ...drawn, ...drawnWithArchive })
export const NO_FAULTS: Faults = Object.fromEntries(names.map(name => [name, 0])) as Faults

export function drawFaults(random: Random): Faults {
  return { ...NO_FAULTS, ...draw(random, drawn), sleepMaxMs: 10_000 }
}

export function drawArchiveFaults(random: Random): Partial<Faults> {
  // Holds expire in the trouble of these long worlds, and one whose void was refused waits for its issuer, which no world has.
  return { ...draw(random, drawnWithArchive), refuse: 0 }
}

function draw(random: Random, faults: Readonly<Record<string, Drawn>>): Partial<Faults> {
  const amounts = Object.entries(faults).map(([name, [chance, value]]) => [
    name,
    random.chance(chance) ? value * (0.2 + random.next()) : 0
  ])
  return Object.fromEntries(amounts)
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
