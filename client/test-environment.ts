/** The routes of the test environment (docs/TESTING.md of the service). In live each one rejects with `ApiError` `not_found`. */
import { pathOf } from './address.js'
import type { Payment } from './answer-types.js'
import type { CallOptions } from './options.js'
import type { LoggedWebhookEvent, LoggedWebhookEventList } from './test-types.js'
import { MethodGroup } from './transport.js'

/** Each call may be repeated. Rejects with `ApiError` or `NoAnswerError`. */
export class TestEnvironment extends MethodGroup {
  /** Charges a captured payment back. */
  async chargeback(paymentId: string, options?: CallOptions): Promise<Payment> {
    return await this.#post(`${pathOf('test/payments', paymentId)}/chargeback`, options)
  }

  /** Lets a pre-authorisation expire now. */
  async expire(paymentId: string, options?: CallOptions): Promise<Payment> {
    return await this.#post(`${pathOf('test/payments', paymentId)}/expire`, options)
  }

  /** Sends a `webhook.test` event to the registered endpoint. */
  sendWebhookEvent(options?: CallOptions): Promise<LoggedWebhookEvent> {
    return this.#post(EVENTS_PATH, options)
  }

  /** The last 20 events, or up to 100, last sent first. An event that is being sent at this moment is missing. */
  async webhookEvents(
    query: { readonly limit?: number } = {},
    options?: CallOptions
  ): Promise<readonly LoggedWebhookEvent[]> {
    const { items }: LoggedWebhookEventList = await this.send({ method: 'GET', path: EVENTS_PATH, query }, options)
    return items
  }

  /** Sends an event again, with the same `event_id`. */
  async replayWebhookEvent(eventId: string, options?: CallOptions): Promise<LoggedWebhookEvent> {
    return await this.#post(`${pathOf('test/webhook-events', eventId)}/replay`, options)
  }

  #post<T>(path: string, options?: CallOptions): Promise<T> {
    return this.send({ method: 'POST', path }, options)
  }
}

const EVENTS_PATH = '/v1/test/webhook-events'
