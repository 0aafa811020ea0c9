/**
 * A world with one clock and one order of events: virtual time, and processes that can die or sleep between any two
 * of their steps.
 *
 * Real code runs in it unchanged. While a world turns, the globals that tell time, set timers and throw dice are its
 * own. Everything a process waits for is an event of the queue; one event is delivered at a time, and everything that
 * follows from it without waiting runs before the next. A killed process gets no event any more, which is all that
 * death is to code that waits.
 */
import { createRandom, type Random } from './random.js'

/** A process of the simulated installation. `null` as an owner means the outside: servers and wires. */
export class Process {
  readonly name: string
  /** The outside of the service: nothing befalls it. */
  readonly isSafe: boolean
  isDead = false
  /** SIGSTOP until this time (ms of the world). */
  sleepsUntilMs = 0
  /** What this machine's clock is ahead of the world's (ms). */
  clockAheadMs = 0
  readonly #atDeath: (() => void)[] = []

  constructor(name: string, isSafe = false) {
    this.name = name
    this.isSafe = isSafe
  }

  onDeath(notification: () => void): void {
    this.#atDeath.push(notification)
  }

  kill(): void {
    if (this.isDead) return
    this.isDead = true
    for (const notification of this.#atDeath) notification()
  }
}

export interface ScheduledEvent {
  atMs: number
  order: number
  readonly owner: Process | null
  readonly run: () => void
  isCancelled: boolean
}

/** How often a world looks whether it is quiet (events), and how much of the quiet it lives through (ms). */
const QUIET_CHECK_EVENTS = 32
const QUIET_MARGIN_MS = 1_500

/** The moment at which each run begins: any will do, as long as it is always the same. */
const EPOCH_MS = Date.UTC(2026, 5, 1, 12)

export class World {
  readonly random: Random
  nowMs = EPOCH_MS
  /** Whose code is running. */
  current: Process | null = null
  /** Quiet time that was skipped: the monotonic clock of a machine that sleeps stands still. */
  skippedMs = 0
  events = 0
  readonly counts = new Map<string, number>()
  /** Tells when the next thing will happen that matters, while nothing does; null while something does. */
  quietUntilMs: (() => number | null) | null = null
  /** Takes all locks away; set by the owner of the lock server. */
  onLocksVanish: () => void = () => undefined
  #heap: ScheduledEvent[] = []
  readonly #trace: ((line: string) => void) | null
  #orders = 0

  constructor(seed: number, trace: ((line: string) => void) | null) {
    this.random = createRandom(seed)
    this.#trace = trace
  }

  get elapsedMs(): number {
    return this.nowMs - EPOCH_MS
  }

  /** Counts something that was made to happen, and passes it to the trace. */
  note(kind: string, detail = ''): void {
    this.counts.set(kind, (this.counts.get(kind) ?? 0) + 1)
    this.trace(kind, detail)
  }

  trace(kind: string, detail: string | (() => string)): void {
    if (this.#trace === null) return
    const text = typeof detail === 'string' ? detail : detail()
    this.#trace(
      `${(this.elapsedMs / 1_000).toFixed(3).padStart(9)}s ${(this.current?.name ?? '-').padEnd(12)} ${kind} ${text}`
    )
  }

  /** `run` happens after `delayMs`, unless its owner is dead by then. */
  after(delayMs: number, owner: Process | null, run: () => void): ScheduledEvent {
    const event = {
      atMs: this.nowMs + Math.max(0, delayMs),
      order: this.#orders++,
      owner,
      run,
      isCancelled: false
    }
    push(this.#heap, event)
    return event
  }

  /** A pause for code that is not inside a process. */
  pause(delayMs: number): Promise<void> {
    return new Promise(resolve => this.after(delayMs, this.current, resolve))
  }

  /** Runs `start` as the first step of a process. */
  spawn(process: Process, start: () => void): void {
    this.after(0, process, start)
  }

  /**
   * Time in which all that happens is polling is skipped: for the service it is as if all its machines had slept.
   * What the outside has planned stays where it is, and so does the end of a suspension.
   */
  #skipQuiet(): void {
    const untilMs = this.events % QUIET_CHECK_EVENTS === 0 ? (this.quietUntilMs?.() ?? null) : null
    if (untilMs === null) return
    const isPlanned = ({ owner }: ScheduledEvent): boolean =>
      owner !== null && (owner.isSafe || owner.sleepsUntilMs > this.nowMs)
    const planned = this.#heap.filter(event => isPlanned(event) && !event.isCancelled)
    const plannedMs = planned.map(({ atMs, owner }) => Math.max(atMs, owner?.sleepsUntilMs ?? 0))
    const nextMs = Math.min(untilMs, ...plannedMs) - QUIET_MARGIN_MS
    const skippedMs = nextMs - this.nowMs
    if (skippedMs < QUIET_MARGIN_MS || !Number.isFinite(skippedMs)) return
    const moved = this.#heap.filter(event => !isPlanned(event) && !event.isCancelled)
    for (const event of moved) event.atMs += skippedMs
    this.#heap = []
    for (const event of [...planned, ...moved]) push(this.#heap, event)
    this.nowMs = nextMs
    this.skippedMs += skippedMs
  }

  /** Turns until `isDone` says so, or `limitMs` of virtual time have passed; false then. */
  async turn(isDone: () => boolean, limitMs: number): Promise<boolean> {
    const endMs = this.nowMs + limitMs
    while (!isDone()) {
      this.#skipQuiet()
      if ((this.#heap[0]?.atMs ?? Number.POSITIVE_INFINITY) > endMs) return false
      let event = pop(this.#heap)
      while (event?.isCancelled) event = pop(this.#heap)
      if (event === undefined) return false
      this.nowMs = Math.max(this.nowMs, event.atMs)
      const { owner } = event
      if (owner?.isDead) continue
      if (owner !== null && owner.sleepsUntilMs > this.nowMs) {
        // After a suspension everything is there at once, in any order.
        event.atMs = owner.sleepsUntilMs + this.random.next()
        push(this.#heap, event)
        continue
      }
      this.events++
      this.current = owner
      event.run()
      if (owner !== null) await settled()
    }
    return true
  }
}

/** Node empties the microtask queue before it goes on with ticks: then nothing runs any more without an event. */
function settled(): Promise<void> {
  return new Promise(resolve => process.nextTick(resolve))
}

function isBefore(one: ScheduledEvent, other: ScheduledEvent): boolean {
  return one.atMs < other.atMs || (one.atMs === other.atMs && one.order < other.order)
}

function push(heap: ScheduledEvent[], event: ScheduledEvent): void {
  let place = heap.length
  heap.push(event)
  while (place > 0) {
    const above = (place - 1) >> 1
    const parent = heap[above]
    if (parent === undefined || !isBefore(event, parent)) break
    heap[place] = parent
    place = above
  }
  heap[place] = event
}

function pop(heap: ScheduledEvent[]): ScheduledEvent | undefined {
  const first = heap[0]
  const last = heap.pop()
  if (first === undefined || last === undefined || heap.length === 0) return first
  let place = 0
  for (;;) {
    let below = 2 * place + 1
    const left = heap[below]
    const right = heap[below + 1]
    if (left === undefined) break
    let smaller = left
    if (right !== undefined && isBefore(right, left)) {
      smaller = right
      below++
    }
    if (!isBefore(smaller, last)) break
    heap[place] = smaller
    place = below
  }
  heap[place] = last
  return first
}
