/**
 * The schemas of answers and of webhook events: types, known values and what each field means. docs/openapi.json and the
 * tables of docs/API.md are made of them. Every test that gets an answer holds it against them.
 *
 * A link in a description leads to another page of docs/; docs/openapi.json keeps its text only.
 */
import { CURRENCY } from '../../../api/http/schema-fields.js'
import type { FieldsToken } from '../../../api/tokens/browser/fields-values.js'
import { declineReasons } from '../../../machines/declines.js'
import { operationKinds, operationStates, paymentStatuses, shownFailures } from '../../../machines/model.js'
import { publicCodesOf, publicErrorCodes } from '../api/error-table.js'
import { eventSchemas } from './event-schemas.js'
import {
  cents,
  count,
  flag,
  flagOrNull,
  type Json,
  listOf,
  type ObjectSchema,
  object,
  oneOfKnown,
  reference,
  text,
  textOrNull,
  time,
  timeOrNull,
  uuid,
  VALUE_TYPES
} from './schema-parts.js'

const Refund = object(
  {
    amount_cents: cents(
      'the amount of one refund; the oldest comes first: [the list of refunds](PAYMENTS.md#the-list-of-refunds)'
    ),
    state: oneOfKnown('`in_progress`, `succeeded`, `failed` or `unknown` (in doubt)', operationStates),
    idempotency_key: textOrNull(
      'the `Idempotency-Key` of the request that asked for it; null: refunded outside this service'
    ),
    requested_at: timeOrNull('when it began; null: refunded outside this service'),
    concluded_at: timeOrNull('when its outcome became known; null while it is in progress or unknown'),
    error: reference('PaymentFailure')
  },
  ['error']
)

const Operation = object({
  kind: oneOfKnown('the last operation: `authorization`, `capture`, `cancel` or `refund`', operationKinds),
  state: oneOfKnown(
    '`in_progress`, `succeeded`, `failed` (the payment is as before) or `unknown` (in doubt)',
    operationStates
  ),
  amount_cents: cents('the amount to authorise, capture, release or refund'),
  idempotency_key: text(
    'the `Idempotency-Key` of the request that asked for it: compare it, to tell your operation from another one'
  )
})

/** Why an operation of a payment failed. */
const PaymentFailure = object({
  code: oneOfKnown(
    'absent unless it failed: why; `refund_reversed`: the network took the refund back',
    publicCodesOf(shownFailures)
  ),
  message: text('the same as a sentence'),
  retryable: flag('whether the same can succeed later, under a new `Idempotency-Key`')
})

const PaymentCard = object({
  brand: text('brand of the card, such as `visa`'),
  last4: text('last four digits'),
  card_id: textOrNull('the stored card, when it was paid with one')
})

const PaymentCustomer = object({
  name: text('as sent; `erased` after the buyer was erased, and `metadata` is `{}` then'),
  email: text('as sent, or `erased@erased.invalid`; document, telephone and address are never answered')
})

const PaymentProvider = object({
  authorization_code: textOrNull('of the issuer'),
  nsu: textOrNull('of the card network'),
  tid: textOrNull('of the card network'),
  declined_code: textOrNull('why the issuer declined: the code of the network'),
  decline_reason: oneOfKnown(
    'why the issuer declined, in words that are the same for all brands: [docs/DECLINES.md](DECLINES.md); null unless it declined with a code',
    declineReasons,
    ['string', 'null']
  ),
  may_retry: flagOrNull('whether the brand allows this card to be tried again, in a new payment; null as above'),
  rejection_code: textOrNull(
    'with which code the network rejected the sale as such (`provider_rejected`): [DECLINES.md](DECLINES.md#rejected-sales)'
  )
})

const Payment = object(
  {
    id: uuid('id of the payment'),
    external_reference: text('your order id, as sent'),
    status: oneOfKnown(
      '[docs/PAYMENTS.md](PAYMENTS.md#what-each-status-means) says what each status means',
      paymentStatuses
    ),
    capture_mode: oneOfKnown('`auto` (created with `capture` true) or `manual`', ['auto', 'manual']),
    amount_cents: cents('authorised amount, or the amount to authorise'),
    captured_cents: cents('captured so far'),
    refunded_cents: cents('refunded so far by your requests'),
    currency: oneOfKnown('as sent', [CURRENCY]),
    installments: count('as sent'),
    statement_descriptor: textOrNull('as sent'),
    card: reference('PaymentCard'),
    customer: reference('PaymentCustomer'),
    provider: reference('PaymentProvider'),
    // Without types of its values: generators make unreadable ones of several types at once.
    metadata: {
      type: 'object',
      additionalProperties: true,
      [VALUE_TYPES]: ['string', 'number', 'boolean', 'null'],
      description: 'as sent; `{}` when there was none'
    },
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
  status: oneOfKnown('`active`, or `expired`: a create with it is refused, 422 `card_expired`', ['active', 'expired']),
  brand: text('brand of the card'),
  last4: text('last four digits'),
  expiration_month: text('`01` to `12`'),
  expiration_year: text('four digits'),
  holder_name: text('the name on the card')
})

