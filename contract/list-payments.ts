/** Query of GET /v1/payments (docs/API.md#get-v1payments). A repeated parameter is an array, which breaks its rule. */
import { type PaymentStatus, paymentStatuses } from '../machines/model.js'
import { about, externalReference, listLimit, requestObject } from './request-fields.js'
import type { Schema } from './schema.js'

export const CURSOR_RULE = 'must be the next_cursor of a previous page of the same merchant'

/** Up to ns, as clients in Go, Java and Python write them; payments have ms. */
const moment: Schema<string> = {
  type: 'string',
  pattern: '^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-5][0-9](\\.[0-9]{1,9})?(Z|[+-][0-9]{2}:[0-9]{2})$',
  format: 'date-time',
  rule: 'must be a time with its zone, such as 2026-01-02T12:00:00Z or 2026-01-02T12:00:00-03:00'
}

const status: Schema<PaymentStatus> = {
  enum: paymentStatuses,
  rule: `must be one of ${paymentStatuses.join(', ')}`
}

const cursor: Schema<string> = { type: 'string', minLength: 1, rule: CURSOR_RULE }

export const listPaymentsQuery = requestObject(
  {
    status: about('only payments with this status', status),
    external_reference: about('only payments with this order id', externalReference),
    created_from: about('only payments with a `created_at` of this time or later', moment),
    created_to: about('only payments with a `created_at` before this time', moment),
    limit: listLimit('how many payments a page has'),
    cursor: about('where to go on; it keeps the filters of its page, unless you send others', cursor)
  },
  [],
  'must be query parameters'
)
