/** Made by `npm run docs` from the schemas of requests and answers (docs/openapi.json). */

export type ErrorCode =
  | 'invalid_request'
  | 'missing_idempotency_key'
  | 'unauthorized'
  | 'insufficient_scope'
  | 'merchant_disabled'
  | 'not_found'
  | 'method_not_allowed'
  | 'request_timeout'
  | 'idempotency_conflict'
  | 'idempotency_in_progress'
  | 'invalid_state'
  | 'payload_too_large'
  | 'unsupported_media_type'
  | 'preauth_expired'
  | 'amount_exceeds_authorized'
  | 'amount_exceeds_refundable'
  | 'too_many_refunds'
  | 'refund_reversed'
  | 'card_declined'
  | 'card_expired'
  | 'provider_rejected'
  | 'invalid_token'
  | 'invalid_card'
  | 'rate_limited'
  | 'internal_error'
  | 'network_unavailable'
  | 'authorization_overdue'
  | 'service_unavailable'

export type PaymentStatus =
  | 'pending'
  | 'pre_authorized'
  | 'capturing'
  | 'captured'
  | 'cancelling'
  | 'canceled'
  | 'refunding'
  | 'partially_refunded'
  | 'refunded'
  | 'charged_back'
  | 'expired'
  | 'failed'
  | 'unknown'

export type DeclineReason =
  | 'insufficient_funds'
  | 'limit_exceeded'
  | 'expired_card'
  | 'blocked_card'
  | 'not_permitted'
  | 'do_not_honor'
  | 'suspected_fraud'
  | 'invalid_data'
  | 'issuer_unavailable'
  | 'technical_error'
  | 'other'

export interface Refund {
  /** the amount of one refund; the oldest comes first: the list of refunds */
  readonly amount_cents: number
  /** `in_progress`, `succeeded`, `failed` or `unknown` (in doubt) */
  readonly state: 'in_progress' | 'succeeded' | 'failed' | 'unknown'
  /** the `Idempotency-Key` of the request that asked for it; null: refunded outside this service */
  readonly idempotency_key: string | null
  /** when it began; null: refunded outside this service; ISO 8601 in UTC */
  readonly requested_at: string | null
  /** when its outcome became known; null while it is in progress or unknown; ISO 8601 in UTC */
  readonly concluded_at: string | null
  readonly error?: PaymentFailure
}

export interface Operation {
  /** the last operation: `authorization`, `capture`, `cancel` or `refund` */
  readonly kind: 'authorization' | 'capture' | 'cancel' | 'refund'
  /** `in_progress`, `succeeded`, `failed` (the payment is as before) or `unknown` (in doubt) */
  readonly state: 'in_progress' | 'succeeded' | 'failed' | 'unknown'
  /** the amount to authorise, capture, release or refund */
  readonly amount_cents: number
  /** the `Idempotency-Key` of the request that asked for it: compare it, to tell your operation from another one */
  readonly idempotency_key: string
}

export interface PaymentFailure {
  /** absent unless it failed: why; `refund_reversed`: the network took the refund back */
  readonly code:
    | 'card_declined'
    | 'card_expired'
    | 'invalid_token'
    | 'network_unavailable'
    | 'provider_rejected'
    | 'authorization_overdue'
    | 'invalid_card'
    | 'refund_reversed'
  /** the same as a sentence */
  readonly message: string
  /** whether the same can succeed later, under a new `Idempotency-Key` */
  readonly retryable: boolean
}

export interface PaymentCard {
  /** brand of the card, such as `visa` */
  readonly brand: string
  /** last four digits */
  readonly last4: string
  /** the stored card, when it was paid with one */
  readonly card_id: string | null
}

export interface PaymentCustomer {
  /** as sent; `erased` after the buyer was erased, and `metadata` is `{}` then */
  readonly name: string
  /** as sent, or `erased@erased.invalid`; document, telephone and address are never answered */
  readonly email: string
}

export interface PaymentProvider {
  /** of the issuer */
  readonly authorization_code: string | null
  /** of the card network */
  readonly nsu: string | null
  /** of the card network */
  readonly tid: string | null
  /** why the issuer declined: the code of the network */
  readonly declined_code: string | null
  /** why the issuer declined, in words that are the same for all brands: docs/DECLINES.md; null unless it declined with a code */
  readonly decline_reason: DeclineReason | null
  /** whether the brand allows this card to be tried again, in a new payment; null as above */
  readonly may_retry: boolean | null
  /** with which code the network rejected the sale as such (`provider_rejected`): DECLINES.md */
  readonly rejection_code: string | null
}

