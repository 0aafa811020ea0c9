/** Made by `npm run docs` from the schemas of requests and answers (docs/openapi.json). */

import type { Operation, PaymentFailure, PaymentStatus, Refund } from './answer-types.js'

export interface RegisteredWebhookEndpoint {
  /** where webhooks are posted */
  readonly url: string
  /** the signing secret, `whsec_…`; answered by PUT, never by GET */
  readonly secret: string
  /** the header that carries the signature */
  readonly signature_header: string
  /** last change of the URL or the secret; ISO 8601 in UTC */
  readonly updated_at: string
}

export interface WebhookEndpoint {
  /** where webhooks are posted */
  readonly url: string
  /** the header that carries the signature */
  readonly signature_header: string
  /** last change of the URL or the secret; ISO 8601 in UTC */
  readonly updated_at: string
}

export interface EventProvider {
  /** as `provider.rejection_code` of the payment */
  readonly rejection_code: string | null
}

export interface WebhookEvent {
  /** the same for each delivery: discard what you have seen */
  readonly event_id: string
  /** `payment.status_changed`, or `webhook.test`, which is sent on request in the test environment and is about no payment */
  readonly event_type: 'payment.status_changed' | 'webhook.test'
  /** the payment */
  readonly payment_id: string
  /** your order id */
  readonly external_reference: string
  /** after the change */
  readonly status: PaymentStatus
  /** after the change */
  readonly amount_cents: number
  /** after the change */
  readonly captured_cents: number
  /** after the change */
  readonly refunded_cents: number
  readonly refunds: readonly Refund[]
  readonly operation: Operation
  readonly provider: EventProvider
  readonly error?: PaymentFailure
  /** when the status changed; ISO 8601 in UTC */
  readonly occurred_at: string
}
