/** Why an operation did not do what was asked, by what the network said about it. */
import { declineOf } from '../declines.js'
import type { FailureCode, Operation, PaymentTerms } from '../model.js'
import type { LifecycleEvent, Policy } from './events.js'

/** The row of the error catalogue for an operation that ended with this event. */
export function failureOf(
  terms: PaymentTerms,
  operation: Operation,
  event: LifecycleEvent,
  policy: Policy
): FailureCode {
  const isCapture = isCaptureOfCreate(terms, operation)
  const refused = isCapture ? 'capture_rejected' : 'provider_rejected'
  const unsent = isCapture ? 'capture_not_sent' : 'network_unavailable'
  switch (event.type) {
    case 'OPERATION_FAILED':
      return failureOf(terms, operation, event.outcome, policy)
    case 'DECLINED':
      return isCapture ? 'capture_rejected' : declinedAs(terms, event.code, policy)
    case 'REJECTED':
      return refused
    case 'NOT_SENT':
      return unsent
    case 'OPERATION_NOT_BOOKED':
      return event.isRefused ? refused : unsent
    case 'SALE_GONE':
      return operation.kind === 'authorization' && event.sale?.status === 'denied'
        ? declinedAs(terms, event.sale.declinedCode, policy)
        : 'provider_rejected'
    case 'RESOLVED_AS_MISSING':
    case 'SALE_ABSENT':
      return 'network_unavailable'
    case 'OVERDUE':
      return 'authorization_overdue'
    case 'CARD_MISSING':
      return event.failure
    default:
      return 'provider_rejected'
  }
}

/**
 * The capture that was asked for with the payment, after an authorisation without a capture. When it fails, the merchant
 * must know that the amount is held: another payment would hold it twice.
 */
function isCaptureOfCreate({ captureMode }: PaymentTerms, { kind }: Operation): boolean {
  return captureMode === 'auto' && kind === 'capture'
}

/** The same code means the same, whether the network answered at once or when it was asked. */
function declinedAs({ card }: PaymentTerms, code: string | null, { environment }: Policy): FailureCode {
  const isExpired = code !== null && declineOf(card.brand, code, environment).reason === 'expired_card'
  return isExpired ? 'card_expired' : 'card_declined'
}
