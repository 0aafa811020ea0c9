/** A webhook event as merchants get it (docs/WEBHOOKS.md#what-arrives), and as the routes of the test environment list it. */
import { paymentStatuses } from '../machines/model.js'
import { authorizedCentsOf } from '../machines/payment/amounts.js'
import {
  type EventTerms,
  isTestChange,
  type LoggedState,
  loggedStates,
  type StatusChange
} from '../machines/status-change.js'
import type { Attempt } from '../machines/webhook-delivery.js'
import {
  answerObject,
  cents,
  component,
  countOrNull,
  listOf,
  milliseconds,
  oneOfKnown,
  type Shown,
  text,
  textOrNull,
  time,
  timeOrNull,
  uuid
} from './answer-fields.js'
import { eventTexts, presentEventTexts } from './merchant-texts.js'
import {
  operationSchema,
  paymentFailureSchema,
  presentFailure,
  presentOperation,
  presentRefund,
  refundSchema,
  timestamp,
  timestampOrNull
} from './payment-parts.js'
import { listLimit, requestObject } from './request-fields.js'

/** The types of events, in their bodies and in the header that comes with them. */
export const EVENT_TYPE = 'payment.status_changed'
/** Sent on request in the test environment (docs/TESTING.md). */
export const TEST_EVENT_TYPE = 'webhook.test'

const eventType = oneOfKnown(
  '`payment.status_changed`, or `webhook.test`, which is sent on request in the test environment and is about no payment',
  [EVENT_TYPE, TEST_EVENT_TYPE]
)

export function eventTypeOf(change: StatusChange): typeof EVENT_TYPE | typeof TEST_EVENT_TYPE {
  return isTestChange(change) ? TEST_EVENT_TYPE : EVENT_TYPE
}

export const eventProviderSchema = component(
  'EventProvider',
  answerObject({ rejection_code: textOrNull('as `provider.rejection_code` of the payment') })
)

/** What a merchant's endpoint receives. */
export const webhookEventSchema = component(
  'WebhookEvent',
  answerObject(
    {
      event_id: uuid('the same for each delivery: discard what you have seen'),
      event_type: eventType,
      payment_id: uuid('the payment'),
      external_reference: text('your order id'),
      ...eventTexts,
      status: oneOfKnown('after the change', paymentStatuses),
      amount_cents: cents('after the change'),
      captured_cents: cents('after the change'),
      refunded_cents: cents('after the change'),
      refunds: listOf(refundSchema.reference),
      operation: operationSchema.reference,
      provider: eventProviderSchema.reference,
      error: paymentFailureSchema.reference,
      occurred_at: time('when the status changed')
    },
    ['error']
  )
)

/** An event to send. Its id: `eventIdOf` in redis/webhooks/webhook-event.ts. */
interface OwnEvent {
  readonly eventId: string
  readonly change: StatusChange
  readonly terms: EventTerms
}

export function presentEvent({ eventId, change, terms }: OwnEvent): Shown<typeof webhookEventSchema> {
  return {
    event_id: eventId,
    event_type: eventTypeOf(change),
    payment_id: change.paymentId,
    external_reference: terms.externalReference,
    ...presentEventTexts(terms),
    status: change.status,
    amount_cents: authorizedCentsOf(terms, change),
    captured_cents: change.capturedCents,
    refunded_cents: change.refundedCents,
    refunds: change.refunds.map(presentRefund),
    operation: presentOperation(change.operation),
    provider: { rejection_code: change.rejectionCode },
    ...(change.error === null ? {} : { error: presentFailure(change.error) }),
    occurred_at: timestamp(change.occurredAtMs)
  }
}

/** The body as merchants get it. */
export function encodeEvent(event: OwnEvent): string {
  return JSON.stringify(presentEvent(event))
}

export const webhookAttemptSchema = component(
  'WebhookAttempt',
  answerObject({
    at: time('when it was sent, the oldest attempt first; of an event that was given up, only the last one is kept'),
    http_status: countOrNull('what your endpoint answered; null: there was no answer'),
    duration_ms: milliseconds('how long that took'),
    answer: text('the beginning of the answer, or why there was none')
  })
)

export const loggedWebhookEventSchema = component(
  'LoggedWebhookEvent',
  answerObject({
    event_id: uuid('the same each time that it is sent'),
    event_type: eventType,
    payment_id: uuid('the payment; of a `webhook.test` there is none with this id'),
    status: oneOfKnown('of the payment after the change', paymentStatuses),
    state: oneOfKnown('`waiting` for its next attempt, `delivered`, or `undeliverable` (given up)', loggedStates),
    occurred_at: time('when the status changed'),
    next_attempt_at: timeOrNull('when it is sent again; null unless it waits for that'),
    attempts: listOf(webhookAttemptSchema.reference)
  })
)

export const loggedWebhookEventListSchema = component(
  'LoggedWebhookEventList',
  answerObject({ items: listOf(loggedWebhookEventSchema.reference) })
)

/** Query of the list. */
export const listEventsQuery = requestObject({ limit: listLimit('how many events') }, [], 'must be query parameters')

/** An event of the log, with its attempts, the oldest first. */
export interface ListedEvent extends Pick<OwnEvent, 'eventId' | 'change'> {
  readonly state: LoggedState
  /** Null: it does not wait for one. */
  readonly nextAttemptAtMs: number | null
  readonly attempts: readonly Attempt[]
}

export function presentLoggedEvent(event: ListedEvent): Shown<typeof loggedWebhookEventSchema> {
  const { eventId, state, change } = event
  return {
    event_id: eventId,
    event_type: eventTypeOf(change),
    payment_id: change.paymentId,
    status: change.status,
    state,
    occurred_at: timestamp(change.occurredAtMs),
    next_attempt_at: timestampOrNull(event.nextAttemptAtMs),
    attempts: event.attempts.map(({ atMs, status, durationMs, note }) => ({
      at: timestamp(atMs),
      http_status: status,
      duration_ms: durationMs,
      answer: note
    }))
  }
}
