/** The client: one object for each merchant and environment. It keeps no state, and needs no closing. */
import type { Capabilities, Card, NewWebhookEndpoint, WebhookEndpoint } from './answer-types.js'
import type { CallOptions, ClientOptions } from './options.js'
import { pathOf } from './path.js'
import { Payments } from './payments.js'
import type { RegisterWebhookEndpointRequest, StoreCardRequest } from './request-types.js'
import { TestEnvironment } from './test-environment.js'
import { Transport } from './transport.js'

export class PaymentsClient {
  readonly payments: Payments
  readonly cards: Cards
  readonly webhookEndpoint: WebhookEndpoints
  readonly test: TestEnvironment
  readonly #transport: Transport

  /** Throws a `TypeError` for options that cannot work. */
  constructor(options: ClientOptions) {
    this.#transport = new Transport(options)
    this.payments = new Payments(this.#transport)
    this.cards = new Cards(this.#transport)
    this.webhookEndpoint = new WebhookEndpoints(this.#transport)
    this.test = new TestEnvironment(this.#transport)
  }

  /** What the environment of the key can do: currencies, limits, addresses. */
  capabilities(options?: CallOptions): Promise<Capabilities> {
    return this.#transport.send({ method: 'GET', path: '/v1/capabilities' }, options)
  }
}

/** Stored cards. */
class Cards {
  readonly #transport: Transport

  constructor(transport: Transport) {
    this.#transport = transport
  }

  /** Exchanges a one-use token for a stored card. The same token again gives the same card. */
  store(card: StoreCardRequest, options?: CallOptions): Promise<Card> {
    return this.#transport.send({ method: 'POST', path: '/v1/cards', body: card }, options)
  }

  /** Rejects with `ApiError` `not_found` when there is no such card. */
  get(id: string, options?: CallOptions): Promise<Card> {
    return this.#transport.send({ method: 'GET', path: pathOf('cards', id) }, options)
  }

  /** Erases a card for ever. `ApiError` `not_found`: there is no such card, or an answer was lost and it is erased. */
  async erase(id: string, options?: CallOptions): Promise<void> {
    await this.#transport.send({ method: 'DELETE', path: pathOf('cards', id) }, options)
  }
}

/** The one URL to which the service posts changes of payments. */
class WebhookEndpoints {
  readonly #transport: Transport

  constructor(transport: Transport) {
    this.#transport = transport
  }

  /** Registers the URL, or gives it a new secret (`rotate_secret`). Only this call answers the secret. */
  register(endpoint: RegisterWebhookEndpointRequest, options?: CallOptions): Promise<NewWebhookEndpoint> {
    return this.#transport.send({ method: 'PUT', path: '/v1/webhook-endpoint', body: endpoint }, options)
  }

  /** Rejects with `ApiError` `not_found` while none is registered. */
  get(options?: CallOptions): Promise<WebhookEndpoint> {
    return this.#transport.send({ method: 'GET', path: '/v1/webhook-endpoint' }, options)
  }
}
