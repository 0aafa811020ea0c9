/**
 * The archive of a world: rows in memory behind a wire, with the deadline of a process, and with faults. A plain read sees
 * the rows as they were when it came in; a write and a read under a lock see the newest ones.
 */
import { ArchiveUnavailable, type PaymentArchive } from '../../archive/archive.js'
import { MemoryArchive } from '../support/memory-archive.js'
import { type Faults, strike } from './faults.js'
import type { Process, World } from './world.js'

const TIMEOUT_MS = 2_000
const LATENCY_MEAN_MS = 2
/** Queries to the archive are rare, so that each is more dangerous than one to Redis. */
const WEIGHT = 8
/** Long enough for a payment to come back, to change and to move once more (ms). */
const LONG_SLEEP_MS = [2 * 3_600_000, 4 * 3_600_000] as const

/** After these a process has a payment in its hands. */
const HOLDING: ReadonlySet<string> = new Set(['find', 'takeBack'])

export class SimulatedArchive {
  readonly rows = new MemoryArchive()
  /** No answer until then (ms of the world). */
  awayUntilMs = 0
  readonly #world: World
  readonly #faults: Faults
  /** The process that sleeps for hours. One at a time: others must go on with its work. */
  #sleeper: Process | null = null

  constructor(world: World, faults: Faults) {
    this.#world = world
    this.#faults = faults
  }

  connect(process: Process): PaymentArchive {
    const { rows } = this
    return {
      put: payments => this.#call(process, 'put', () => rows.put(payments)),
      find: paymentId => this.#read(process, 'find', () => rows.find(paymentId)),
      takeBack: paymentId => this.#call(process, 'takeBack', () => rows.takeBack(paymentId)),
      list: query => this.#read(process, 'list', () => rows.list(query)),
      findBySale: saleId => this.#read(process, 'findBySale', () => rows.findBySale(saleId)),
      lostOf: paymentIds => this.#read(process, 'lostOf', () => rows.lostOf(paymentIds))
    }
  }

  #read<T>(process: Process, what: string, run: () => Promise<T>): Promise<T> {
    return this.#ask(process, what, run, true)
  }

  #call<T>(process: Process, what: string, run: () => Promise<T>): Promise<T> {
    return this.#ask(process, what, run, false)
  }

  /** `isEarly`: runs when it comes in, however late the answer is. */
  #ask<T>(process: Process, what: string, run: () => Promise<T>, isEarly: boolean): Promise<T> {
    const world = this.#world
    return new Promise((resolve, reject) => {
      if (this.#isStruck(process, `before archive.${what}`)) return
      const fail = (reason: string): void => reject(new ArchiveUnavailable(new Error(reason)))
      const limit = world.after(TIMEOUT_MS, process, () => fail('timeout'))
      const answer = (settle: () => void): void => {
        world.after(this.#latencyMs(), process, () => {
          if (limit.isCancelled || this.#isStruck(process, `after archive.${what}`)) return
          limit.isCancelled = true
          // What the answer leads to is sent when the process goes on.
          world.after(HOLDING.has(what) ? this.#fallAsleep(process) : 0, process, settle)
        })
      }
      world.after(this.#latencyMs(), null, () => {
        if (world.nowMs < this.awayUntilMs) return answer(() => fail('connection refused'))
        const early = isEarly ? run() : null
        world.after(this.#slowMs(), null, () => {
          const value = early ?? run()
          if (world.random.chance(this.#faults.archiveLosesAnswer)) {
            world.note('archive answer lost', what)
            return answer(() => fail('connection lost'))
          }
          world.trace('archive', what)
          answer(() => resolve(value))
        })
      })
    })
  }

  #isStruck(process: Process, where: string): boolean {
    return strike(this.#world, this.#faults, process, () => where, WEIGHT)
  }

  /** With a payment that it is about to bring back. Returns 0: the process goes on with its next event. */
  #fallAsleep(process: Process): number {
    const { nowMs, random } = this.#world
    const isTaken = this.#sleeper !== null && !this.#sleeper.isDead && this.#sleeper.sleepsUntilMs > nowMs
    if (process.isSafe || isTaken || !random.chance(this.#faults.sleepForHours)) return 0
    this.#sleeper = process
    process.sleepsUntilMs = nowMs + random.between(...LONG_SLEEP_MS)
    this.#world.note('sleep for hours', process.name)
    return 0
  }

  #slowMs(): number {
    if (!this.#world.random.chance(this.#faults.archiveSlow)) return 0
    this.#world.note('archive slow')
    return this.#world.random.between(0, 3 * TIMEOUT_MS)
  }

  #latencyMs(): number {
    return this.#world.random.exponential(LATENCY_MEAN_MS)
  }
}
