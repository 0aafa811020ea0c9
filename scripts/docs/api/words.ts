/**
 * What the fields of answers and of typed cards mean, in the order in which docs/API.md prints them. Those of other requests
 * say it in their schemas.
 */

import type { FieldsToken } from '../../../api/tokens/browser/fields-values.js'
import type { TokenField } from '../../../api/tokens/card-input.js'

/** The types of answers' fields, as docs/API.md names them. */
export type AnswerType =
  | 'string'
  | 'string, UUID'
  | 'string or null'
  | 'integer'
  | 'integer or null'
  | 'boolean'
  | 'boolean or null'
  | 'timestamp'
  | 'timestamp or null'
  | 'object'
  | 'array of strings'
  | 'array of `{path, message}`'

/** Type and meaning by field. */
export type AnswerWords = Readonly<Record<string, readonly [type: AnswerType, meaning: string]>>

/** Meaning and rule of each field of POST /v1/tokens. */
export const tokenWords: Readonly<Record<TokenField, string>> = {
  card_number: 'the card number: 12 to 19 digits without spaces, with a valid check digit',
  holder_name: 'the name on the card: 1 to 120 characters, with fewer than 12 digits, because 12 may be a card number',
  expiration_month: 'month of expiry: `01` to `12`',
  expiration_year: 'year of expiry: four digits, not in the past',
  cvv: 'the security code: 3 or 4 digits; never written to a disk'
}

const TIME = 'timestamp or null'
const TEXT_OR_NULL = 'string or null'

const payment: AnswerWords = {
  id: ['string, UUID', 'id of the payment'],
  external_reference: ['string', 'your order id, as sent'],
  status: ['string', '[what each status means](PAYMENTS.md#what-each-status-means)'],
  capture_mode: ['string', '`auto` (created with `capture` true) or `manual`'],
  amount_cents: ['integer', 'authorised amount, or the amount to authorise'],
  captured_cents: ['integer', 'captured so far'],
  refunded_cents: ['integer', 'refunded so far by your requests'],
  currency: ['string', 'as sent'],
  installments: ['integer', 'as sent'],
  statement_descriptor: [TEXT_OR_NULL, 'as sent'],
  'card.brand': ['string', 'brand of the card, such as `visa`'],
  'card.last4': ['string', 'last four digits'],
  'card.card_id': [TEXT_OR_NULL, 'the stored card, when it was paid with one'],
  'customer.name': ['string', 'as sent; `erased` after the buyer was erased, and `metadata` is null then'],
  'customer.email': [
    'string',
    'as sent, or `erased@erased.invalid`; document, telephone and address are never answered'
  ],
  'provider.authorization_code': [TEXT_OR_NULL, 'of the issuer'],
  'provider.nsu': [TEXT_OR_NULL, 'of the card network'],
  'provider.tid': [TEXT_OR_NULL, 'of the card network'],
  'provider.declined_code': [TEXT_OR_NULL, 'why the issuer declined, in the words of the network'],
  'provider.decline_reason': [
    TEXT_OR_NULL,
    'why the issuer declined, in words that are the same for all brands: [docs/DECLINES.md](DECLINES.md); null unless it declined with a code'
  ],
  'provider.may_retry': [
    'boolean or null',
    'whether the brand allows this card to be tried again, in a new payment; null as above'
  ],
  metadata: ['object', 'as sent; `{}` when there was none'],
  expires_at: [TIME, 'end of the window to capture a pre-authorisation'],
  created_at: ['timestamp', 'when the request was accepted'],
  authorized_at: [TIME, 'when the issuer approved'],
  captured_at: [TIME, 'when it was captured'],
  canceled_at: [TIME, 'when the pre-authorisation was cancelled'],
  refunded_at: [TIME, 'when it was last refunded'],
  'refunds[].amount_cents': [
    'integer',
    'the amount of one refund; the oldest comes first: [the list of refunds](PAYMENTS.md#the-list-of-refunds)'
  ],
  'refunds[].state': ['string', '`in_progress`, `succeeded`, `failed` or `unknown` (being asked about)'],
  'refunds[].idempotency_key': [
    TEXT_OR_NULL,
    'the `Idempotency-Key` of the request that asked for it; null: refunded outside this service'
  ],
  'refunds[].requested_at': [TIME, 'when it began; null: refunded outside this service'],
  'refunds[].concluded_at': [TIME, 'when its outcome became known; null while it is in progress or unknown'],
  'refunds[].error.code': ['string', 'absent unless it failed: why; `refund_reversed`: the network took it back'],
  'refunds[].error.message': ['string', 'the same as a sentence'],
  'refunds[].error.retryable': ['boolean', 'whether the same can succeed later, under a new `Idempotency-Key`'],
  'operation.kind': ['string', 'the last operation: `authorization`, `capture`, `cancel` or `refund`'],
  'operation.state': [
    'string',
    '`in_progress`, `succeeded`, `failed` (the payment is as before) or `unknown` (being asked about)'
  ],
  'operation.amount_cents': [
    'integer',
    'what the operation is about: the amount to authorise, capture, release or refund'
  ],
  'operation.idempotency_key': [
    'string',
    'the `Idempotency-Key` of the request that asked for it: compare it, to tell your operation from another one'
  ],
  'error.code': ['string', 'absent without an error: why the last operation failed'],
  'error.message': ['string', 'the same as a sentence'],
  'error.retryable': ['boolean', 'whether the same can succeed later without a change, under a new `Idempotency-Key`']
}

