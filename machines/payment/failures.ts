/** Why an operation did not do what was asked, by what the network said about it. */
import type { FailureCode, Operation, PaymentTerms } from '../model.js'
import type { PaymentEvent } from './events.js'

/** The row of the error catalogue for an operation that ended with this event. */
export function failureOf(terms: PaymentTerms, operation: Operation, event: PaymentEvent): FailureCode {
  switch (event.type) {
    case 'DECLINED':
      return isCaptureOfCreate(terms, operation) ? 'capture_rejected' : event.failure
    case 'REJECTED':
      return isCaptureOfCreate(terms, operation) ? 'capture_rejected' : 'provider_rejected'
    case 'NOT_SENT':
      return isCaptureOfCreate(terms, operation) ? 'capture_not_sent' : 'network_unavailable'
    case 'OPERATION_CONCLUDED':
      if (operation.kind === 'authorization') return 'network_unavailable'
      return isCaptureOfCreate(terms, operation) ? 'capture_rejected' : 'provider_rejected'
    case 'FOUND_DENIED':
      return operation.kind === 'authorization' ? 'card_declined' : 'provider_rejected'
    case 'CARD_MISSING':
      return event.failure
    case 'ABSENT':
      return 'network_unavailable'
    default:
      return 'provider_rejected'
  }
}

/**
 * The capture that was asked for with the payment, after an authorisation that did not capture by itself. When it does not
 * happen the merchant must know that the amount is held: who creates another payment then holds it twice.
 */
function isCaptureOfCreate({ captureMode }: PaymentTerms, { kind }: Operation): boolean {
  return captureMode === 'auto' && kind === 'capture'
}
