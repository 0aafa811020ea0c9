/** All processes of one `npm start`, and the order in which they stop. */
import { STOP_DEADLINE_MS } from '../../runtime/shutdown.js'
import type { SupervisedProcess } from './supervised-process.js'

/** Longer than the deadline of the process itself. */
const WORK_GRACE_MS = STOP_DEADLINE_MS + 300

/**
 * The order of stopping. First everything that works for merchants, at once; then the simulator, which answers calls in
 * flight; then the databases, which all processes need until then. The sum is below the promised 15 s; processes that
 * drain (DRAIN_DELAY_MS) get that time on top.
 */
const STAGES = [
  { name: 'work', graceMs: WORK_GRACE_MS },
  { name: 'network', graceMs: 1_000 },
  { name: 'redis', graceMs: 1_200 }
] as const

/** For a process that started during the stop: it has no work yet. */
const LATECOMER_GRACE_MS = 500

export type Stage = (typeof STAGES)[number]['name']

interface Member {
  readonly stage: Stage
  readonly process: SupervisedProcess
  /** How long it takes requests after SIGTERM (ms). */
  readonly drainMs: number
}

export class Supervisor {
  readonly #members: Member[] = []
  #stop: Promise<void> | undefined

  /** Every process, also those that are between two starts. */
  get processes(): readonly SupervisedProcess[] {
    return this.#members.map(({ process }) => process)
  }

  get isStopping(): boolean {
    return this.#stop !== undefined
  }

  /** From now on `stop` ends this process. Rejects, and stops the process, when the stop has begun. */
  async add(stage: Stage, process: SupervisedProcess, drainMs = 0): Promise<void> {
    this.#members.push({ stage, process, drainMs })
    if (!this.isStopping) return
    await process.stop(LATECOMER_GRACE_MS)
    throw new Error('The start was interrupted.')
  }

  /** Stops everything within 15 s and the drain, and kills what is left. Safe to call twice: the second call waits too. */
  stop(): Promise<void> {
    this.#stop ??= this.#stopStages()
    return this.#stop
  }

  /** Kills everything without waiting: for a second Ctrl-C, and for the exit of this process. */
  killAll(): void {
    for (const process of this.processes) process.signal('SIGKILL')
  }

  async #stopStages(): Promise<void> {
    for (const { name, graceMs } of STAGES) {
      await Promise.all(this.#membersOf(name).map(({ process, drainMs }) => process.stop(graceMs + drainMs)))
    }
  }

  #membersOf(stage: Stage): Member[] {
    return this.#members.filter(member => member.stage === stage)
  }
}
