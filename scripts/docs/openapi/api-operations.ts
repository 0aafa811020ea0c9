/** What a tool shows of each route, and what the route answers when all is well. */
import { demoCard, demoCustomer } from '../../start/demo-customer.js'
import { EXAMPLE_TOKEN_ID } from './answer-examples.js'

export interface OperationWords {
  /** Name of the function that a generated client has. */
  readonly id: string
  readonly tag: 'Payments' | 'Cards' | 'Webhooks' | 'Service' | 'Test' | 'Tokens'
  readonly summary: string
  readonly text: string
  /** The Idempotency-Key of the example; absent: the route takes none. */
  readonly exampleKey?: string
  /** A body that the route takes. */
  readonly example?: Readonly<Record<string, unknown>>
  readonly answers: readonly {
    readonly status: 200 | 201 | 202 | 204
    /** One of `answerSchemas`; absent: the answer has no body. */
    readonly schema?: string
    readonly means: string
  }[]
}

const TEST_ONLY = 'Test environment only: 404 in live.'
const replayed = {
  status: 200,
  schema: 'Payment',
  means: 'The answer to an earlier request with the same Idempotency-Key and body.'
} as const
const inProgress = {
  status: 202,
  schema: 'Payment',
  means:
    'Accepted and not finished yet, or `unknown` because the card network gave no clear answer. Read the payment, or wait for the webhook; never send the same intention with another Idempotency-Key.'
} as const

