/** Keeps one command running: restarts it with back-off when it ends unexpectedly. */
import { delay } from '../../runtime/delay.js'
import { type Ending, type ProcessGroup, startGroup, type UnixUser } from './process-group.js'

/** Short, because a payments worker that is down delays payments. Doubles with each quick death. */
const FIRST_PAUSE_MS = 100
/** Below the 10 s after which others take over the entries of a dead worker. */
const PAUSE_MAX_MS = 5_000
/**
 * After this time a process counts as healthy, and its next death as the first one. Slightly longer than a start takes:
 * a server that is killed now and then must not be backed off as if it could not start.
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
  /** Called before every start, so that each one gets another ops port. */
  readonly environment: () => Promise<NodeJS.ProcessEnv>
  readonly onOutput: (text: string) => void
  /** Gets every unexpected end, and the pause before the next start. */
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

  constructor(spec: ProcessSpec) {
    this.name = spec.name
    this.#spec = spec
  }

  /** The leader's pid while it runs. */
  get pid(): number | undefined {
    return this.#group?.pid
  }

  /** Starts the command and keeps it running. Rejects when the first start is impossible. Call once. */
  async start(): Promise<void> {
    const first = await this.#startOnce()
    this.#loop = this.#keepRunning(first)
  }

  /** Sends a signal to the running instance, which is restarted when it dies. */
  signal(signal: NodeJS.Signals): boolean {
    return this.#group?.signal(signal) ?? false
  }

  /** TERM, KILL after `graceMs`, no restart. Safe to call twice and before `start`. */
  async stop(graceMs: number): Promise<void> {
    this.#stopping.abort()
    await this.#group?.stop(graceMs)
    await this.#loop
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
      deaths = Date.now() - startedMs >= HEALTHY_AFTER_MS ? 1 : deaths + 1
      this.#spec.onEnd(ending, pauseMs(deaths))
      await delay(pauseMs(deaths), this.#stopping.signal)
      if (this.#stopping.signal.aborted) return
      // A start fails while the machine is out of processes or memory: that counts as a death.
      group = await this.#startOnce().catch(() => undefined)
      if (this.#stopping.signal.aborted) await group?.stop(0)
    }
  }
}
