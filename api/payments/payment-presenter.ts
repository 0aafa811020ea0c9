/** A payment as merchants see it (docs/API.md#the-payment). The terms lack the buyer's document, phone and address. */
import type { FailureCode, PaymentProgress, PaymentTerms } from '../../machines/model.js'
import { presentOperation } from '../../redis/webhooks/webhook-event.js'
import { type ErrorCode, type ErrorSpec, errorCatalogue } from '../../runtime/errors.js'

/** `operation` and `error` are absent when there is none; every other field is present, null while it has no value. */
export function presentPayment(terms: PaymentTerms, progress: PaymentProgress): Record<string, unknown> {
  const { references } = progress
  return {
    id: terms.id,
    external_reference: terms.externalReference,
    status: progress.status,
    capture_mode: terms.captureMode,
    amount_cents: terms.amountCents,
    captured_cents: progress.capturedCents,
    refunded_cents: progress.refundedCents,
    currency: terms.currency,
    installments: terms.installments,
    statement_descriptor: terms.statementDescriptor,
    card: { brand: terms.card.brand, last4: terms.card.last4, card_id: terms.card.cardId },
    customer: { name: terms.customer.name, email: terms.customer.email },
    provider: {
      authorization_code: references.authorizationCode,
      nsu: references.nsu,
      tid: references.tid,
      declined_code: progress.declinedCode
    },
    metadata: terms.metadata ?? {},
    expires_at: timestamp(progress.expiresAtMs),
    created_at: timestamp(terms.createdAtMs),
    authorized_at: timestamp(progress.authorizedAtMs),
    captured_at: timestamp(progress.capturedAtMs),
    canceled_at: timestamp(progress.canceledAtMs),
    refunded_at: timestamp(progress.refundedAtMs),
    operation: presentOperation(progress.operation),
    ...(progress.error === null ? {} : { error: presentFailure(progress.error, terms) })
  }
}

/**
 * Why an operation did not do what was asked, as a row of the error catalogue. A payment that lost its card data before it
 * was sent: without a token, what was lost is the CVV of a stored card.
 */
export function failureRow(code: FailureCode, { card }: PaymentTerms): ErrorCode {
  return code === 'invalid_token' && card.cardId !== null ? 'cvv_lost' : code
}

function presentFailure(code: FailureCode, terms: PaymentTerms): Record<string, unknown> {
  const row = failureRow(code, terms)
  const { message, retryable, publicCode = row }: ErrorSpec = errorCatalogue[row]
  return { code: publicCode, message, retryable }
}

function timestamp(ms: number | null): string | null {
  return ms === null ? null : new Date(ms).toISOString()
}
