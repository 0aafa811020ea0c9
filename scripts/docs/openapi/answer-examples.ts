/**
 * An example for each answer of 2xx, from the presenters that make the answers. A system test sends the examples of the
 * requests to the service and compares.
 */
import { capabilitiesOf } from '../../../api/payments/capabilities-route.js'
import { presentCard } from '../../../contract/card.js'
import { presentPayment } from '../../../contract/payment.js'
import type { Json } from '../../../contract/schema.js'
import { presentEndpoint, presentNewEndpoint } from '../../../contract/webhook-endpoint.js'
import { presentEvent, presentLoggedEvent } from '../../../contract/webhook-event.js'
import type { Operation, Payment, PaymentProgress, Refund } from '../../../machines/model.js'
import { type StatusChange, statusChangeOf, testChange } from '../../../machines/status-change.js'
import { eventIdOf } from '../../../redis/webhooks/webhook-event.js'
import { readConfig } from '../../../runtime/config.js'
import { demoCard, demoCustomer } from '../../start/demo-customer.js'
import { examplePayment } from '../payment-paths/example-payment.js'

export const EXAMPLE_PAYMENT_ID = '019b8e2c-5c00-7000-8000-000000000001'
const EXAMPLE_TOKEN_ID = 'the-token-of-the-hosted-fields'
export const EXAMPLE_CARD_ID = '019b8e2c-5c00-7000-8000-000000000002'

const CREATED_AT_MS = Date.UTC(2026, 0, 5, 12)
const [AMOUNT_CENTS, CAPTURED_CENTS, REFUNDED_CENTS] = [15_990, 12_000, 2_000]

/** A payment as the request of the example makes it, this many seconds after its creation. */
function paymentWith(captureMode: 'auto' | 'manual', progress: Partial<PaymentProgress>): Payment {
  const { terms, ...payment } = examplePayment(captureMode)
  const { name, email } = demoCustomer
  return {
    ...payment,
    terms: {
      ...terms,
      id: EXAMPLE_PAYMENT_ID,
      amountCents: AMOUNT_CENTS,
      customer: { name, email },
      metadata: { basket: 42 }
    },
    progress: { ...payment.progress, ...progress }
  }
}

function operation(kind: Operation['kind'], amountCents: number, state: Operation['state'] = 'succeeded'): Operation {
  const intention = kind === 'authorization' ? 'payment' : kind
  return { kind, state, amountCents, idempotencyKey: `order-1-${intention}` }
}

const afterS = (seconds: number): number => CREATED_AT_MS + seconds * 1_000

function refundAt(state: Refund['state'], concludedAtMs: number | null): Refund {
  const idempotencyKey = 'order-1-refund'
  return {
    amountCents: REFUNDED_CENTS,
    state,
    idempotencyKey,
    requestedAtMs: afterS(3_599),
    concludedAtMs,
    error: null
  }
}

const authorised = {
  references: {
    saleId: '00000000-0000-4000-8000-000000000001',
    tid: '1006993069000000001A',
    nsu: '674532',
    authorizationCode: '123456'
  },
  authorizedAtMs: afterS(1),
  operation: operation('authorization', AMOUNT_CENTS)
} as const
const pending = paymentWith('auto', { operation: operation('authorization', AMOUNT_CENTS, 'in_progress') })
const captured = paymentWith('auto', {
  ...authorised,
  status: 'captured',
  capturedCents: AMOUNT_CENTS,
  capturedAtMs: afterS(1)
})
const held = { ...authorised, status: 'pre_authorized', expiresAtMs: afterS(1 + 7 * 24 * 3_600) } as const
const capturing = paymentWith('manual', {
  ...held,
  status: 'capturing',
  operation: operation('capture', CAPTURED_CENTS, 'in_progress')
})
const capturedInPart = paymentWith('manual', {
  ...held,
  status: 'captured',
  capturedCents: CAPTURED_CENTS,
  capturedAtMs: afterS(60),
  operation: operation('capture', CAPTURED_CENTS)
})
const refunding = paymentWith('auto', {
  ...captured.progress,
  status: 'refunding',
  operation: operation('refund', REFUNDED_CENTS, 'in_progress'),
  refunds: [refundAt('in_progress', null)]
})
const refundedInPart = paymentWith('auto', {
  ...captured.progress,
  status: 'partially_refunded',
  refundedCents: REFUNDED_CENTS,
  refundedAtMs: afterS(3_600),
  operation: operation('refund', REFUNDED_CENTS),
  refunds: [refundAt('succeeded', afterS(3_600))]
})

