/** What a merchant and a buyer send to a running service, with defaults for all that a test is not about. */
import { randomUUID } from 'node:crypto'
import { demoCard, demoCustomer } from '../../scripts/supervisor/demo-customer.js'
import type { ServiceUnderTest } from './service.js'

interface Purchase {
  readonly capture?: boolean
  /** Seconds to wait for the result. */
  readonly wait?: number
}

/** Types a card and pays BRL 100.00 with it. Rejects unless the payment was accepted. */
export async function createPayment(service: ServiceUnderTest, purchase: Purchase = {}): Promise<{ id: string }> {
  const token = await post(`${service.tokensUrl}/v1/tokens`, service.publishableKey, demoCard)
  const { token_id } = (await token.json()) as { token_id: string }
  const body = {
    amount_cents: 10_000,
    capture: purchase.capture ?? true,
    external_reference: randomUUID(),
    payment_source: { source_type: 'token', token_id },
    customer: demoCustomer
  }
  const headers = purchase.wait === undefined ? {} : { Prefer: `wait=${purchase.wait}` }
  const response = await post(`${service.baseUrl}/v1/payments`, service.apiKey, body, headers)
  if (!response.ok) throw new Error(`The payment was not accepted: ${response.status} ${await response.text()}`)
  return (await response.json()) as { id: string }
}

/** Captures, cancels or refunds; resolves to the status code. */
export async function operate(
  service: ServiceUnderTest,
  id: string,
  operation: 'capture' | 'cancel',
  body: object = {}
): Promise<number> {
  return (await post(`${service.baseUrl}/v1/payments/${id}/${operation}`, service.apiKey, body)).status
}

/** The whole set of faults of the card-network simulator; `{}` is none. */
export async function setFaults(service: ServiceUnderTest, faults: object): Promise<void> {
  const response = await fetch(`${service.networkUrl}/simulator/faults`, {
    method: 'PUT',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify(faults)
  })
  if (!response.ok) throw new Error(`The simulator refused the faults: ${response.status} ${await response.text()}`)
}

/** The order ids of all sales that the simulator has booked, answered or not. */
export async function bookedOrders(service: ServiceUnderTest): Promise<string[]> {
  const lines = await (await fetch(`${service.networkUrl}/simulator/sales`)).text()
  return lines
    .split('\n')
    .filter(Boolean)
    .map(line => (JSON.parse(line) as { merchant_order_id: string }).merchant_order_id)
}

function post(url: string, key: string, body: object, headers: Record<string, string> = {}): Promise<Response> {
  return fetch(url, {
    method: 'POST',
    headers: {
      Authorization: `Bearer ${key}`,
      'Content-Type': 'application/json',
      'Idempotency-Key': randomUUID(),
      ...headers
    },
    body: JSON.stringify(body)
  })
}
