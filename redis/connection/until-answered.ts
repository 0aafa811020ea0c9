/** Repeats what Redis did not answer: a restart of a small Redis takes less than the wait. */
import { delay } from '../../runtime/delay.js'
import { isRedisUnavailable, MoneyWaits } from './redis-errors.js'

const RETRY_MS = 3_000
const PAUSE_FIRST_MS = 100
const PAUSE_MAX_MS = 400

export interface Answered<T> {
  readonly answer: T
  /** Whether an earlier call may have taken effect, although its answer was lost. */
  readonly wasRepeated: boolean
}

/** The pause after so many tries in an outage (ms): a thousand requests that wait for one server must not be all the work. */
export function outagePauseMs(tries: number): number {
  return Math.min(PAUSE_FIRST_MS * 2 ** tries, PAUSE_MAX_MS)
}

/** Repeats a call while Redis is unavailable, for up to 3 s. */
export async function untilAnswered<T>(call: () => Promise<T>): Promise<Answered<T>> {
  const deadlineMs = performance.now() + RETRY_MS
  for (let tries = 0; ; tries++) {
    try {
      return { answer: await call(), wasRepeated: tries > 0 }
    } catch (error) {
      if (!isRedisUnavailable(error) || error instanceof MoneyWaits || performance.now() >= deadlineMs) throw error
      await delay(outagePauseMs(tries))
    }
  }
}
