/** One attempt to deliver one event: sign, send, judge. deliver.ts stores the outcome. */
import { encodeEvent, eventTypeOf } from '../../contract/webhook-event.js'
import { decideDelivery } from '../../machines/webhook-delivery.js'
import type { Attempt } from '../../redis/webhooks/webhook-event.js'
import type { FirstEvent, Settlement } from '../../redis/webhooks/webhook-queue.js'
import { recordStep } from '../../runtime/tracing.js'
import type { DeliveryDeps } from './delivery-deps.js'
import { THROTTLING } from './receivers.js'
import { type SendOutcome, unanswered } from './sender.js'
import { signatureHeader } from './signature.js'

const USER_AGENT = 'card-payments-webhooks/1'

/** Never rejects. `signal` interrupts it; its result then has no meaning. */
export async function attemptDelivery(
  first: FirstEvent,
  merchantId: string,
  deps: DeliveryDeps,
  signal: AbortSignal
): Promise<Settlement & { readonly attempt: Attempt }> {
  const { eventId, delivery } = first.event
  const sending = decideDelivery(delivery, { type: 'SEND' }, deps.retries)
  const atMs = deps.clock.now()
  const startedMs = performance.now()
  const outcome = await send(first, merchantId, atMs, deps, signal)
  const durationMs = Math.round(performance.now() - startedMs)
  recordStep('webhook attempt', null, durationMs, {
    kind: 'CLIENT',
    link: first.event.traceparent,
    attributes: { event_id: eventId, payment_id: first.event.change.paymentId, status: outcome.status ?? 0 }
  })
  const { status, retryAfterMs } = outcome
  const at = { nowMs: deps.clock.now(), failingSinceMs: first.failingSinceMs, random: deps.random() }
  const answer =
    status === null
      ? ({ type: 'NO_ANSWER', ...at } as const)
      : ({ type: 'ANSWERED', status, retryAfterMs, ...at } as const)
  const { state, nextAtMs } = decideDelivery(sending, answer, deps.retries)
  const isDelivered = state === 'delivered'
  deps.metrics.attempted(isDelivered ? 'delivered' : status === null ? 'unanswered' : 'refused')
  return {
    state,
    nextAtMs,
    attempt: { eventId, atMs, durationMs, status, note: outcome.note },
    health: isDelivered ? 'well' : 'failed',
    waitMs: THROTTLING.includes(status) ? (retryAfterMs ?? 0) : 0
  }
}

async function send(
  { event, endpoint }: FirstEvent,
  merchantId: string,
  atMs: number,
  { secrets, sender, metrics, log }: DeliveryDeps,
  signal: AbortSignal
): Promise<SendOutcome> {
  if (endpoint === null) return unanswered('the merchant has no webhook endpoint')
  try {
    const seeds = [endpoint.seed, ...endpoint.previous.filter(({ untilMs }) => untilMs > atMs)]
    // What is signed and sent, to the byte.
    const body = encodeEvent(event)
    const headers = {
      'content-type': 'application/json',
      'user-agent': USER_AGENT,
      'x-service-event': eventTypeOf(event.change),
      'x-service-signature': signatureHeader(
        seeds.map(seed => secrets.secretOf(seed, merchantId)),
        atMs,
        body
      )
    }
    return await sender.post(endpoint.url, headers, body, signal)
  } catch (error) {
    metrics.failed('unsent')
    log.error({ err: error, merchant_id: merchantId, event_id: event.eventId }, 'a webhook could not be sent')
    return unanswered('the service could not send it')
  }
}
