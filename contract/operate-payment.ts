/** Bodies of POST /v1/payments/{id}/capture and /cancel: their rules are the same, their descriptions differ. */
import { about, amountCents, requestObject } from './request-fields.js'

function bodyOf(amount: string) {
  return requestObject({ amount_cents: about(amount, amountCents) }, [], 'must be a JSON object, or no body at all')
}

export const operatePaymentBodies = {
  capture: bodyOf('what to capture; absent: the whole authorised amount'),
  cancel: bodyOf('what to refund; absent: everything that is left. A pre-authorisation is cancelled as a whole only')
}
