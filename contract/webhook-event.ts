/** A webhook event as merchants get it (docs/WEBHOOKS.md#what-arrives). */
import { authorizedCentsOf } from '../machines/payment/sums.js'
import { type EventTerms, isTestChange, type StatusChange } from '../machines/status-change.js'
import { presentFailure, presentOperation, presentRefund } from './payment-parts.js'

/** The types of events (docs/WEBHOOKS.md#what-arrives), in their bodies and in the header that comes with them. */
export const EVENT_TYPE = 'payment.status_changed'
/** Sent on request in the test environment (docs/TESTING.md). */
export const TEST_EVENT_TYPE = 'webhook.test'

export function eventTypeOf(change: StatusChange): typeof EVENT_TYPE | typeof TEST_EVENT_TYPE {
  return isTestChange(change) ? TEST_EVENT_TYPE : EVENT_TYPE
}

/** An event to send. Its id: `eventIdOf` in redis/webhooks/webhook-event.ts. */
interface OwnEvent {
  readonly eventId: string
  readonly change: StatusChange
  readonly terms: EventTerms
}

/** The body as merchants get it. */
export function encodeEvent({ eventId, change, terms }: OwnEvent): string {
  return JSON.stringify({
    event_id: eventId,
    event_type: eventTypeOf(change),
    payment_id: change.paymentId,
    external_reference: terms.externalReference,
    status: change.status,
    amount_cents: authorizedCentsOf(terms, change),
    captured_cents: change.capturedCents,
    refunded_cents: change.refundedCents,
    refunds: change.refunds.map(presentRefund),
    operation: presentOperation(change.operation),
    provider: { rejection_code: change.rejectionCode },
    ...(change.error === null ? {} : { error: presentFailure(change.error) }),
    occurred_at: new Date(change.occurredAtMs).toISOString()
  })
}