/** By the name of the route, as docs/API.md names it. */
export const operationWords: Readonly<Record<string, OperationWords>> = {
  'POST /v1/payments': {
    id: 'createPayment',
    tag: 'Payments',
    summary: 'Charge a card, or hold an amount on it',
    text: 'With `capture` true (the default) the card is charged at once, with false the amount is held until it is captured, cancelled or `expires_at` comes.',
    exampleKey: 'order-1-payment',
    example: {
      amount_cents: 15_990,
      external_reference: 'order-1',
      payment_source: { source_type: 'token', token_id: EXAMPLE_TOKEN_ID },
      customer: demoCustomer,
      metadata: { basket: 42 }
    },
    answers: [
      replayed,
      { status: 201, schema: 'Payment', means: 'Paid (`captured`), or held (`pre_authorized`).' },
      inProgress
    ]
  },
  'POST /v1/payments/{id}/capture': {
    id: 'capturePayment',
    tag: 'Payments',
    summary: 'Capture a pre-authorisation',
    text: 'As a whole or in part, once: what was left out cannot be captured later.',
    exampleKey: 'order-1-capture',
    example: { amount_cents: 12_000 },
    answers: [{ status: 200, schema: 'Payment', means: 'Captured; or a repeated request.' }, inProgress]
  },
  'POST /v1/payments/{id}/cancel': {
    id: 'cancelPayment',
    tag: 'Payments',
    summary: 'Undo a pre-authorisation, or refund',
    text: 'A pre-authorisation is undone as a whole; a captured payment is refunded in parts or as a whole.',
    exampleKey: 'order-1-refund',
    example: { amount_cents: 2_000 },
    answers: [{ status: 200, schema: 'Payment', means: 'Cancelled or refunded; or a repeated request.' }, inProgress]
  },
  'GET /v1/payments/{id}': {
    id: 'readPayment',
    tag: 'Payments',
    summary: 'Read a payment',
    text: 'The source of truth, at any time.',
    answers: [{ status: 200, schema: 'Payment', means: 'The payment as it stands.' }]
  },
  'GET /v1/payments': {
    id: 'listPayments',
    tag: 'Payments',
    summary: 'List payments, newest first',
    text: 'Send `next_cursor` as `cursor` until it is null; it keeps the filters.',
    answers: [{ status: 200, schema: 'PaymentPage', means: 'One page.' }]
  },
  'POST /v1/cards': {
    id: 'storeCard',
    tag: 'Cards',
    summary: 'Store a card for later payments',
    text: 'Exchanges a one-use token for a stored card. The security code is not stored.',
    example: { token_id: EXAMPLE_TOKEN_ID },
    answers: [
      { status: 200, schema: 'Card', means: 'The same token was exchanged before, for this card.' },
      { status: 201, schema: 'Card', means: 'Stored.' }
    ]
  },
  'GET /v1/cards/{id}': {
    id: 'readCard',
    tag: 'Cards',
    summary: 'Read a stored card',
    text: 'As it was stored; never its number.',
    answers: [{ status: 200, schema: 'Card', means: 'The card.' }]
  },
  'DELETE /v1/cards/{id}': {
    id: 'eraseCard',
    tag: 'Cards',
    summary: 'Erase a stored card',
    text: 'At once and for ever. A payment that was sent with it continues; one that was not sent yet fails with `invalid_card`.',
    answers: [{ status: 204, means: 'Erased.' }]
  },
  'PUT /v1/webhook-endpoint': {
    id: 'registerWebhookEndpoint',
    tag: 'Webhooks',
    summary: 'Register the address for webhooks, or rotate its secret',
    text: 'The same URL again changes nothing, but with `rotate_secret`; another URL has a new secret.',
    example: { url: 'https://shop.example/hooks/payments' },
    answers: [{ status: 200, schema: 'RegisteredWebhookEndpoint', means: 'Registered.' }]
  },
  'GET /v1/webhook-endpoint': {
    id: 'readWebhookEndpoint',
    tag: 'Webhooks',
    summary: 'Read the address for webhooks',
    text: 'Without its secret, which only the registration answers.',
    answers: [{ status: 200, schema: 'WebhookEndpoint', means: 'The address that is registered.' }]
  },
  'GET /v1/capabilities': {
    id: 'readCapabilities',
    tag: 'Service',
    summary: 'What this service can do',
    text: 'Limits and addresses, which depend on the environment of the key.',
    answers: [{ status: 200, schema: 'Capabilities', means: 'What it can do.' }]
  },
  'POST /v1/test/payments/{id}/chargeback': {
    id: 'chargeBackTestPayment',
    tag: 'Test',
    summary: 'Charge a payment back',
    text: `${TEST_ONLY} The card network books a chargeback and reports it, as in live. A payment that is charged back already stays so.`,
    answers: [
      { status: 200, schema: 'Payment', means: 'The payment, `charged_back`.' },
      { status: 202, schema: 'Payment', means: 'Booked at the network, and not verified yet: read the payment.' }
    ]
  },
  'POST /v1/test/payments/{id}/expire': {
    id: 'expireTestPayment',
    tag: 'Test',
    summary: 'Let a pre-authorisation expire now',
    text: `${TEST_ONLY} What follows bears the time of \`expires_at\`. A payment that is expired already stays so.`,
    answers: [
      { status: 200, schema: 'Payment', means: 'The payment, `expired`; the hold is released.' },
      { status: 202, schema: 'Payment', means: 'Asked of the workers, and not done yet: read the payment.' }
    ]
  },
  'POST /v1/test/webhook-events': {
    id: 'sendTestWebhookEvent',
    tag: 'Test',
    summary: 'Send a test event to your endpoint',
    text: `${TEST_ONLY} An event of the type \`webhook.test\`, signed and retried like every other one. Each request sends a new one.`,
    answers: [{ status: 201, schema: 'LoggedWebhookEvent', means: 'It is on its way.' }]
  },
  'GET /v1/test/webhook-events': {
    id: 'listTestWebhookEvents',
    tag: 'Test',
    summary: 'List the last webhook events, those that were sent last first',
    text: `${TEST_ONLY} An event that is being sent at this moment is missing until its attempt has ended.`,
    answers: [{ status: 200, schema: 'LoggedWebhookEventList', means: 'The last events, with their attempts.' }]
  },
  'POST /v1/test/webhook-events/{id}/replay': {
    id: 'replayTestWebhookEvent',
    tag: 'Test',
    summary: 'Send a webhook event again',
    text: `${TEST_ONLY} The same event with the same \`event_id\`. One that waits is sent at once.`,
    answers: [{ status: 200, schema: 'LoggedWebhookEvent', means: 'It is on its way again.' }]
  }
}

export const TOKEN_ROUTE = '/v1/tokens'

/** A route of the process `tokens`. */
export const tokenOperation: OperationWords = {
  id: 'createToken',
  tag: 'Tokens',
  summary: 'Turn a typed card, or the security code of a stored one, into a one-use token',
  text: "From the buyer's browser; a page normally leaves this to the hosted fields. Any origin may call it. With only `cvv` the token is a `cvv_token_id` for a payment with a stored card.",
  example: { ...demoCard },
  answers: [{ status: 201, schema: 'Token', means: 'The token, which lives 15 minutes and can be used once.' }]
}
