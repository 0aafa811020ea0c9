/** Why an operation did not do what was asked, as a row of the error catalogue. */
import type { FailureCode, PaymentTerms } from '../../machines/model.js'
import type { ErrorCode } from '../../runtime/errors.js'

/** A payment that lost its card data before it was sent: without a token, what was lost is the CVV of a stored card. */
export function failureRow(code: FailureCode, { card }: PaymentTerms): ErrorCode {
  return code === 'invalid_token' && card.cardId !== null ? 'cvv_lost' : code
}
