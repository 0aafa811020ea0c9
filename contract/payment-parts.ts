/** Parts of a payment that merchants see in answers and in webhook events, in the same form. */
import type { Operation, Refund, ShownFailure } from '../machines/model.js'
import { errorCatalogue, publicCodeOf } from './errors.js'

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
    ...(refund.error === null ? {} : { error: presentFailure(refund.error) })
  }
}

/** The `error` of a payment, of a refund or of an event. */
export function presentFailure(failure: ShownFailure): Record<string, unknown> {
  const { message, retryable } = errorCatalogue[failure]
  return { code: publicCodeOf(failure), message, retryable }
}

/** ISO 8601 in UTC; null stays null. */
export function timestamp(ms: number | null): string | null {
  return ms === null ? null : new Date(ms).toISOString()
}
