/**
 * The one catalogue of errors that a merchant can meet. docs/ERRORS.md is generated from it.
 *
 * `retryable` answers one question: may the same request, with a new Idempotency-Key if it needs one, succeed later
 * without a change?
 */
import { WAITING_MAX } from '../machines/webhook-delivery.js'

export interface ErrorSpec {
  readonly status: number
  readonly retryable: boolean
  /** What happened and what to do, in one or two sentences, safe to show to any client. */
  readonly message: string
  /** The code that merchants see, where it differs from the name of the row. */
  readonly publicCode?: string
}

export const errorCatalogue = {
  invalid_request: {
    status: 400,
    retryable: false,
    message: 'The request breaks the rules listed in `fields`. Correct them and send it again.'
  },
  partial_void: {
    publicCode: 'invalid_request',
    status: 400,
    retryable: false,
    message:
      'A pre-authorisation is only undone as a whole. Nothing was changed; send the whole authorised amount or no amount_cents, with a new Idempotency-Key: this one keeps its answer.'
  },
  missing_idempotency_key: {
    status: 400,
    retryable: false,
    message:
      'The header Idempotency-Key is required on every payment POST. Send 1 to 255 printable ASCII characters, new for each intention to move money.'
  },
  unauthorized: {
    status: 401,
    retryable: false,
    message:
      'No valid key of this environment. Send `Authorization: Bearer <key>` with an active one: the secret key from your server, the publishable key to `tokens`.'
  },
  insufficient_scope: {
    status: 403,
    retryable: false,
    message: 'This API key may not do this: `fields` names the permission. Ask the operator for a key that has it.'
  },
  merchant_disabled: {
    status: 403,
    retryable: false,
    message: 'Online payments are not enabled for this merchant. Contact the operator.'
  },
  not_found: {
    status: 404,
    retryable: false,
    message: 'There is nothing at this address for this merchant. Check the id and the path.'
  },
  webhook_endpoint_missing: {
    publicCode: 'not_found',
    status: 404,
    retryable: false,
    message: 'No webhook endpoint is registered for this merchant. Register one with PUT /v1/webhook-endpoint.'
  },
  method_not_allowed: {
    status: 405,
    retryable: false,
    message: 'This address does not know this method. See the header Allow.'
  },
  request_timeout: {
    status: 408,
    retryable: true,
    message:
      'The request did not arrive in time, so nothing was done for it. Send it again, with the same Idempotency-Key if it has one.'
  },
  idempotency_conflict: {
    status: 409,
    retryable: false,
    message:
      'This Idempotency-Key was used with another path or body, and nothing was done now. Send the first request unchanged to get its answer, or a new key for a new intention. The field payment_id names the payment of the first request.'
  },
  idempotency_in_progress: {
    status: 409,
    retryable: true,
    message:
      'The payment of this Idempotency-Key is still being created. Wait, then repeat the request with the same key or read the payment.'
  },
  invalid_state: {
    status: 409,
    retryable: false,
    message: 'The payment is not in a status that allows this operation. Read the payment.'
  },
  operation_in_progress: {
    publicCode: 'invalid_state',
    status: 409,
    retryable: true,
    message:
      'Another operation of this payment is still in progress. Wait until it has ended, then use a new Idempotency-Key.'
  },
  simulator_missing: {
    publicCode: 'invalid_state',
    status: 409,
    retryable: false,
    message:
      'This installation has no simulator of the card network, so the payment was not charged back. Ask the operator to set SIMULATOR_URL, or to charge it back at the test system of the acquirer.'
  },
  too_many_events: {
    publicCode: 'invalid_state',
    status: 409,
    retryable: true,
    message: `So many events of this payment (${WAITING_MAX}) wait for its endpoint already. Nothing was added; send the request again when some have arrived.`
  },
  headers_too_large: {
    publicCode: 'invalid_request',
    status: 431,
    retryable: false,
    message: 'More than 100 headers, or more than 16 KiB of request line and headers. Nothing was done.'
  },
  payload_too_large: {
    status: 413,
    retryable: false,
    message: 'The body is larger than 64 KiB. Nothing was done; send a smaller one.'
  },
  unsupported_media_type: {
    status: 415,
    retryable: false,
    message:
      'The body must be JSON in UTF-8, not compressed. Send `Content-Type: application/json`, and no Content-Encoding.'
  },
  preauth_expired: {
    status: 422,
    retryable: false,
    message: 'The window to capture this pre-authorisation is over. Nothing was captured; create a new payment.'
  },
  amount_exceeds_authorized: {
    status: 422,
    retryable: false,
    message:
      'The amount is above the authorised amount. Nothing was captured; send at most `amount_cents` of the payment, with a new Idempotency-Key.'
  },
  amount_exceeds_refundable: {
    status: 422,
    retryable: false,
    message:
      'The amount is above what can still be refunded. Nothing was refunded; read the payment and send at most `captured_cents` less `refunded_cents`, with a new Idempotency-Key.'
  },
  too_many_refunds: {
    status: 422,
    retryable: false,
    message:
      'This payment has reached the maximum number of refunds. Nothing was refunded; refund all of the rest in one, without amount_cents and with a new Idempotency-Key.'
  },
  refund_reversed: {
    status: 422,
    retryable: true,
    message:
      'The card network took this refund back after it had succeeded. The buyer does not have the money; read the payment, and refund it again with a new Idempotency-Key.'
  },
  card_declined: {
    status: 422,
    retryable: false,
    message:
      'The issuer declined the card. Nothing was charged; provider.decline_reason of the payment says why, and provider.may_retry whether this card may be tried again. A new try needs a new Idempotency-Key.'
  },
  card_expired: {
    status: 422,
    retryable: false,
    message:
      'The card is expired. Nothing was charged; ask the buyer for another card, and send it with a new Idempotency-Key.'
  },
  provider_rejected: {
    status: 422,
    retryable: false,
    message:
      'The card network rejected the operation: nothing was charged, captured, canceled or refunded by it. Read the payment for its status.'
  },
  capture_rejected: {
    publicCode: 'provider_rejected',
    status: 422,
    retryable: false,
    message:
      'The amount is held on the card, and its capture was rejected. Capture or cancel this payment: another one would hold the amount a second time.'
  },
  invalid_token: {
    status: 422,
    retryable: false,
    message:
      'The token is unknown, expired or already used. This request charged nothing. If an earlier one with this token got no answer, repeat that one, with its Idempotency-Key; else let the buyer type the card again, or the security code of a stored card.'
  },
  cvv_lost: {
    publicCode: 'invalid_token',
    status: 422,
    retryable: true,
    message:
      'The security code for the stored card was lost before it was used. Nothing was charged; send the request again with a new Idempotency-Key and the cvv, or with a new cvv_token_id: let the buyer type the code again.'
  },
  invalid_card: {
    status: 422,
    retryable: false,
    message: 'The card cannot be used. Check the number; the test environment takes published test cards only.'
  },
  unknown_card: {
    publicCode: 'invalid_card',
    status: 422,
    retryable: false,
    message:
      'This merchant has no stored card with this card_id. Nothing was charged; check the card_id, or let the buyer type the card.'
  },
  rate_limited: {
    status: 429,
    retryable: true,
    message: 'Too many requests with this API key or from this address. Wait as long as Retry-After says.'
  },
  internal_error: {
    status: 500,
    retryable: true,
    message:
      'Something broke on our side. Send the request again, with the same Idempotency-Key if it has one: nothing is charged twice.'
  },
  network_unavailable: {
    status: 503,
    retryable: true,
    message:
      'The card network could not be reached. Nothing was charged, captured, canceled or refunded; a new Idempotency-Key is safe. A token can be used again with it; if that gets invalid_token, let the buyer type the card again.'
  },
  card_unreadable: {
    publicCode: 'network_unavailable',
    status: 503,
    retryable: true,
    message:
      'The service could not open the card data, so it sent nothing to the card network. Nothing was charged; a new Idempotency-Key is safe. A token can be used again with it; if that fails too, let the buyer type the card again.'
  },
  authorization_overdue: {
    status: 503,
    retryable: true,
    message:
      'The service was interrupted, and the payment was not authorised in time. Nothing was sent to the card network or charged. If the buyer still wants to pay, create a new payment with a new Idempotency-Key; if that gets invalid_token, let the buyer type the card again.'
  },
  capture_not_sent: {
    publicCode: 'network_unavailable',
    status: 503,
    retryable: false,
    message:
      'The amount is held on the card, and the card network could not be reached for its capture. Capture or cancel this payment: another one would hold the amount a second time.'
  },
  service_unavailable: {
    status: 503,
    retryable: true,
    message:
      'The service cannot reach its store just now. Send the request again, with the same Idempotency-Key if it has one: nothing is charged twice.'
  },
  money_waits: {
    publicCode: 'service_unavailable',
    status: 503,
    retryable: true,
    message:
      'The service takes no request that changes something until an operator has looked at its data. Nothing was done for this one: send it again later, with the same Idempotency-Key if it has one. Requests that read are answered.'
  },
  record_damaged: {
    publicCode: 'service_unavailable',
    status: 503,
    retryable: true,
    message:
      'A stored record that this request needs cannot be read. Nothing was done for this request, and an operator has been alerted. Send it again later, with the same Idempotency-Key if it has one.'
  },
  overloaded: {
    publicCode: 'service_unavailable',
    status: 503,
    retryable: true,
    message:
      'More requests have come than the service can work on, and this one was not looked at. If an earlier one with its Idempotency-Key was accepted, that one continues. Send it again after Retry-After, unchanged and with the same Idempotency-Key if it has one.'
  }
} as const satisfies Record<string, ErrorSpec>

export type ErrorCode = keyof typeof errorCatalogue

/** One broken rule: where in the request (`customer.document`, `header Idempotency-Key`) and what is expected. */
export interface FieldProblem {
  readonly path: string
  readonly message: string
}

/** The code that merchants see of a row. */
export function publicCodeOf(row: ErrorCode): string {
  const { publicCode = row }: ErrorSpec = errorCatalogue[row]
  return publicCode
}

/** The codes that merchants see of these rows, each one once. */
export function publicCodesOf(rows: readonly ErrorCode[]): string[] {
  return [...new Set(rows.map(publicCodeOf))]
}

/** Every code that merchants see, once. */
export const publicErrorCodes: readonly string[] = publicCodesOf(Object.keys(errorCatalogue) as ErrorCode[])
