/** A payment as merchants see it (docs/API.md#the-payment). The terms lack the buyer's document, phone and address. */

import { presentFailure, presentOperation, presentRefund, timestamp } from '../../contract/payment-parts.js'
import { declineFailures, declineSentence } from '../../machines/decline-words.js'
import { type Decline, declineOf } from '../../machines/declines.js'
import type { Environment, FailureCode, Payment, PaymentProgress, PaymentTerms } from '../../machines/model.js'
import { shownFailureOf } from '../../machines/model.js'
import { authorizedCentsOf } from '../../machines/payment/sums.js'
import { rejectionCodeOf } from '../../machines/status-change.js'

/** A payment that was read. */
export function presentStored(payment: Payment, environment: Environment): Record<string, unknown> {
  return presentPayment(payment.terms, payment.progress, environment, rejectionCodeOf(payment))
}

/**
 * `operation` and `error` are absent when there is none; every other field is present, null while it has no value.
 *
 * @param rejectionCode of a sale that the network rejected; without one, such as in the result of an operation, there is none
 */
export function presentPayment(
  terms: PaymentTerms,
  progress: PaymentProgress,
  environment: Environment,
  rejectionCode: string | null = null
): Record<string, unknown> {
  const { references, declinedCode } = progress
  const decline = declinedCode === null ? null : declineOf(terms.card.brand, declinedCode, environment)
  return {
    id: terms.id,
    external_reference: terms.externalReference,
    status: progress.status,
    capture_mode: terms.captureMode,
    amount_cents: authorizedCentsOf(terms, progress),
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
      declined_code: declinedCode,
      decline_reason: decline?.reason ?? null,
      may_retry: decline?.mayRetry ?? null,
      rejection_code: rejectionCode
    },
    metadata: terms.metadata ?? {},
    expires_at: timestamp(progress.expiresAtMs),
    created_at: timestamp(terms.createdAtMs),
    authorized_at: timestamp(progress.authorizedAtMs),
    captured_at: timestamp(progress.capturedAtMs),
    canceled_at: timestamp(progress.canceledAtMs),
    refunded_at: timestamp(progress.refundedAtMs),
    refunds: progress.refunds.map(presentRefund),
    operation: presentOperation(progress.operation),
    ...(progress.error !== null && { error: presentError(progress.error, terms, decline) })
  }
}

/** A decline says its reason, as in the answer to the create. */
function presentError(code: FailureCode, terms: PaymentTerms, decline: Decline | null): Record<string, unknown> {
  const error = presentFailure(shownFailureOf(code, terms))
  return decline !== null && declineFailures.includes(code) ? { ...error, message: declineSentence(decline) } : error
}
