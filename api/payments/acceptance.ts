/** Makes a request durable: measures the calls, and retries them while Redis is unavailable. */
import { isRedisUnavailable, MoneyWaits } from '../../redis/connection/redis-errors.js'
import type { Acceptance } from '../../redis/payments/payments.js'
import { delay } from '../../runtime/delay.js'
import { timed } from '../../runtime/metrics.js'
import { recordStep } from '../../runtime/tracing.js'

/** How long a call is retried while Redis is unavailable: a restart of a small Redis takes less. */
const RETRY_MS = 3_000
const RETRY_GAP_MS = 100

interface Answered<T> {
  readonly answer: T
  /** Whether an earlier call may have taken effect, although its answer was lost. */
  readonly wasRepeated: boolean
}

/**
 * Accepts a request, and records each call with its outcome. A call whose answer was lost is repeated: the script recognises
 * its own record, so that nothing is accepted twice.
 */
export function accept<T>(
  { traceparent }: Acceptance,
  call: () => Promise<T>,
  outcomeOf: (answer: T) => string
): Promise<Answered<T>> {
  return untilAnswered(() =>
    timed(call, outcomeOf, (outcome, ms) => {
      recordStep('accept', traceparent, ms, { attributes: { outcome } })
    })
  )
}

/** Repeats a call that Redis did not answer. */
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
