/** Reads the query of GET /v1/payments. */
import { CURSOR_RULE, listPaymentsQuery } from '../../contract/list-payments.js'
import { LIST_LIMIT_DEFAULT } from '../../contract/request-fields.js'
import type { ListFilter } from '../../redis/payments/list-payments.js'
import { parametersOf } from '../http/query.js'
import { parserOf } from '../http/schema.js'
import { invalidRequest } from '../http/service-error.js'
import { type Cursor, decodeCursor } from './cursor.js'

const parse = parserOf(listPaymentsQuery, 'query')

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
  const { limit = LIST_LIMIT_DEFAULT, cursor, ...given } = parse(parametersOf(querystring))
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
