/** The errors of a route, by status; the rows of the catalogue are their examples. */
import { reference } from '../../../contract/answer-fields.js'
import { type ErrorCode, errorCatalogue, publicCodesOf } from '../../../contract/errors.js'
import { STANDARD_CODES } from '../../../contract/route.js'
import type { Json } from '../../../contract/schema.js'
import { headersOf, isAboutPayment } from './headers.js'
import { capitalised } from './requests.js'

const EXAMPLE_ID = '0193c1a5-7c2e-7f5a-8a3b-1d2e3f4a5b6c'

/** Names of responses. A status without a name fails the build of the document. */
const nameOfStatus: Readonly<Record<number, string>> = {
  400: 'BadRequest',
  401: 'Unauthorized',
  403: 'Forbidden',
  404: 'NotFound',
  408: 'RequestTimeout',
  409: 'Conflict',
  413: 'PayloadTooLarge',
  415: 'UnsupportedMediaType',
  422: 'Unprocessable',
  429: 'RateLimited',
  431: 'HeadersTooLarge',
  500: 'InternalError',
  503: 'Unavailable'
}

/** Keeps a response that stands in many routes under a name; answers the reference to it. */
export type ResponseCollector = (name: string, response: Json) => Json

/** What tells the errors of one route from those of others. */
interface Route {
  readonly id: string
  /** Whether it is a payment POST, whose errors may name a payment. */
  readonly movesMoney: boolean
}

/** Responses by status. Those that most routes share have plain names (`NotFound`), others begin with their operation. */
export function errorResponses(route: Route, codes: readonly ErrorCode[], collect: ResponseCollector): Json {
  const standard = byStatus(STANDARD_CODES)
  const responses = [...byStatus(codes)].map(([status, rows]) => {
    const isStandard = standard.get(status)?.join() === rows.join() && !(route.movesMoney && isAboutPayment(status))
    const name = `${isStandard ? '' : capitalised(route.id)}${nameOf(status)}`
    return [String(status), collect(name, responseOf(status, rows, route))] as const
  })
  return Object.fromEntries(responses)
}

function responseOf(status: number, rows: readonly ErrorCode[], { movesMoney }: Route): Json {
  return {
    description: publicCodesOf(rows)
      .map(code => `\`${code}\``)
      .join(', '),
    headers: headersOf(status, movesMoney),
    content: {
      'application/json': {
        schema: reference('Error'),
        examples: Object.fromEntries(rows.map(row => [row, exampleOf(row)]))
      }
    }
  }
}

function byStatus(codes: readonly ErrorCode[]): ReadonlyMap<number, readonly ErrorCode[]> {
  const statuses = [...new Set(codes.map(code => errorCatalogue[code].status))].sort((one, other) => one - other)
  return new Map(statuses.map(status => [status, codes.filter(code => errorCatalogue[code].status === status)]))
}

function nameOf(status: number): string {
  const name = nameOfStatus[status]
  if (name === undefined)
    throw new Error(`scripts/docs/openapi/error-responses.ts has no name for the status ${status}.`)
  return name
}

function exampleOf(row: ErrorCode): Json {
  const { message, retryable } = errorCatalogue[row]
  const code = publicCodesOf([row])[0]
  return {
    summary: `${code}${retryable ? ', retryable' : ''}`,
    value: { error: { code, message, retryable, request_id: EXAMPLE_ID } }
  }
}
