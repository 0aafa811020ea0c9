/**
 * The schemas of answers and of webhook events: types, closed lists and what each field means. docs/openapi.json and the
 * tables of docs/API.md are made of them. Every test that gets an answer holds it against them.
 *
 * A link in a description leads to another page of docs/; docs/openapi.json keeps its text only.
 */
import { CURRENCY } from '../../../api/http/schema-fields.js'
import type { FieldsToken } from '../../../api/tokens/browser/fields-values.js'
import { declineReasons } from '../../../machines/declines.js'
import { operationKinds, operationStates, paymentStatuses } from '../../../machines/model.js'
import { EVENT_TYPE, TEST_EVENT_TYPE } from '../../../redis/webhooks/webhook-event.js'
import { loggedStates } from '../../../redis/webhooks/webhook-log.js'
import type { ErrorCode } from '../../../runtime/errors.js'
import { failureCodes, publicCodesOf, publicErrorCodes } from '../api/error-table.js'

export type Json = Readonly<Record<string, unknown>>

export type ObjectSchema = Json & { readonly properties: Readonly<Record<string, Json>> }

const field =
  (facts: Json) =>
  (description: string, more: Json = {}): Json => ({ ...facts, description, ...more })

const text = field({ type: 'string' })
const textOrNull = field({ type: ['string', 'null'] })
const uuid = field({ type: 'string', format: 'uuid' })
const integer = field({ type: 'integer' })
const flag = field({ type: 'boolean' })
const time = field({ type: 'string', format: 'date-time' })
const timeOrNull = field({ type: ['string', 'null'], format: 'date-time' })
const listOf = (items: Json): Json => ({ type: 'array', items })
const reference = (name: string): Json => ({ $ref: `#/components/schemas/${name}` })

/** Fields are always there, but for those named as optional. */
function object(properties: Readonly<Record<string, Json>>, optional: readonly string[] = []): ObjectSchema {
  return { type: 'object', required: Object.keys(properties).filter(name => !optional.includes(name)), properties }
}

/** Of the answer to a create that the issuer declined. */
const declineFields = {
  decline_reason: text(
    'with `card_declined` and `card_expired` of a create: why the issuer declined, as `provider.decline_reason` of the payment',
    { enum: declineReasons }
  ),
  may_retry: flag('with `decline_reason`: whether the brand allows this card to be tried again, in a new payment')
}

const Refund = object(
  {
    amount_cents: integer(
      'the amount of one refund; the oldest comes first: [the list of refunds](PAYMENTS.md#the-list-of-refunds)'
    ),
    state: text('`in_progress`, `succeeded`, `failed` or `unknown` (in doubt)', { enum: operationStates }),
    idempotency_key: textOrNull(
      'the `Idempotency-Key` of the request that asked for it; null: refunded outside this service'
    ),
    requested_at: timeOrNull('when it began; null: refunded outside this service'),
    concluded_at: timeOrNull('when its outcome became known; null while it is in progress or unknown'),
    error: reasonOf('absent unless it failed: why; `refund_reversed`: the network took it back', publicErrorCodes)
  },
  ['error']
)

const Operation = object({
  kind: text('the last operation: `authorization`, `capture`, `cancel` or `refund`', { enum: operationKinds }),
  state: text('`in_progress`, `succeeded`, `failed` (the payment is as before) or `unknown` (in doubt)', {
    enum: operationStates
  }),
  amount_cents: integer('the amount to authorise, capture, release or refund'),
  idempotency_key: text(
    'the `Idempotency-Key` of the request that asked for it: compare it, to tell your operation from another one'
  )
})

const PaymentFailure = reasonOf('absent without an error: why the last operation failed', publicCodesOf(failureCodes))

