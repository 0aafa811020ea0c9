/** Query of GET /v1/payments (docs/API.md#get-v1payments). A repeated parameter is an array, which breaks its rule. */
import { parse as parseQuery } from 'node:querystring'
import { type PaymentStatus, paymentStatuses } from '../../machines/model.js'
import type { ListFilter } from '../../redis/payments/payments.js'
import { ServiceError } from '../../runtime/errors.js'
import { parserOf } from '../http/schema.js'
import { externalReference, object } from '../http/schema-fields.js'
import { decodeCursor } from './cursor.js'

const CURSOR_RULE = 'must be the next_cursor of a previous page of the same merchant'
const LIMIT_DEFAULT = 20

export const listPaymentsQuery = object(
  {
    status: { enum: paymentStatuses, rule: `must be one of ${paymentStatuses.join(', ')}` },
    external_reference: externalReference,
    limit: {
      type: 'string',
      pattern: '^([1-9][0-9]?|100)$',
      default: String(LIMIT_DEFAULT),
      rule: 'must be a whole number from 1 to 100'
    },
    cursor: { type: 'string', minLength: 1, rule: CURSOR_RULE }
  },
  [],
  'must be query parameters'
)

const parse = parserOf<{ status?: PaymentStatus; external_reference?: string; limit?: string; cursor?: string }>(
  listPaymentsQuery,
  'query'
)

/**
 * @param querystring what stands behind the `?`. Read here and not by koa, whose objects hide a parameter `__proto__`.
 * @throws `ServiceError` `invalid_request`, also for the cursor of another merchant
 */
export function parseListPayments(querystring: string, merchantId: string): ListFilter {
  if (!isDecodable(querystring)) {
    throw new ServiceError('invalid_request', { fields: [{ path: 'query', message: 'must be percent-encoded UTF-8' }] })
  }
  const { status, external_reference, limit, cursor } = parse(parseQuery(querystring, '&', '=', { maxKeys: 0 }))
  const afterId = cursor === undefined ? null : decodeCursor(merchantId, cursor)
  if (cursor !== undefined && afterId === null) {
    throw new ServiceError('invalid_request', { fields: [{ path: 'cursor', message: CURSOR_RULE }] })
  }
  return {
    status: status ?? null,
    externalReference: external_reference ?? null,
    limit: limit === undefined ? LIMIT_DEFAULT : Number(limit),
    afterId
  }
}

/** Without this, what is no UTF-8 would be looked for as replacement characters, and found to be nothing. */
function isDecodable(text: string): boolean {
  try {
    decodeURIComponent(text)
    return true
  } catch {
    return false
  }
}
