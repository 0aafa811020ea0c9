/** The errors of a route, by status; the rows of the catalogue are their examples. */
import { type ErrorCode, type ErrorSpec, errorCatalogue } from '../../../runtime/errors.js'
import { headersOf } from './headers.js'

type Json = Readonly<Record<string, unknown>>

const EXAMPLE_ID = '0193c1a5-7c2e-7f5a-8a3b-1d2e3f4a5b6c'

/** The same response stands in many routes: it is kept under a name, and `collect` answers the reference to it. */
export type ResponseCollector = (name: string, response: Json) => Json

/** Responses by status. `movesMoney`: of a payment POST, whose errors may name a payment. */
export function errorResponses(codes: readonly ErrorCode[], movesMoney: boolean, collect: ResponseCollector): Json {
  const byStatus = new Map<number, ErrorCode[]>()
  for (const code of codes) {
    const { status } = errorCatalogue[code]
    byStatus.set(status, [...(byStatus.get(status) ?? []), code])
  }
  const statuses = [...byStatus].sort(([one], [other]) => one - other)
  return Object.fromEntries(
    statuses.map(([status, rows]) => {
      const publicCodes = [...new Set(rows.map(publicCodeOf))]
      const response = {
        description: publicCodes.map(code => `\`${code}\``).join(', '),
        headers: headersOf(status, movesMoney),
        content: {
          'application/json': {
            schema: { $ref: '#/components/schemas/Error' },
            examples: Object.fromEntries(rows.map(row => [row, exampleOf(row)]))
          }
        }
      }
      return [String(status), collect([status, ...publicCodes].join('.'), response)]
    })
  )
}

function exampleOf(row: ErrorCode): Json {
  const { message, retryable } = errorCatalogue[row]
  return {
    summary: `${publicCodeOf(row)}${retryable ? ', retryable' : ''}`,
    value: { error: { code: publicCodeOf(row), message, retryable, request_id: EXAMPLE_ID } }
  }
}

function publicCodeOf(row: ErrorCode): string {
  const { publicCode = row }: ErrorSpec = errorCatalogue[row]
  return publicCode
}
