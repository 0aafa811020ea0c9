/** Parameters of a request. Not parsed by koa, whose objects hide a parameter `__proto__`. */
import { type ParsedUrlQuery, parse as parseQuery } from 'node:querystring'
import { requestObject } from '../../contract/request-fields.js'
import { parserOf } from './schema.js'
import { invalidRequest } from './service-error.js'

const parseNoParameters = parserOf(requestObject({}, [], 'must have no parameters'), 'query')

/** The parameters by name; a repeated one is an array. Throws `invalid_request` when it is no percent-encoded UTF-8. */
export function parametersOf(querystring: string): ParsedUrlQuery {
  if (!isDecodable(querystring)) throw invalidRequest('query', 'must be percent-encoded UTF-8')
  return parseQuery(querystring, '&', '=', { maxKeys: 0 })
}

/** For routes that know no parameter. Throws `invalid_request` when there is one. */
export function refuseParameters(querystring: string): void {
  if (querystring !== '') parseNoParameters(parametersOf(querystring))
}

/** Invalid UTF-8 would become replacement characters, and a search for them would find nothing. */
function isDecodable(text: string): boolean {
  try {
    decodeURIComponent(text)
    return true
  } catch {
    return false
  }
}
