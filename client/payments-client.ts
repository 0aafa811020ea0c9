/** The client: one object for each merchant and environment. It keeps no state, and needs no closing. */
import { pathOf } from './address.js'
import type { Capabilities, Card } from './answer-types.js'
import type { CallOptions, ClientOptions } from './options.js'
import { Payments } from './payments.js'
import type { RegisterWebhookEndpointRequest, StoreCardRequest } from './request-types.js'
import { TestEnvironment } from './test-environment.js'
import { ApiTransport, MethodGroup } from './transport.js'
import type { RegisteredWebhookEndpoint, WebhookEndpoint } from './webhook-types.js'

export class PaymentsClient {
  readonly payments: Payments
  readonly cards: Cards
  readonly webhookEndpoint: WebhookEndpoints
  readonly test: TestEnvironment
  readonly #transport: ApiTransport

  /** Throws a `TypeError` for options that cannot work. */
  constructor(options: ClientOptions) {
    this.#transport = new ApiTransport(options)
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
class Cards extends MethodGroup {
  /** Exchanges a one-use token for a stored card. The same token again gives the same card. */
  store(card: StoreCardRequest, options?: CallOptions): Promise<Card> {
    return this.send({ method: 'POST', path: '/v1/cards', body: card }, options)
  }

  /** Rejects with `ApiError` `not_found` when there is no such card. */
  async get(id: string, options?: CallOptions): Promise<Card> {
    return await this.send({ method: 'GET', path: pathOf('cards', id) }, options)
  }

  /** Erases a card for ever. `ApiError` `not_found`: there is no such card, or an answer was lost and it is erased. */
  async erase(id: string, options?: CallOptions): Promise<void> {
    await this.send({ method: 'DELETE', path: pathOf('cards', id) }, options)
  }
}

/** The one URL to which the service posts changes of payments. */
class WebhookEndpoints extends MethodGroup {
  /** Registers the URL, or gives it a new secret (`rotate_secret`). Only this call answers the secret. */
  register(endpoint: RegisterWebhookEndpointRequest, options?: CallOptions): Promise<RegisteredWebhookEndpoint> {
    return this.send({ method: 'PUT', path: '/v1/webhook-endpoint', body: endpoint }, options)
  }

  /** Rejects with `ApiError` `not_found` while none is registered. */
  get(options?: CallOptions): Promise<WebhookEndpoint> {
    return this.send({ method: 'GET', path: '/v1/webhook-endpoint' }, options)
  }
}
