/** What the tests of card data do as a buyer's browser and as a merchant's server. */
import { randomUUID } from 'node:crypto'
import { createTestCvvToken } from '../../../client/index.js'
import { demoCard, demoCustomer } from '../../../scripts/start/demo-customer.js'
import type { ServiceOptions, ServiceUnderTest } from '../../support/service.js'

/** Short times, so that outcomes that are not known are known soon. The files of this folder share one service. */
export const QUICK: ServiceOptions = {
  env: {
    LOG_LEVEL: 'debug',
    CNPJ_WITH_LETTERS: 'yes',
    RESULT_WAIT_MS: '1500',
    RECONCILE_DELAYS_MS: '1500,500',
    NETWORK_CONNECT_TIMEOUT_MS: '500',
    NETWORK_AUTHORISE_TIMEOUT_MS: '2000',
    NETWORK_TIMEOUT_MS: '2000',
    // Every sale is sent while the network misbehaves.
    NETWORK_CIRCUIT_FAILURES: '1000000',
    NOT_FOUND_HORIZON_MS: '2600',
    HEARTBEAT_MS: '200',
    TAKEOVER_AFTER_MS: '800'
  }
}

export const APPROVED = '4024007153760060'
export const DECLINED = '4024007153760052'
/** Declined for good. */
export const CANCELLED = '4024007153760037'
export const UNANSWERED = '4024007153760029'

/** A code that no process id, port, amount or time looks like. */
export const CVV = '0937'

export interface ApiAnswer {
  readonly status: number
  readonly body: Record<string, unknown> & { readonly id?: string; readonly status?: string; readonly card_id?: string }
}

/** A one-use token for a card. */
async function tokenFor(service: ServiceUnderTest, cardNumber: string, cvv = CVV): Promise<string> {
  const response = await fetch(`${service.tokensUrl}/v1/tokens`, {
    method: 'POST',
    headers: { Authorization: `Bearer ${service.publishableKey}`, 'Content-Type': 'application/json' },
    body: JSON.stringify({ ...demoCard, card_number: cardNumber, cvv })
  })
  const { token_id: tokenId } = (await response.json()) as { token_id?: string }
  if (tokenId === undefined) throw new Error(`no token: ${response.status}`)
  return tokenId
}

/** One call of the merchant API; a POST gets a new Idempotency-Key unless one is given. */
export async function call(
  service: ServiceUnderTest,
  method: 'GET' | 'POST',
  path: string,
  body?: object,
  idempotencyKey: string = randomUUID()
): Promise<ApiAnswer> {
  const response = await fetch(`${service.baseUrl}${path}`, {
    method,
    headers: {
      Authorization: `Bearer ${service.apiKey}`,
      ...(method === 'POST' && { 'Content-Type': 'application/json', 'Idempotency-Key': idempotencyKey })
    },
    ...(body && { body: JSON.stringify(body) })
  })
  return { status: response.status, body: (await response.json()) as ApiAnswer['body'] }
}

/** The body of a payment from a token or a stored card. */
function paymentBody(source: object, changes: object = {}): object {
  return {
    amount_cents: 1_990,
    external_reference: 'order-1',
    payment_source: source,
    customer: demoCustomer,
    ...changes
  }
}

/** A payment with a freshly typed card. */
export async function payByToken(service: ServiceUnderTest, cardNumber: string, cvv = CVV): Promise<ApiAnswer> {
  const tokenId = await tokenFor(service, cardNumber, cvv)
  return call(service, 'POST', '/v1/payments', paymentBody({ source_type: 'token', token_id: tokenId }))
}

/** A payment with a stored card. */
export function payByCard(service: ServiceUnderTest, cardId: string, cvv?: string): Promise<ApiAnswer> {
  const source = { source_type: 'card', card_id: cardId, ...(cvv && { cvv }) }
  return call(service, 'POST', '/v1/payments', paymentBody(source))
}

/** A payment with a stored card, and the token of its CVV. */
export async function payByCvvToken(service: ServiceUnderTest, cardId: string): Promise<ApiAnswer> {
  const { tokensUrl, publishableKey } = service
  const { token_id: cvvToken } = await createTestCvvToken({ tokensUrl, publishableKey, cvv: CVV })
  const source = { source_type: 'card', card_id: cardId, cvv_token_id: cvvToken }
  return call(service, 'POST', '/v1/payments', paymentBody(source))
}

/** Stores a card and answers its id. */
export async function storeCard(service: ServiceUnderTest, cardNumber: string, cvv = CVV): Promise<string> {
  const tokenId = await tokenFor(service, cardNumber, cvv)
  const { body } = await call(service, 'POST', '/v1/cards', { token_id: tokenId })
  if (body.card_id === undefined) throw new Error('no card was stored')
  return body.card_id
}
