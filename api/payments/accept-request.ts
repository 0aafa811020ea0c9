/** Makes a request durable: measures the calls, and repeats them while Redis is unavailable. */
import { type Answered, untilAnswered } from '../../redis/connection/until-answered.js'
import type { Acceptance } from '../../redis/payments/payments.js'
import { timed } from '../../runtime/metrics.js'
import { recordStep } from '../../runtime/tracing.js'

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
