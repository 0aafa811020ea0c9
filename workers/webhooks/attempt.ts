/** One attempt to deliver one event: sign and send. */
import { encodeEvent, eventTypeOf } from '../../contract/webhook-event.js'
import type { Lease } from '../../machines/lease.js'
import { type Attempt, isReceipt, type Outcome } from '../../machines/webhook-delivery.js'
import type { WebhookEndpoint } from '../../redis/webhooks/webhook-endpoints.js'
import type { QueuedEvent } from '../../redis/webhooks/webhook-event.js'
import type { Clock } from '../../runtime/clock.js'
import type { Logger } from '../../runtime/log.js'
import { recordStep } from '../../runtime/tracing.js'
import type { WebhookSecrets } from '../../vault/webhook-secrets.js'
import { type Sender, type SendOutcome, unanswered } from './sender.js'
import { signatureHeader } from './signature.js'
import type { WebhookMetrics } from './webhooks-metrics.js'

const USER_AGENT = 'card-payments-webhooks/1'

export interface AttemptDeps {
  readonly secrets: Pick<WebhookSecrets, 'secretOf'>
  readonly sender: Sender
  /** Real time, also where the clock of the test environment was moved. */
  readonly clock: Clock
  readonly metrics: WebhookMetrics
  readonly log: Logger
}

/** Never rejects. The loss of the lease interrupts it; its result then has no meaning. */
export async function attemptDelivery(
  event: QueuedEvent,
  endpoint: WebhookEndpoint | null,
  merchantId: string,
  deps: AttemptDeps,
  lease: Lease
): Promise<{ readonly outcome: Outcome; readonly attempt: Attempt }> {
  const { eventId, change, traceparent } = event
  const atMs = deps.clock.now()
  const startedMs = performance.now()
  const { status, retryAfterMs, note } = await send(event, endpoint, merchantId, atMs, deps, lease)
  const durationMs = Math.round(performance.now() - startedMs)
  recordStep('webhook attempt', null, durationMs, {
    kind: 'CLIENT',
    link: traceparent,
    attributes: { event_id: eventId, payment_id: change.paymentId, status: status ?? 0 }
  })
  const isDelivered = isReceipt(status)
  deps.metrics.attempted(isDelivered ? 'delivered' : status === null ? 'unanswered' : 'refused')
  return {
    outcome: { kind: 'attempted', status, retryAfterMs },
    attempt: { atMs, durationMs, status, note: isDelivered ? '' : note }
  }
}

async function send(
  event: QueuedEvent,
  endpoint: WebhookEndpoint | null,
  merchantId: string,
  atMs: number,
  { secrets, sender, metrics, log }: AttemptDeps,
  lease: Lease
): Promise<SendOutcome> {
  if (endpoint === null) return unanswered('the merchant has no webhook endpoint')
  try {
    const body = encodeEvent(event)
    const seeds = [endpoint.seed, ...endpoint.previous.filter(({ untilMs }) => untilMs > atMs)]
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
    return await sender.post(endpoint.url, headers, body, lease)
  } catch (error) {
    metrics.failed('unsent')
    log.error({ err: error, merchant_id: merchantId, event_id: event.eventId }, 'a webhook could not be sent')
    return unanswered('the service could not send it')
  }
}
