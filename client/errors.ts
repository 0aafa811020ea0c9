/** The errors of calls. Each class has a closed list of codes: decide by `code`. */
import type { DeclineReason, ErrorCode, ErrorEnvelope, Payment } from './answer-types.js'

/**
 * The service refused the request, or is unavailable. `retryable` and the codes: docs/ERRORS.md of the service.
 *
 * With a `paymentId` the Idempotency-Key keeps this answer for ever: a new try needs a new key.
 */
export class ApiError extends Error {
  override readonly name = 'ApiError'
  /** The HTTP status. */
  readonly status: number
  readonly code: ErrorCode
  /** Whether the same request can succeed later without a change. */
  readonly retryable: boolean
  /** The service's id of the request, for questions to the operator. */
  readonly requestId: string
  /** Yours, when you gave one. */
  readonly correlationId: string | undefined
  /** The payment, when the request made or found one. */
  readonly paymentId: string | undefined
  /** Why the issuer declined, with `card_declined` and `card_expired` of a create; `declineTexts` says it to buyers. */
  readonly declineReason: DeclineReason | undefined
  /** With `declineReason`: whether this card may be tried again, in a new payment. */
  readonly mayRetry: boolean | undefined
  /** With `provider_rejected` of a create: the code of the card network. */
  readonly rejectionCode: string | undefined
  /** Every broken rule of an `invalid_request`, and of some others. */
  readonly fields: readonly { readonly path: string; readonly message: string }[]

  constructor(status: number, error: ErrorEnvelope['error']) {
    const fields = error.fields ?? []
    super([error.message, ...fields.map(({ path, message }) => `${path}: ${message}.`)].join(' '))
    this.status = status
    this.code = error.code
    this.retryable = error.retryable
    this.requestId = error.request_id
    this.correlationId = error.correlation_id
    this.paymentId = error.payment_id
    this.declineReason = error.decline_reason
    this.mayRetry = error.may_retry
    this.rejectionCode = error.rejection_code
    this.fields = fields
  }
}

/**
 * `not_sent`: no try of the call sent anything · `timeout`: no answer within `timeoutMs` · `no_connection`: the connection failed ·
 * `unreadable`: the answer is not from the service
 */
export type NoAnswerCode = 'not_sent' | 'timeout' | 'no_connection' | 'unreadable'

/**
 * The service did not answer. The call can be repeated. A call that moves money ends with it only when it sent nothing
 * (`not_sent`): repeat it with the same `idempotencyKey`, because an earlier call with this key may have moved money.
 */
export class NoAnswerError extends Error {
  override readonly name = 'NoAnswerError'
  readonly code: NoAnswerCode
  /** The HTTP status of an `unreadable` answer, such as the 502 of a proxy. */
  readonly status: number | undefined

  constructor(code: NoAnswerCode, message: string, details: { cause?: unknown; status?: number } = {}) {
    super(message, { cause: details.cause })
    this.code = code
    this.status = details.status
  }
}

/**
 * The request may move money, or may have moved it: its result is not known yet. Show the order as pending. Make the same
 * call with the same `idempotencyKey` later; with a `payment`, its webhook or `payments.get` tells the result, too. Without
 * one, only the same call does. Never send it with another key.
 */
export class OutcomeUnknownError extends Error {
  override readonly name = 'OutcomeUnknownError'
  readonly code = 'outcome_unknown'
  /** The key of the call: write it down, and repeat the call with it. */
  readonly idempotencyKey: string
  /** The payment of the last answer (202); null when there was none. */
  readonly payment: Payment | null
  readonly paymentId: string | undefined

  /** `cause` is the last error: an `ApiError`, a `NoAnswerError` or the reason of the `AbortSignal`. */
  constructor(idempotencyKey: string, payment: Payment | null, cause: unknown) {
    const reason = cause instanceof Error ? cause.message : String(cause)
    super(`The result is not known yet: ${reason} Repeat the call with the same key, never with another.`, { cause })
    this.idempotencyKey = idempotencyKey
    this.payment = payment
    this.paymentId = payment?.id ?? (cause instanceof ApiError ? cause.paymentId : undefined)
  }
}