/** Type and meaning of each field of an answer. */
export const answerWords = {
  payment,
  card: {
    card_id: ['string', 'id of the stored card; works with the keys of your merchant only'],
    status: ['string', '`active`'],
    brand: ['string', 'brand of the card'],
    last4: ['string', 'last four digits'],
    expiration_month: ['string', '`01` to `12`'],
    expiration_year: ['string', 'four digits'],
    holder_name: ['string', 'the name on the card']
  },
  'webhook endpoint': {
    url: ['string', 'where webhooks are posted'],
    secret: ['string', 'the signing secret, `whsec_…`; answered by PUT, never by GET'],
    signature_header: ['string', 'the header that carries the signature'],
    updated_at: ['timestamp', 'last change of the URL or the secret']
  },
  'webhook event': {
    event_id: ['string, UUID', 'the same each time that it is sent'],
    event_type: ['string', '`payment.status_changed`, or `webhook.test` for an event that you asked for'],
    payment_id: ['string, UUID', 'the payment; of a `webhook.test` there is none with this id'],
    status: ['string', 'of the payment after the change'],
    state: ['string', '`waiting` for its next attempt, `delivered`, or `undeliverable` (given up)'],
    occurred_at: ['timestamp', 'when the status changed'],
    next_attempt_at: [TIME, 'when it is sent again; null unless it waits for that'],
    'attempts[].at': ['timestamp', 'when it was sent, the oldest attempt first; the last 1,000 of all events are kept'],
    'attempts[].http_status': ['integer or null', 'what your endpoint answered; null: there was no answer'],
    'attempts[].duration_ms': ['integer', 'how long that took'],
    'attempts[].answer': ['string', 'the beginning of the answer, or why there was none']
  },
  capabilities: {
    key_environment: ['string', '`test` or `live`'],
    currencies: ['array of strings', 'what `currency` may be'],
    max_installments: ['integer', 'what `installments` may be at most'],
    cnpj_with_letters: [
      'boolean',
      'whether `customer.document` may be a CNPJ with capital letters, such as `12ABC34501DE35`; false: digits only'
    ],
    authorize_within_seconds: [
      'integer',
      'age at which a new payment that the service could not begin fails with `authorization_overdue`: nothing was sent'
    ],
    preauth_ttl_days: ['integer', 'days in which a pre-authorisation can be captured'],
    preauth_ttl_days_by_brand: [
      'object',
      'brands whose pre-authorisations have another number of days, such as `{"visa": 5}`; `{}` when there is none'
    ],
    idempotency_retention_days: ['integer', 'days for which the key of a create, capture or cancel is remembered'],
    'rate_limit.requests_per_second': [
      'integer',
      '`rate_limit` is null when there is none: requests per second and key'
    ],
    'rate_limit.burst': ['integer', 'requests that a key may send at once after a pause'],
    'tokenization.available': ['boolean', 'whether cards can be typed'],
    'tokenization.sandbox': ['boolean', 'true in the test environment'],
    'tokenization.url': ['string', 'where the hosted fields and POST /v1/tokens are']
  },
  error: {
    'error.code': ['string', 'one of [ERRORS.md](ERRORS.md); decide by this'],
    'error.message': ['string', 'what happened and what to do: for your logs, not for buyers'],
    'error.retryable': [
      'boolean',
      'whether the same request can succeed later without a change: under a new `Idempotency-Key` where there is a `payment_id`, because the old one keeps this answer (except `idempotency_in_progress`); else under the same one'
    ],
    'error.correlation_id': ['string, UUID', 'your `X-Correlation-Id`, when you sent one'],
    'error.request_id': ['string, UUID', 'our id of the request, as in `X-Request-Id`: tell it to the operator'],
    'error.payment_id': [
      'string, UUID',
      'the payment, when the request has made or found one; with `idempotency_conflict` that of the first request'
    ],
    'error.fields': [
      'array of `{path, message}`',
      'with `invalid_request`, `insufficient_scope` and some `invalid_card`: every broken rule. `path` is a field (`customer.email`), a parameter, `header …`, or `body`, `query` or `request` as a whole'
    ]
  }
} as const satisfies Record<string, AnswerWords>

/** The answer of POST /v1/tokens. */
export const tokenAnswer: Readonly<Record<keyof FieldsToken, readonly [AnswerType, string]>> = {
  token_id: ['string', 'the one-use token: for one payment, or for one stored card'],
  brand: ['string', 'brand of the card'],
  last4: ['string', 'last four digits'],
  expires_at: ['timestamp', 'until when it can be used']
}
