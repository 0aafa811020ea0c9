/** What stands behind the `?` of a request. Read here and not by koa, whose objects hide a parameter `__proto__`. */
import { type ParsedUrlQuery, parse as parseQuery } from 'node:querystring'
import { ServiceError } from '../../runtime/errors.js'
import { parserOf } from './schema.js'
import { object } from './schema-fields.js'

const parseNoParameters = parserOf(object({}, [], 'must have no parameters'), 'query')

/** The parameters by name; a repeated one is an array. Throws `invalid_request` when it is no percent-encoded UTF-8. */
export function parametersOf(querystring: string): ParsedUrlQuery {
  if (!isDecodable(querystring)) {
    throw new ServiceError('invalid_request', { fields: [{ path: 'query', message: 'must be percent-encoded UTF-8' }] })
  }
  return parseQuery(querystring, '&', '=', { maxKeys: 0 })
}

/** For routes that know no parameter. Throws `invalid_request` when there is one. */
export function refuseParameters(querystring: string): void {
  if (querystring !== '') parseNoParameters(parametersOf(querystring))
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
