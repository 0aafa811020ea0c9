/** Repeats what Redis did not answer: a restart of a small Redis takes less than the wait. */
import { delay } from '../../runtime/delay.js'
import { isRedisUnavailable, MoneyWaits } from './redis-errors.js'

const RETRY_MS = 3_000
const RETRY_GAP_MS = 100

export interface Answered<T> {
  readonly answer: T
  /** Whether an earlier call may have taken effect, although its answer was lost. */
  readonly wasRepeated: boolean
}

/** Repeats a call while Redis is unavailable, for up to 3 s. */
export async function untilAnswered<T>(call: () => Promise<T>): Promise<Answered<T>> {
  const deadlineMs = performance.now() + RETRY_MS
  for (let wasRepeated = false; ; wasRepeated = true) {
    try {
      return { answer: await call(), wasRepeated }
    } catch (error) {
      if (!isRedisUnavailable(error) || error instanceof MoneyWaits || performance.now() >= deadlineMs) throw error
      await delay(RETRY_GAP_MS)
    }
  }
}