const Payment = object(
  {
    id: uuid('id of the payment'),
    external_reference: text('your order id, as sent'),
    status: text('[docs/PAYMENTS.md](PAYMENTS.md#what-each-status-means) says what each status means', {
      enum: paymentStatuses
    }),
    capture_mode: text('`auto` (created with `capture` true) or `manual`', { enum: ['auto', 'manual'] }),
    amount_cents: integer('authorised amount, or the amount to authorise'),
    captured_cents: integer('captured so far'),
    refunded_cents: integer('refunded so far by your requests'),
    currency: text('as sent', { enum: [CURRENCY] }),
    installments: integer('as sent'),
    statement_descriptor: textOrNull('as sent'),
    card: object({
      brand: text('brand of the card, such as `visa`'),
      last4: text('last four digits'),
      card_id: textOrNull('the stored card, when it was paid with one')
    }),
    customer: object({
      name: text('as sent; `erased` after the buyer was erased, and `metadata` is `{}` then'),
      email: text('as sent, or `erased@erased.invalid`; document, telephone and address are never answered')
    }),
    provider: object({
      authorization_code: textOrNull('of the issuer'),
      nsu: textOrNull('of the card network'),
      tid: textOrNull('of the card network'),
      declined_code: textOrNull('why the issuer declined: the code of the network'),
      decline_reason: textOrNull(
        'why the issuer declined, in words that are the same for all brands: [docs/DECLINES.md](DECLINES.md); null unless it declined with a code',
        { enum: [...declineReasons, null] }
      ),
      may_retry: field({ type: ['boolean', 'null'] })(
        'whether the brand allows this card to be tried again, in a new payment; null as above'
      )
    }),
    metadata: field({
      type: 'object',
      additionalProperties: { anyOf: ['string', 'number', 'boolean', 'null'].map(type => ({ type })) }
    })('as sent; `{}` when there was none'),
    expires_at: timeOrNull('end of the window to capture a pre-authorisation'),
    created_at: time('when the request was accepted'),
    authorized_at: timeOrNull('when the issuer approved'),
    captured_at: timeOrNull('when it was captured'),
    canceled_at: timeOrNull('when the pre-authorisation was cancelled'),
    refunded_at: timeOrNull('when it was last refunded'),
    refunds: listOf(reference('Refund')),
    operation: reference('Operation'),
    error: reference('PaymentFailure')
  },
  ['error']
)

const PaymentPage = object({
  items: listOf(reference('Payment')),
  next_cursor: textOrNull('Where the next page begins; null: this is the last one')
})

const Card = object({
  card_id: text('id of the stored card; works with the keys of your merchant only'),
  status: text('`active`', { enum: ['active'] }),
  brand: text('brand of the card'),
  last4: text('last four digits'),
  expiration_month: text('`01` to `12`'),
  expiration_year: text('four digits'),
  holder_name: text('the name on the card')
})

const endpoint = {
  signature_header: text('the header that carries the signature'),
  updated_at: time('last change of the URL or the secret')
}
const url = text('where webhooks are posted')
const secret = text('the signing secret, `whsec_…`; answered by PUT, never by GET')

const WebhookEvent = object({
  event_id: uuid('the same each time that it is sent'),
  event_type: text('`payment.status_changed`, or `webhook.test` for an event that you asked for', {
    enum: [EVENT_TYPE, TEST_EVENT_TYPE]
  }),
  payment_id: uuid('the payment; of a `webhook.test` there is none with this id'),
  status: text('of the payment after the change', { enum: paymentStatuses }),
  state: text('`waiting` for its next attempt, `delivered`, or `undeliverable` (given up)', { enum: loggedStates }),
  occurred_at: time('when the status changed'),
  next_attempt_at: timeOrNull('when it is sent again; null unless it waits for that'),
  attempts: listOf(
    object({
      at: time('when it was sent, the oldest attempt first; the last 1,000 of all events are kept'),
      http_status: field({ type: ['integer', 'null'] })('what your endpoint answered; null: there was no answer'),
      duration_ms: integer('how long that took'),
      answer: text('the beginning of the answer, or why there was none')
    })
  )
})

