/** How a request is refused. */
import type { MoreOfError } from '../../contract/error-answer.js'
import { type ErrorCode, errorCatalogue, type FieldProblem } from '../../contract/errors.js'

/** An error for the client. Everything else that is thrown becomes `internal_error`. */
export class ServiceError extends Error {
  readonly code: ErrorCode
  readonly fields: readonly FieldProblem[] | undefined
  readonly paymentId: string | undefined
  /** Further fields of the error, and a `message` that says more than that of the catalogue. */
  readonly more: MoreOfError
  readonly headers: Readonly<Record<string, string>>

  constructor(
    code: ErrorCode,
    details: {
      fields?: readonly FieldProblem[]
      paymentId?: string
      more?: MoreOfError
      headers?: Readonly<Record<string, string>>
      cause?: unknown
    } = {}
  ) {
    super(errorCatalogue[code].message, { cause: details.cause })
    this.name = 'ServiceError'
    this.code = code
    this.fields = details.fields
    this.paymentId = details.paymentId
    this.more = details.more ?? {}
    this.headers = details.headers ?? {}
  }
}

/** The error for one broken rule of a request. */
export function invalidRequest(path: string, message: string): ServiceError {
  return new ServiceError('invalid_request', { fields: [{ path, message }] })
}
