/** A merchant, its buyers and its operator: everything that a system test does over HTTP and on the command line. */
import { randomUUID } from 'node:crypto'
import { createTestCvvToken, createTestToken, type Payment, PaymentsClient } from '../../client/index.js'
import { isOpen } from '../../machines/model.js'
import { connect, disconnect, type Redis } from '../../redis/connection/connections.js'
import { createLogger } from '../../runtime/log.js'
import { demoCustomer } from '../../scripts/start/demo-customer.js'
import { until } from './conditions.js'
import { type OperatorAnswer, operate } from './operator.js'
import type { ServiceUnderTest } from './service.js'

/** Test cards by what happens to them (docs/API.md lists them all). */
export const testCards = {
  approved: '4024007153760060',
  declined: '4024007153760052',
  expired: '4024007153760003',
  silentlyDeclined: '4024007153760086',
  silentlyApproved: '4024007153760029'
} as const

/** A payment as merchants see it. */
export type PaymentView = Payment

/** An answer of the API: the payment, or the error envelope. */
export interface ApiAnswer {
  readonly status: number
  readonly headers: Headers
  readonly payment: PaymentView
  readonly error: { readonly code: string; readonly retryable: boolean; readonly payment_id?: string }
}

export interface CreateOptions {
  readonly amount?: number
  readonly capture?: boolean
  readonly card?: string
  readonly key?: string
  readonly token?: string
  readonly source?: Record<string, unknown>
  readonly waitS?: number
  readonly reference?: string
}

export interface OperationOptions {
  readonly amount?: number
  readonly key?: string
  readonly waitS?: number
}

type Keys = Pick<ServiceUnderTest, 'apiKey' | 'publishableKey'>
/** Where a merchant finds a service, and the keys of its demo merchant. */
type Shop = Pick<ServiceUnderTest, 'baseUrl' | 'tokensUrl'> & Keys

/** Speaks for the demo merchant of a service, or for another one with its own keys. */
export class Merchant {
  readonly #service: () => Shop
  readonly #keys: Keys | null

  constructor(service: () => Shop, keys: Keys | null = null) {
    this.#service = service
    this.#keys = keys
  }

  /** A one-use token for a typed card. */
  async token(card: string = testCards.approved, cvv = '123'): Promise<string> {
    const { tokensUrl } = this.#service()
    const { publishableKey } = this.#keys ?? this.#service()
    return (await createTestToken({ tokensUrl, publishableKey, card: { card_number: card, cvv } })).token_id
  }

  /** A one-use token for the security code of a stored card. */
  async cvvToken(cvv = '123'): Promise<string> {
    const { publishableKey } = this.#keys ?? this.#service()
    return (await createTestCvvToken({ tokensUrl: this.#service().tokensUrl, publishableKey, cvv })).token_id
  }

  /** Stores a card that was typed. Resolves to the source of a payment with it. */
  async storeCard(card?: string, cvv?: string): Promise<{ readonly source_type: 'card'; readonly card_id: string }> {
    const { status, payment } = await this.post('/v1/cards', { token_id: await this.token(card, cvv) })
    if (status !== 201) throw new Error(`the card was not stored: ${status}`)
    return { source_type: 'card', card_id: Object(payment).card_id }
  }

  /** `POST /v1/payments`; approved and captured unless the options say otherwise. */
  async create(options: CreateOptions = {}): Promise<ApiAnswer> {
    const source = options.source ?? {
      source_type: 'token',
      token_id: options.token ?? (await this.token(options.card))
    }
    const body = { ...orderOf(options), payment_source: source }
    return await this.post('/v1/payments', body, options)
  }

  async capture(id: string, options: OperationOptions = {}): Promise<ApiAnswer> {
    return await this.post(`/v1/payments/${id}/capture`, amountOf(options), options)
  }

  async cancel(id: string, options: OperationOptions = {}): Promise<ApiAnswer> {
    return await this.post(`/v1/payments/${id}/cancel`, amountOf(options), options)
  }

  async read(id: string): Promise<PaymentView> {
    return await this.get(`/v1/payments/${id}`)
  }

  /** What a GET answers. Rejects when it is not 200. */
  async get<T>(path: string): Promise<T> {
    const response = await fetch(`${this.#service().baseUrl}${path}`, { headers: this.#headers() })
    if (response.status !== 200) throw new Error(`GET ${path} answered ${response.status}`)
    return (await response.json()) as T
  }

  /** The status of the answer to a request about a stored card. */
  async card(method: 'GET' | 'DELETE', cardId: string): Promise<number> {
    const url = `${this.#service().baseUrl}/v1/cards/${cardId}`
    return (await fetch(url, { method, headers: this.#headers() })).status
  }

  /** Reads until the payment is in that status, or in none in which something is still going on. */
  async settled(id: string, status?: string): Promise<PaymentView> {
    return await until(`payment ${id} is ${status ?? 'settled'}`, async () => {
      const payment = await this.read(id)
      const isThere = status === undefined ? !isOpen(payment.operation) : payment.status === status
      return isThere ? payment : undefined
    })
  }

  async post(path: string, body: unknown, options: { key?: string; waitS?: number } = {}): Promise<ApiAnswer> {
    const response = await fetch(`${this.#service().baseUrl}${path}`, {
      method: 'POST',
      headers: {
        ...this.#headers(),
        'Idempotency-Key': options.key ?? randomUUID(),
        ...(options.waitS === undefined ? {} : { Prefer: `wait=${options.waitS}` }),
        ...(body === undefined ? {} : { 'Content-Type': 'application/json' })
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) })
    })
    const value = (await response.json()) as PaymentView & { error?: ApiAnswer['error'] }
    const isError = response.status >= 400
    const error = isError && value.error !== undefined ? value.error : { code: '', retryable: false }
    return { status: response.status, headers: response.headers, payment: value, error }
  }

  #headers(): Record<string, string> {
    return { Authorization: `Bearer ${this.#keys?.apiKey ?? this.#service().apiKey}` }
  }
}

/** Has the service post its events to `url`. Resolves to the secret that signs them. */
export async function registerHook({ baseUrl, apiKey }: ServiceUnderTest, url: string): Promise<string> {
  return (await new PaymentsClient({ baseUrl, apiKey }).webhookEndpoint.register({ url })).secret
}

/** Runs one command line of the operator's CLI against a service. */
export async function asOperator(service: ServiceUnderTest, ...args: string[]): Promise<OperatorAnswer> {
  return await operate({ DATA_DIR: service.dataDir }, args)
}

/** A connection to the durable Redis of a service, for the length of `work`. */
export async function withRedis<T>(service: ServiceUnderTest, work: (redis: Redis) => Promise<T>): Promise<T> {
  const redis = await connect(service.redisUrl, 'commands', createLogger('test', 'silent'))
  try {
    return await work(redis)
  } finally {
    await disconnect(redis)
  }
}

/** The body of a create without its payment_source. */
export function orderOf(options: CreateOptions): Record<string, unknown> {
  return {
    amount_cents: options.amount ?? 10_000,
    capture: options.capture ?? true,
    external_reference: options.reference ?? 'order-1',
    customer: demoCustomer
  }
}

function amountOf({ amount }: OperationOptions): unknown {
  return amount === undefined ? undefined : { amount_cents: amount }
}