const chargedBack = paymentWith('auto', { ...captured.progress, status: 'charged_back' })
const expired = paymentWith('manual', { ...held, status: 'expired', phase: 'released' })

export const EXAMPLE_EVENT_ID = eventIdOf(statusChangeOf(captured, afterS(1)))

/** The event of a merchant; one that was delivered with its attempt. */
function eventOf(state: 'waiting' | 'delivered', change: StatusChange): Json {
  const attempt = { atMs: change.occurredAtMs, status: 204, durationMs: 12, note: '' }
  const attempts = state === 'delivered' ? [attempt] : []
  return presentLoggedEvent({ eventId: eventIdOf(change), state, change, nextAttemptAtMs: null, attempts })
}

const card = presentCard(
  {
    cardId: EXAMPLE_CARD_ID,
    brand: 'visa',
    last4: demoCard.card_number.slice(-4),
    expirationMonth: demoCard.expiration_month,
    expirationYear: demoCard.expiration_year,
    holderName: demoCard.holder_name
  },
  CREATED_AT_MS
)
const endpoint = {
  url: 'https://shop.example/hooks/payments',
  secret: 'whsec_the-secret-that-signs-your-webhooks-00000000',
  updatedAtMs: CREATED_AT_MS
}

/** By operation and status. */
const examples: Readonly<Record<string, Json>> = {
  'createPayment 200': present(captured),
  'createPayment 201': present(captured),
  'createPayment 202': present(pending),
  'capturePayment 200': present(capturedInPart),
  'capturePayment 202': present(capturing),
  'cancelPayment 200': present(refundedInPart),
  'cancelPayment 202': present(refunding),
  'readPayment 200': present(captured),
  'listPayments 200': { items: [present(captured)], next_cursor: null },
  'readCard 200': card,
  'storeCard 200': card,
  'storeCard 201': card,
  'registerWebhookEndpoint 200': presentNewEndpoint(endpoint),
  'readWebhookEndpoint 200': presentEndpoint(endpoint),
  'readCapabilities 200': capabilitiesOf(readConfig({ SERVICE_ENV: 'test' })),
  'chargeBackTestPayment 200': present(chargedBack),
  'chargeBackTestPayment 202': present(captured),
  'expireTestPayment 200': present(expired),
  'expireTestPayment 202': present(paymentWith('manual', held)),
  'sendTestWebhookEvent 201': eventOf('waiting', testChange(EXAMPLE_PAYMENT_ID, CREATED_AT_MS)),
  'listTestWebhookEvents 200': { items: [eventOf('delivered', statusChangeOf(captured, afterS(1)))] },
  'replayTestWebhookEvent 200': eventOf('waiting', statusChangeOf(captured, afterS(1))),
  'createToken 201': {
    token_id: EXAMPLE_TOKEN_ID,
    brand: 'visa',
    last4: '0060',
    expires_at: new Date(afterS(900)).toISOString()
  }
}

/** Throws when there is none. */
export function answerExample(operationId: string, status: number): Json {
  const example = examples[`${operationId} ${status}`]
  if (example === undefined) {
    throw new Error(`scripts/docs/openapi/answer-examples.ts has no example for ${operationId} ${status}.`)
  }
  return example
}

/** The event that tells of the captured payment. */
export function eventExample(): Json {
  const change = statusChangeOf(captured, afterS(1))
  return presentEvent({ eventId: eventIdOf(change), change, terms: captured.terms })
}

function present({ terms, progress }: Payment): Json {
  return presentPayment(terms, progress, 'test')
}

/** Bodies that a route takes, by operation. */
const bodies: Readonly<Record<string, Json>> = {
  createPayment: {
    amount_cents: AMOUNT_CENTS,
    external_reference: 'order-1',
    payment_source: { source_type: 'token', token_id: EXAMPLE_TOKEN_ID },
    customer: demoCustomer,
    metadata: { basket: 42 }
  },
  capturePayment: { amount_cents: CAPTURED_CENTS },
  cancelPayment: { amount_cents: REFUNDED_CENTS },
  storeCard: { token_id: EXAMPLE_TOKEN_ID },
  registerWebhookEndpoint: { url: endpoint.url },
  createToken: { ...demoCard }
}

/** Throws when there is none. */
export function bodyExample(operationId: string): Json {
  const example = bodies[operationId]
  if (example === undefined) throw new Error(`scripts/docs/openapi/answer-examples.ts has no body for ${operationId}.`)
  return example
}
