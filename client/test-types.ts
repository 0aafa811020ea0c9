/** Made by `npm run docs` from the schemas of requests and answers (docs/openapi.json). */

import type { PaymentStatus } from './answer-types.js'

export interface WebhookAttempt {
  /** when it was sent, the oldest attempt first; of an event that was given up, only the last one is kept; ISO 8601 in UTC */
  readonly at: string
  /** what your endpoint answered; null: there was no answer */
  readonly http_status: number | null
  /** how long that took */
  readonly duration_ms: number
  /** the beginning of the answer, or why there was none */
  readonly answer: string
}

export interface LoggedWebhookEvent {
  /** the same each time that it is sent */
  readonly event_id: string
  /** `payment.status_changed`, or `webhook.test`, which is sent on request in the test environment and is about no payment */
  readonly event_type: 'payment.status_changed' | 'webhook.test'
  /** the payment; of a `webhook.test` there is none with this id */
  readonly payment_id: string
  /** of the payment after the change */
  readonly status: PaymentStatus
  /** `waiting` for its next attempt, `delivered`, or `undeliverable` (given up) */
  readonly state: 'waiting' | 'undeliverable' | 'delivered'
  /** when the status changed; ISO 8601 in UTC */
  readonly occurred_at: string
  /** when it is sent again; null unless it waits for that; ISO 8601 in UTC */
  readonly next_attempt_at: string | null
  readonly attempts: readonly WebhookAttempt[]
}

export interface LoggedWebhookEventList {
  readonly items: readonly LoggedWebhookEvent[]
}

export interface Token {
  /** the one-use token: for one payment, or for one stored card; of a `cvv` alone a `cvv_token_id` */
  readonly token_id: string
  /** brand of the card; null: a token of a `cvv` alone */
  readonly brand: string | null
  /** last four digits; null: as above */
  readonly last4: string | null
  /** until when it can be used; ISO 8601 in UTC */
  readonly expires_at: string
}
