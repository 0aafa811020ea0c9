/** Repeats the rounds of the mover until it is stopped. While they fail, it logs once and tries less often. */
import { reasonOf } from '../../redis/connection/redis-errors.js'
import { delay } from '../../runtime/delay.js'
import { warnRateLimited } from '../../runtime/log.js'
import { type MoverDeps, moveRound } from './mover.js'

const PAUSE_MIN_MS = 1_000
const PAUSE_MAX_MS = 30_000
/** A search that finds nothing is followed by a pause of so many times its length: many merchants must not load Redis. */
const IDLE_PART = 20
/** A process that was suspended must not stop all moving for days. */
const IDLE_PAUSE_MAX_MS = 300_000

export interface Moving {
  /** Sentence that says why payments do not move at the moment, or undefined. */
  problem(): string | undefined
  /** Resolves when the last round has ended, after `stopping` aborted. */
  ended(): Promise<void>
}

/** `prepare` runs until it has succeeded once. */
export function startMoving(deps: MoverDeps, prepare: () => Promise<unknown>, stopping: AbortSignal): Moving {
  const { log } = deps
  let problem: string | undefined
  let isPrepared = false
  const round = async (): Promise<number> => {
    if (!isPrepared) await prepare()
    isPrepared = true
    const idleMs = await moveRound(deps, stopping)
    if (problem !== undefined) log.info('payments move to the archive again')
    problem = undefined
    return pauseAfterMs(idleMs)
  }
  const pauseAfterFault = (error: unknown, pauseMs: number): number => {
    const isFirst = problem === undefined
    if (isFirst) warnRateLimited(log, { err: error }, 'payments do not move to the archive, this is tried again')
    problem = `payments do not move to the archive: ${reasonOf(error)}`
    return isFirst ? pauseMs : Math.min(2 * pauseMs, PAUSE_MAX_MS)
  }
  const run = async (): Promise<void> => {
    for (let pauseMs = PAUSE_MIN_MS; !stopping.aborted; await delay(pauseMs, stopping)) {
      pauseMs = await round().catch(error => pauseAfterFault(error, pauseMs))
    }
  }
  const running = run()
  return { problem: () => problem, ended: () => running }
}

/** The pause after a round that looked for `idleMs` where nothing was due. */
export function pauseAfterMs(idleMs: number): number {
  return Math.min(Math.max(PAUSE_MIN_MS, IDLE_PART * idleMs), IDLE_PAUSE_MAX_MS)
}