const RateLimit = {
  ...object({
    requests_per_second: count('`rate_limit` is null when there is none: requests per second and key'),
    burst: count('requests that a key may send at once after a pause')
  }),
  type: ['object', 'null']
}

const Tokenization = object({
  available: flag('whether cards can be typed'),
  sandbox: flag('true in the test environment'),
  url: text('where the hosted fields and POST /v1/tokens are')
})

const Capabilities = object({
  key_environment: oneOfKnown('`test` or `live`', ['test', 'live']),
  currencies: { ...listOf({ type: 'string' }), description: 'what `currency` may be' },
  max_installments: count('what `installments` may be at most'),
  cnpj_with_letters: flag(
    'whether `customer.document` may be a CNPJ with capital letters, such as `12ABC34501DE35`; false: digits only'
  ),
  authorize_within_seconds: count(
    'age at which a new payment that the service could not begin fails with `authorization_overdue`: nothing was sent'
  ),
  preauth_ttl_days: count('days in which a pre-authorisation can be captured'),
  preauth_ttl_days_by_brand: {
    type: 'object',
    additionalProperties: { type: 'integer', format: 'int32' },
    description:
      'brands whose pre-authorisations have another number of days, such as `{"visa": 5}`; `{}` when there is none'
  },
  idempotency_retention_days: count('days for which the key of a create, capture or cancel is remembered'),
  rate_limit: reference('RateLimit'),
  tokenization: reference('Tokenization')
})

const Token = object({
  token_id: text('the one-use token: for one payment, or for one stored card; of a `cvv` alone a `cvv_token_id`'),
  brand: textOrNull('brand of the card; null: a token of a `cvv` alone'),
  last4: textOrNull('last four digits; null: as above'),
  expires_at: time('until when it can be used')
} satisfies Record<keyof FieldsToken, Json>)

const FieldProblem = object({
  path: text('a field (`customer.email`), a parameter, `header …`, or `body`, `query` or `request` as a whole'),
  message: text('the rule that is broken')
})

const ErrorDetail = object(
  {
    code: oneOfKnown('one of [ERRORS.md](ERRORS.md); decide by this', publicErrorCodes),
    message: text('what happened and what to do: for your logs, not for buyers'),
    retryable: flag(
      'whether the same request can succeed later without a change: under a new `Idempotency-Key` where there is a `payment_id`, because the old one keeps this answer (except `idempotency_in_progress`); else under the same one'
    ),
    correlation_id: uuid('your `X-Correlation-Id`, when you sent one'),
    request_id: uuid('our id of the request, as in `X-Request-Id`: tell it to the operator'),
    decline_reason: oneOfKnown(
      'with `card_declined` and `card_expired` of a create: why the issuer declined, as `provider.decline_reason` of the payment',
      declineReasons
    ),
    may_retry: flag('with `decline_reason`: whether the brand allows this card to be tried again, in a new payment'),
    rejection_code: text(
      'with `provider_rejected` of a create: the code of the network, as `provider.rejection_code` of the payment; `fields` names the field of a known one'
    ),
    payment_id: uuid(
      'the payment, when the request has made or found one; with `idempotency_conflict` that of the first request'
    ),
    fields: {
      ...listOf(reference('FieldProblem')),
      description:
        'with `invalid_request`, `insufficient_scope` and some `invalid_card`: every broken rule. `path` is a field (`customer.email`), a parameter, `header …`, or `body`, `query` or `request` as a whole'
    }
  },
  ['correlation_id', 'decline_reason', 'may_retry', 'rejection_code', 'payment_id', 'fields']
)

/** By the name that a generated client gives to the type. None begins with `New`: Go has functions of such names. */
export const answerSchemas = {
  Refund,
  Operation,
  PaymentFailure,
  PaymentCard,
  PaymentCustomer,
  PaymentProvider,
  Payment,
  PaymentPage,
  Card,
  ...eventSchemas,
  RateLimit,
  Tokenization,
  Capabilities,
  FieldProblem,
  ErrorDetail,
  Error: object({ error: reference('ErrorDetail') }),
  Token
} as const satisfies Record<string, ObjectSchema>
