/** Query of GET /v1/payments (docs/API.md#get-v1payments). A repeated parameter is an array, which breaks its rule. */

import { about, externalReference, listLimit, object } from '../../contract/request-fields.js'
import { type PaymentStatus, paymentStatuses } from '../../machines/model.js'
import type { ListFilter } from '../../redis/payments/payments.js'
import { parametersOf } from '../http/query.js'
import { parserOf } from '../http/schema.js'
import { invalidRequest } from '../http/service-error.js'
import { type Cursor, decodeCursor } from './cursor.js'

const CURSOR_RULE = 'must be the next_cursor of a previous page of the same merchant'

/** Up to ns, as clients in Go, Java and Python write them; payments have ms. */
const moment = {
  type: 'string',
  pattern: '^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-5][0-9](\\.[0-9]{1,9})?(Z|[+-][0-9]{2}:[0-9]{2})$',
  format: 'date-time',
  rule: 'must be a time with its zone, such as 2026-01-02T12:00:00Z or 2026-01-02T12:00:00-03:00'
}

export const listPaymentsQuery = object(
  {
    status: about('only payments with this status', {
      enum: paymentStatuses,
      rule: `must be one of ${paymentStatuses.join(', ')}`
    }),
    external_reference: about('only payments with this order id', externalReference),
    created_from: about('only payments with a `created_at` of this time or later', moment),
    created_to: about('only payments with a `created_at` before this time', moment),
    limit: about('how many payments a page has', listLimit),
    cursor: about('where to go on; it keeps the filters of its page, unless you send others', {
      type: 'string',
      minLength: 1,
      rule: CURSOR_RULE
    })
  },
  [],
  'must be query parameters'
)

/** The parameters that choose payments, as they are sent. */
interface ListParameters {
  readonly status?: PaymentStatus
  readonly external_reference?: string
  readonly created_from?: string
  readonly created_to?: string
}

const parse = parserOf<ListParameters & { limit?: string; cursor?: string }>(listPaymentsQuery, 'query')

/**
 * The filter of a page, and the parameters that the cursor of the next page keeps. A filter in the request replaces the
 * same filter in its cursor.
 *
 * @param querystring the part after the `?`
 * @throws `ServiceError` `invalid_request`, also for the cursor of another merchant
 */
export function parseListPayments(
  querystring: string,
  merchantId: string
): { readonly filter: ListFilter; readonly parameters: Cursor['parameters'] } {
  const { limit = listLimit.default, cursor, ...given } = parse(parametersOf(querystring))
  const from = cursor === undefined ? null : decodeCursor(merchantId, cursor)
  if (cursor !== undefined && from === null) throw invalidRequest('cursor', CURSOR_RULE)
  const parameters = { ...parse(from?.parameters ?? {}), ...given }
  const filter = {
    status: parameters.status ?? null,
    externalReference: parameters.external_reference ?? null,
    createdFromMs: momentOf(parameters.created_from),
    createdToMs: momentOf(parameters.created_to),
    limit: Number(limit),
    afterId: from?.afterId ?? null
  }
  const { createdFromMs, createdToMs } = filter
  if (createdFromMs !== null && createdToMs !== null && createdFromMs >= createdToMs) {
    throw invalidRequest('created_to', 'must be later than created_from')
  }
  return { filter, parameters }
}

/** A part of a ms counts as the next one: what was created in the ms before is not as late. */
function momentOf(time: string | undefined): number | null {
  if (time === undefined) return null
  return Date.parse(time) + (/\.\d{3}0*[1-9]/.test(time) ? 1 : 0)
}
