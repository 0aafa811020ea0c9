/** Keeps one command running: starts it anew with growing pauses when it ends by itself. */
import { delay } from '../../runtime/delay.js'
import { type Ending, type ProcessGroup, startGroup, type UnixUser } from './process-group.js'

/** Short, because a payments worker that is away delays payments; it doubles with each quick death. */
const FIRST_PAUSE_MS = 100
/** Below the 10 s in which a dead worker's entries are taken over. */
const PAUSE_MAX_MS = 5_000
/**
 * A process that lived this long is taken to work: the next death counts as the first. Longer than a start takes, and
 * not much: a server that is killed now and then should not be kept away as if it could not start.
 */
const HEALTHY_AFTER_MS = 2_000

export interface ProcessSpec {
  /** `payments.1`: the Procfile's name and the number of the instance. */
  readonly name: string
  readonly script: string
  readonly args?: readonly string[]
  readonly cwd: string
  /** Absent: the user of this process. */
  readonly user?: UnixUser | undefined
  /** Asked before every start, so that what may not be reused (a free port) can change. */
  readonly environment: () => Promise<NodeJS.ProcessEnv>
  readonly onOutput: (text: string) => void
  /** Receives every unexpected end, and how long the next start waits. */
  readonly onEnd: (ending: Ending, pauseMs: number) => void
}

/** The pause before start number `deaths + 1`, for deaths in quick succession. */
export function pauseMs(deaths: number): number {
  return Math.min(FIRST_PAUSE_MS * 2 ** Math.max(0, deaths - 1), PAUSE_MAX_MS)
}

export class SupervisedProcess {
  readonly name: string
  readonly #spec: ProcessSpec
  readonly #stopping = new AbortController()
  #group: ProcessGroup | undefined
  #loop: Promise<void> | undefined
  /** Set while a restart waits for the new instance. */
  #onRestarted: (() => void) | undefined

  constructor(spec: ProcessSpec) {
    this.name = spec.name
    this.#spec = spec
  }

  /** The leader's pid while it runs. */
  get pid(): number | undefined {
    return this.#group?.pid
  }

  /** Starts the command and goes on doing so. Rejects when the first start is impossible. Once only. */
  async start(): Promise<void> {
    const first = await this.#startOnce()
    this.#loop = this.#keepRunning(first)
  }

  /** Sends a signal to the running instance; what dies of it is started anew. */
  signal(signal: NodeJS.Signals): boolean {
    return this.#group?.signal(signal) ?? false
  }

  /** TERM, KILL after `graceMs`, then a new instance at once. Resolves when that runs, which is before it is ready. */
  async restart(graceMs: number): Promise<void> {
    const group = this.#group
    // Between two starts it is being replaced anyway.
    if (group === undefined || this.#stopping.signal.aborted) return
    const restarted = new Promise<void>(resolve => {
      this.#onRestarted = resolve
    })
    await group.stop(graceMs)
    await restarted
  }

  /** TERM, KILL after `graceMs`, no restart. Safe to call twice and before `start`. */
  async stop(graceMs: number): Promise<void> {
    this.#stopping.abort()
    await this.#group?.stop(graceMs)
    await this.#loop
    this.#onRestarted?.()
  }

  async #startOnce(): Promise<ProcessGroup> {
    const { script, args, cwd, user, environment, onOutput } = this.#spec
    this.#group = await startGroup({ script, args: args ?? [], env: await environment(), cwd, user, onOutput })
    return this.#group
  }

  async #keepRunning(first: ProcessGroup): Promise<void> {
    let deaths = 0
    let group: ProcessGroup | undefined = first
    while (true) {
      const startedMs = Date.now()
      const ending = group === undefined ? { code: 1, signal: null } : await group.ended
      this.#group = undefined
      if (this.#stopping.signal.aborted) return
      if (this.#onRestarted !== undefined) {
        group = await this.#startOnce().catch(() => undefined)
        this.#onRestarted()
        this.#onRestarted = undefined
        if (this.#stopping.signal.aborted) await group?.stop(0)
        continue
      }
      deaths = Date.now() - startedMs >= HEALTHY_AFTER_MS ? 1 : deaths + 1
      this.#spec.onEnd(ending, pauseMs(deaths))
      await delay(pauseMs(deaths), this.#stopping.signal)
      if (this.#stopping.signal.aborted) return
      // The machine may be out of processes or memory for a while: that is a death like any other.
      group = await this.#startOnce().catch(() => undefined)
      if (this.#stopping.signal.aborted) await group?.stop(0)
    }
  }
}
