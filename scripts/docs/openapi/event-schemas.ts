/** The schemas of the webhook endpoint, of what it receives, and of the log of it. */

import { EVENT_TYPE, TEST_EVENT_TYPE } from '../../../contract/webhook-event.js'
import { paymentStatuses } from '../../../machines/model.js'
import { loggedStates } from '../../../redis/webhooks/webhook-log.js'
import {
  cents,
  countOrNull,
  listOf,
  milliseconds,
  type ObjectSchema,
  object,
  oneOfKnown,
  reference,
  text,
  textOrNull,
  time,
  timeOrNull,
  uuid
} from './schema-parts.js'

const endpoint = {
  signature_header: text('the header that carries the signature'),
  updated_at: time('last change of the URL or the secret')
}
const url = text('where webhooks are posted')
const secret = text('the signing secret, `whsec_…`; answered by PUT, never by GET')

const WebhookAttempt = object({
  at: time('when it was sent, the oldest attempt first; the last 1,000 of all events are kept'),
  http_status: countOrNull('what your endpoint answered; null: there was no answer'),
  duration_ms: milliseconds('how long that took'),
  answer: text('the beginning of the answer, or why there was none')
})

const eventType = oneOfKnown(
  '`payment.status_changed`, or `webhook.test`, which is sent on request in the test environment and is about no payment',
  [EVENT_TYPE, TEST_EVENT_TYPE]
)

/** What the test routes say of an event. */
const LoggedWebhookEvent = object({
  event_id: uuid('the same each time that it is sent'),
  event_type: eventType,
  payment_id: uuid('the payment; of a `webhook.test` there is none with this id'),
  status: oneOfKnown('of the payment after the change', paymentStatuses),
  state: oneOfKnown('`waiting` for its next attempt, `delivered`, or `undeliverable` (given up)', loggedStates),
  occurred_at: time('when the status changed'),
  next_attempt_at: timeOrNull('when it is sent again; null unless it waits for that'),
  attempts: listOf(reference('WebhookAttempt'))
})

const EventProvider = object({
  rejection_code: textOrNull('as `provider.rejection_code` of the payment')
})

/** What a merchant's endpoint receives. */
const WebhookEvent = object(
  {
    event_id: uuid('the same for each delivery: discard what you have seen'),
    event_type: eventType,
    payment_id: uuid('the payment'),
    external_reference: text('your order id'),
    status: oneOfKnown('after the change', paymentStatuses),
    amount_cents: cents('after the change'),
    captured_cents: cents('after the change'),
    refunded_cents: cents('after the change'),
    refunds: listOf(reference('Refund')),
    operation: reference('Operation'),
    provider: reference('EventProvider'),
    error: reference('PaymentFailure'),
    occurred_at: time('when the status changed')
  },
  ['error']
)

export const eventSchemas = {
  RegisteredWebhookEndpoint: object({ url, secret, ...endpoint }),
  WebhookEndpoint: object({ url, ...endpoint }),
  EventProvider,
  WebhookEvent,
  WebhookAttempt,
  LoggedWebhookEvent,
  LoggedWebhookEventList: object({ items: listOf(reference('LoggedWebhookEvent')) })
} as const satisfies Record<string, ObjectSchema>
