/** The one retry of a command: while another holder has its lock, while what it needs is unavailable, until the worker stops. */
import { outagePauseMs } from '../../redis/connection/until-answered.js'
import { delay } from '../../runtime/delay.js'
import { type Logger, warnRateLimited } from '../../runtime/log.js'

export interface UntilFreeOptions {
  /** The pause while another holder has the lock, after so many tries in a row. */
  readonly lockedPauseMs: (tries: number) => number
  /** What the command waits for after an error, for the log. Null: the error is no outage. */
  readonly waitsFor: (error: unknown) => string | null
  readonly ids: Readonly<Record<string, string>>
  readonly log: Logger
  readonly stopping: AbortSignal
}

/**
 * Repeats `attempt` after a pause when the lock is `taken` and when something is unavailable, and at once when it answers `again`. Its
 * other answers and errors are passed on. `stopped`: the worker stopped first.
 */
export async function untilFree<T extends string>(
  attempt: () => Promise<T | 'taken' | 'again'>,
  { lockedPauseMs, waitsFor, ids, log, stopping }: UntilFreeOptions
): Promise<Exclude<T, 'taken' | 'again'> | 'stopped'> {
  let [lockedTries, outageTries] = [0, 0]
  while (!stopping.aborted) {
    try {
      const outcome = await attempt()
      if (isEnd(outcome)) return outcome
      outageTries = 0
      if (outcome === 'again') continue
      await delay(lockedPauseMs(lockedTries++), stopping)
    } catch (error) {
      const message = waitsFor(error)
      if (message === null) throw error
      warnRateLimited(log, { ...ids, err: error }, message)
      await delay(outagePauseMs(outageTries++), stopping)
      lockedTries = 0
    }
  }
  return 'stopped'
}

function isEnd<T extends string>(outcome: T | 'taken' | 'again'): outcome is Exclude<T, 'taken' | 'again'> {
  return outcome !== 'taken' && outcome !== 'again'
}