export interface Payment {
  /** id of the payment */
  readonly id: string
  /** your order id, as sent */
  readonly external_reference: string
  /** docs/PAYMENTS.md says what each status means */
  readonly status: PaymentStatus
  /** `auto` (created with `capture` true) or `manual` */
  readonly capture_mode: 'auto' | 'manual'
  /** authorised amount, or the amount to authorise */
  readonly amount_cents: number
  /** captured so far */
  readonly captured_cents: number
  /** refunded so far by your requests */
  readonly refunded_cents: number
  /** as sent */
  readonly currency: 'BRL'
  /** as sent */
  readonly installments: number
  /** as sent */
  readonly statement_descriptor: string | null
  readonly card: PaymentCard
  readonly customer: PaymentCustomer
  readonly provider: PaymentProvider
  /** as sent; `{}` when there was none */
  readonly metadata: Readonly<Record<string, string | number | boolean | null>>
  /** end of the window to capture a pre-authorisation; ISO 8601 in UTC */
  readonly expires_at: string | null
  /** when the request was accepted; ISO 8601 in UTC */
  readonly created_at: string
  /** when the issuer approved; ISO 8601 in UTC */
  readonly authorized_at: string | null
  /** when it was captured; ISO 8601 in UTC */
  readonly captured_at: string | null
  /** when the pre-authorisation was cancelled; ISO 8601 in UTC */
  readonly canceled_at: string | null
  /** when it was last refunded; ISO 8601 in UTC */
  readonly refunded_at: string | null
  readonly refunds: readonly Refund[]
  readonly operation: Operation
  readonly error?: PaymentFailure
}

export interface PaymentPage {
  readonly items: readonly Payment[]
  /** Where the next page begins; null: this is the last one */
  readonly next_cursor: string | null
}

export interface Card {
  /** id of the stored card; works with the keys of your merchant only */
  readonly card_id: string
  /** `active`, or `expired`: a create with it is refused, 422 `card_expired` */
  readonly status: 'active' | 'expired'
  /** brand of the card */
  readonly brand: string
  /** last four digits */
  readonly last4: string
  /** `01` to `12` */
  readonly expiration_month: string
  /** four digits */
  readonly expiration_year: string
  /** the name on the card */
  readonly holder_name: string
}

export type RateLimit = {
  /** `rate_limit` is null when there is none: requests per second and key */
  readonly requests_per_second: number
  /** requests that a key may send at once after a pause */
  readonly burst: number
} | null

export interface Tokenization {
  /** whether cards can be typed */
  readonly available: boolean
  /** true in the test environment */
  readonly sandbox: boolean
  /** where the hosted fields and POST /v1/tokens are */
  readonly url: string
}

export interface Capabilities {
  /** `test` or `live` */
  readonly key_environment: 'test' | 'live'
  /** what `currency` may be */
  readonly currencies: readonly string[]
  /** what `installments` may be at most */
  readonly max_installments: number
  /** whether `customer.document` may be a CNPJ with capital letters, such as `12ABC34501DE35`; false: digits only */
  readonly cnpj_with_letters: boolean
  /** age at which a new payment that the service could not begin fails with `authorization_overdue`: nothing was sent */
  readonly authorize_within_seconds: number
  /** days in which a pre-authorisation can be captured */
  readonly preauth_ttl_days: number
  /** brands whose pre-authorisations have another number of days, such as `{"visa": 5}`; `{}` when there is none */
  readonly preauth_ttl_days_by_brand: Readonly<Record<string, number>>
  /** days for which the key of a create, capture or cancel is remembered */
  readonly idempotency_retention_days: number
  readonly rate_limit: RateLimit
  readonly tokenization: Tokenization
}

export interface FieldProblem {
  /** a field (`customer.email`), a parameter, `header …`, or `body`, `query` or `request` as a whole */
  readonly path: string
  /** the rule that is broken */
  readonly message: string
}

export interface ErrorDetail {
  /** one of ERRORS.md; decide by this */
  readonly code: ErrorCode
  /** what happened and what to do: for your logs, not for buyers */
  readonly message: string
  /** whether the same request can succeed later without a change: under a new `Idempotency-Key` where there is a `payment_id`, because the old one keeps this answer (except `idempotency_in_progress`); else under the same one */
  readonly retryable: boolean
  /** your `X-Correlation-Id`, when you sent one */
  readonly correlation_id?: string
  /** our id of the request, as in `X-Request-Id`: tell it to the operator */
  readonly request_id: string
  /** with `card_declined` and `card_expired` of a create: why the issuer declined, as `provider.decline_reason` of the payment */
  readonly decline_reason?: DeclineReason
  /** with `decline_reason`: whether the brand allows this card to be tried again, in a new payment */
  readonly may_retry?: boolean
  /** with `provider_rejected` of a create: the code of the network, as `provider.rejection_code` of the payment; `fields` names the field of a known one */
  readonly rejection_code?: string
  /** the payment, when the request has made or found one; with `idempotency_conflict` that of the first request */
  readonly payment_id?: string
  /** with `invalid_request`, `insufficient_scope` and some `invalid_card`: every broken rule. `path` is a field (`customer.email`), a parameter, `header …`, or `body`, `query` or `request` as a whole */
  readonly fields?: readonly FieldProblem[]
}

export interface ErrorEnvelope {
  readonly error: ErrorDetail
}
