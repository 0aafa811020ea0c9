/** The body of a notification of the card network: `{"PaymentId": "<its sale id>", "ChangeType": 7}`. */
import type { ReportedChange } from '../../machines/model.js'
import type { NetworkNotification } from '../../redis/notifications/notifications.js'
import { type FieldProblem, ServiceError } from '../../runtime/errors.js'
import { isRecord } from '../../runtime/json.js'
import { isUuid } from '../../runtime/uuid.js'

/**
 * What the network reports with each `ChangeType`, by the acquirer's documents. Only these are about the money of a
 * payment of ours; the others (recurrence, antifraud, boleto) are answered and forgotten.
 */
const MONEY_CHANGES: Readonly<Record<number, ReportedChange>> = {
  // status change
  1: 'change',
  // cancellation denied
  5: 'denied_refund',
  7: 'chargeback',
  // fraud alert of the issuer: no money has moved yet
  8: 'change',
  // partly cancelled
  25: 'change'
}

/** What happened to which sale, or null when the notification is about something else. Throws `invalid_request`. */
export function notificationIn(body: unknown): NetworkNotification | null {
  const { PaymentId: saleId, ChangeType: changeType } = isRecord(body) ? body : {}
  const problems: FieldProblem[] = []
  if (typeof saleId !== 'string' || !isUuid(saleId)) {
    problems.push({ path: 'PaymentId', message: "must be the network's id of a sale, a UUID" })
  }
  if (!Number.isInteger(Number(changeType)) || changeType === '' || changeType === null) {
    problems.push({ path: 'ChangeType', message: 'must be a whole number' })
  }
  if (problems.length > 0 || typeof saleId !== 'string') throw new ServiceError('invalid_request', { fields: problems })
  const reported = MONEY_CHANGES[Number(changeType)]
  return reported === undefined ? null : { saleId: saleId.toLowerCase(), reported }
}
