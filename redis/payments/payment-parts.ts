/** Parts of a payment that merchants see in answers and in webhook events, in the same form. */
import type { FailureCode, Operation, Payment, PaymentTerms, Refund } from '../../machines/model.js'
import { type ErrorCode, type ErrorSpec, errorCatalogue } from '../../runtime/errors.js'

export function presentOperation({ kind, state, amountCents, idempotencyKey }: Operation): Record<string, unknown> {
  return { kind, state, amount_cents: amountCents, idempotency_key: idempotencyKey }
}

/** `error` is absent when there is none; every other field is present, null while it has no value. */
export function presentRefund(refund: Refund): Record<string, unknown> {
  return {
    amount_cents: refund.amountCents,
    state: refund.state,
    idempotency_key: refund.idempotencyKey,
    requested_at: timestamp(refund.requestedAtMs),
    concluded_at: timestamp(refund.concludedAtMs),
    ...(refund.error === null ? {} : { error: presentError(refund.error) })
  }
}

/** A row of the error catalogue as the `error` of a payment, of a refund or of an event. */
export function presentError(row: ErrorCode): Record<string, unknown> {
  const { message, retryable, publicCode = row }: ErrorSpec = errorCatalogue[row]
  return { code: publicCode, message, retryable }
}

/**
 * Why an operation did not do what was asked, as a row of the error catalogue. A payment that lost its card data before it
 * was sent: without a token, what was lost is the CVV of a stored card.
 */
export function failureRow(code: FailureCode, { card }: PaymentTerms): ErrorCode {
  return code === 'invalid_token' && card.cardId !== null ? 'cvv_lost' : code
}

/** The code with which the network rejected the sale; null when it did not. Only the history has it. */
export function rejectionCodeOf({ history, progress }: Pick<Payment, 'history' | 'progress'>): string | null {
  if (progress.status !== 'failed' || progress.error !== 'provider_rejected') return null
  const line = history.find(({ event }) => event === 'REJECTED')
  return line?.detail?.replace(/^code /, '') ?? null
}

/** ISO 8601 in UTC; null stays null. */
export function timestamp(ms: number | null): string | null {
  return ms === null ? null : new Date(ms).toISOString()
}