const Capabilities = object({
  key_environment: text('`test` or `live`', { enum: ['test', 'live'] }),
  currencies: field({ type: 'array', items: { type: 'string' } })('what `currency` may be'),
  max_installments: integer('what `installments` may be at most'),
  cnpj_with_letters: flag(
    'whether `customer.document` may be a CNPJ with capital letters, such as `12ABC34501DE35`; false: digits only'
  ),
  authorize_within_seconds: integer(
    'age at which a new payment that the service could not begin fails with `authorization_overdue`: nothing was sent'
  ),
  preauth_ttl_days: integer('days in which a pre-authorisation can be captured'),
  preauth_ttl_days_by_brand: field({ type: 'object', additionalProperties: { type: 'integer' } })(
    'brands whose pre-authorisations have another number of days, such as `{"visa": 5}`; `{}` when there is none'
  ),
  idempotency_retention_days: integer('days for which the key of a create, capture or cancel is remembered'),
  rate_limit: {
    ...object({
      requests_per_second: integer('`rate_limit` is null when there is none: requests per second and key'),
      burst: integer('requests that a key may send at once after a pause')
    }),
    type: ['object', 'null']
  },
  tokenization: object({
    available: flag('whether cards can be typed'),
    sandbox: flag('true in the test environment'),
    url: text('where the hosted fields and POST /v1/tokens are')
  })
})

const Token = object({
  token_id: text('the one-use token: for one payment, or for one stored card'),
  brand: text('brand of the card'),
  last4: text('last four digits'),
  expires_at: time('until when it can be used')
} satisfies Record<keyof FieldsToken, Json>)

const cents = { type: 'integer', minimum: 0 }
const PaymentStatusChanged = object(
  {
    event_id: uuid('The same for each delivery: discard what you have seen'),
    event_type: text('`webhook.test`: sent on request in the test environment, about no payment', {
      enum: [EVENT_TYPE, TEST_EVENT_TYPE]
    }),
    payment_id: { type: 'string', format: 'uuid' },
    external_reference: text('Your order id'),
    status: text('After the change', { enum: paymentStatuses }),
    amount_cents: cents,
    captured_cents: cents,
    refunded_cents: cents,
    refunds: listOf(reference('Refund')),
    operation: reference('Operation'),
    error: reference('PaymentFailure'),
    occurred_at: { type: 'string', format: 'date-time' }
  },
  ['error']
)

/** By the name that a generated client gives to the type. */
export const answerSchemas = {
  Refund,
  Operation,
  PaymentFailure,
  Payment,
  PaymentPage,
  Card,
  NewWebhookEndpoint: object({ url, secret, ...endpoint }),
  WebhookEndpoint: object({ url, ...endpoint }),
  WebhookEvent,
  WebhookEventList: object({ items: listOf(reference('WebhookEvent')) }),
  Capabilities,
  Token,
  Error: envelope(publicErrorCodes),
  PaymentStatusChanged
} as const satisfies Record<string, ObjectSchema>

/** The body of an error that has one of these codes. */
export function errorSchema(codes: readonly ErrorCode[]): ObjectSchema {
  return envelope(publicCodesOf(codes))
}

/** Why an operation of a payment failed. */
function reasonOf(code: string, codes: readonly string[]): ObjectSchema {
  return object({
    code: text(code, { enum: codes }),
    message: text('the same as a sentence'),
    retryable: flag('whether the same can succeed later, under a new `Idempotency-Key`')
  })
}

function envelope(codes: readonly string[]): ObjectSchema {
  const error = object(
    {
      code: text('one of [ERRORS.md](ERRORS.md); decide by this', { enum: codes }),
      message: text('what happened and what to do: for your logs, not for buyers'),
      retryable: flag(
        'whether the same request can succeed later without a change: under a new `Idempotency-Key` where there is a `payment_id`, because the old one keeps this answer (except `idempotency_in_progress`); else under the same one'
      ),
      correlation_id: uuid('your `X-Correlation-Id`, when you sent one'),
      request_id: uuid('our id of the request, as in `X-Request-Id`: tell it to the operator'),
      ...(codes.includes('card_declined') && declineFields),
      payment_id: uuid(
        'the payment, when the request has made or found one; with `idempotency_conflict` that of the first request'
      ),
      fields: field({
        type: 'array',
        items: object({ path: { type: 'string' }, message: { type: 'string' } })
      })(
        'with `invalid_request`, `insufficient_scope` and some `invalid_card`: every broken rule. `path` is a field (`customer.email`), a parameter, `header …`, or `body`, `query` or `request` as a whole'
      )
    },
    ['correlation_id', ...Object.keys(declineFields), 'payment_id', 'fields']
  )
  return object({ error })
}
