/** Traces requests of clients that are known: what strangers send is neither recorded nor written into the log. */
import { holdsCardNumber } from '../../machines/card-data-in-text.js'
import { beginStep, traceparentOf } from '../../runtime/tracing.js'
import type { RequestContext } from './context.js'

/** Begins the step of a request, at the time of the request. Called once the client is authenticated. */
export function traceRequest(ctx: RequestContext): void {
  const given = traceparentOf(ctx.get('traceparent'))
  const parent = given !== null && isRandom(given) ? given : null
  const step = beginStep('request', parent, { kind: 'SERVER', startMs: ctx.state.startedAtMs })
  ctx.state.step = step
  ctx.state.traceparent = step.traceparent
}

/** The ids of a trace are kept. An id of digits alone may be a card number; of random trace ids one in three million is. */
function isRandom(traceparent: string): boolean {
  return /^..-\d*[a-f]/.test(traceparent) && !holdsCardNumber(traceparent)
}
