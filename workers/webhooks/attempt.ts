/** One attempt to deliver one event: sign, send, judge. What became of it is for the lane to write down. */
import { type Delivery, type DeliveryEvent, decideDelivery } from '../../machines/webhook-delivery.js'
import type { WebhookEndpoint } from '../../redis/webhook-endpoints.js'
import { EVENT_TYPE } from '../../redis/webhook-event.js'
import type { Move } from '../../redis/webhook-queue.js'
import type { Attempt, QueuedEvent } from '../../redis/webhook-record.js'
import type { DeliveryDeps } from './deps.js'
import type { SendOutcome } from './sender.js'
import { signatureHeader } from './signature.js'

export interface AttemptedMove extends Move {
  readonly after: QueuedEvent
  readonly attempt: Attempt
  /** How long the receiver asked to be left alone (ms); null when it did not. */
  readonly waitMs: number | null
}

/** Statuses with which a receiver speaks about itself and not about this event. */
const THROTTLING = [429, 503]
const USER_AGENT = 'card-payments-webhooks/1'

/** Never rejects. `signal` interrupts it; the outcome then means nothing. */
export async function attemptDelivery(
  before: QueuedEvent,
  merchantId: string,
  endpoint: WebhookEndpoint | null,
  deps: DeliveryDeps,
  signal: AbortSignal
): Promise<AttemptedMove> {
  const sending = decideDelivery(before.delivery, { type: 'SEND' }, deps.retries)
  const atMs = deps.clock.now()
  const startedMs = performance.now()
  const outcome = await send(before, merchantId, endpoint, atMs, deps, signal)
  const durationMs = Math.round(performance.now() - startedMs)
  const attempt = { atMs, durationMs, ...summaryOf(outcome) }
  const delivery = decideDelivery(sending, eventOf(outcome, deps), deps.retries)
  deps.metrics.attempted(resultOf(outcome, delivery), durationMs)
  const isThrottling = outcome.kind === 'answered' && THROTTLING.includes(outcome.status)
  return {
    before,
    after: { ...before, delivery, history: [...before.history, attempt] },
    attempt,
    waitMs: isThrottling ? outcome.retryAfterMs : null
  }
}

async function send(
  event: QueuedEvent,
  merchantId: string,
  endpoint: WebhookEndpoint | null,
  atMs: number,
  deps: DeliveryDeps,
  signal: AbortSignal
): Promise<SendOutcome> {
  if (endpoint === null) return { kind: 'unanswered', reason: 'the merchant has no webhook endpoint' }
  try {
    const seeds = [endpoint.seed, ...endpoint.previous.filter(({ untilMs }) => untilMs > atMs)]
    const secrets = seeds.map(seed => deps.secrets.secretOf(seed, merchantId))
    const headers = {
      'content-type': 'application/json',
      'user-agent': USER_AGENT,
      'x-service-event': EVENT_TYPE,
      'x-service-signature': signatureHeader(secrets, atMs, event.body)
    }
    return await deps.sender.post(endpoint.url, headers, event.body, signal)
  } catch (error) {
    deps.log.error({ err: error, merchant_id: merchantId, event_id: event.eventId }, 'a webhook could not be sent')
    return { kind: 'unanswered', reason: 'the service could not send it' }
  }
}

function eventOf(outcome: SendOutcome, { clock, random }: DeliveryDeps): DeliveryEvent {
  const at = { nowMs: clock.now(), random: random() }
  if (outcome.kind === 'unanswered') return { type: 'NO_ANSWER', ...at }
  return { type: 'ANSWERED', status: outcome.status, retryAfterMs: outcome.retryAfterMs, ...at }
}

function summaryOf(outcome: SendOutcome): Pick<Attempt, 'status' | 'note'> {
  if (outcome.kind === 'unanswered') return { status: null, note: outcome.reason }
  return { status: outcome.status, note: outcome.note }
}

function resultOf(outcome: SendOutcome, delivery: Delivery): 'delivered' | 'refused' | 'unanswered' {
  if (delivery.state === 'delivered') return 'delivered'
  return outcome.kind === 'answered' ? 'refused' : 'unanswered'
}
