/** The body of a notification of the card network: `{"PaymentId": "<its sale id>", "ChangeType": 7}`. */
import { type FieldProblem, ServiceError } from '../../runtime/errors.js'

/**
 * What the network announces with each `ChangeType` (network protocol 6). Only these are about the money of a payment
 * of ours; the others (recurrence, antifraud, boleto) are answered and forgotten.
 */
const MONEY_CHANGES: Readonly<Record<number, string>> = {
  1: 'status change',
  5: 'cancellation denied',
  7: 'chargeback',
  8: 'fraud alert',
  25: 'partly cancelled'
}

const SALE_ID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/

/** The sale that has to be asked about, or null when the notification is about something else. Throws `invalid_request`. */
export function saleToAskAbout(body: unknown): string | null {
  const { PaymentId: saleId, ChangeType: changeType } = isObject(body) ? body : {}
  const problems: FieldProblem[] = []
  if (typeof saleId !== 'string' || !SALE_ID.test(saleId.toLowerCase())) {
    problems.push({ path: 'PaymentId', message: "must be the network's id of a sale, a UUID" })
  }
  if (!Number.isInteger(Number(changeType)) || changeType === '' || changeType === null) {
    problems.push({ path: 'ChangeType', message: 'must be a whole number' })
  }
  if (problems.length > 0 || typeof saleId !== 'string') throw new ServiceError('invalid_request', { fields: problems })
  return MONEY_CHANGES[Number(changeType)] === undefined ? null : saleId.toLowerCase()
}

function isObject(body: unknown): body is Readonly<Record<string, unknown>> {
  return typeof body === 'object' && body !== null && !Array.isArray(body)
}
