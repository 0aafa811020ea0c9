/**
 * Turns every error into its answer: `{"error": {code, message, retryable, ...}}` (docs/API.md, Errors).
 *
 * An error that is not a `ServiceError` is logged in full and answered without any detail.
 */
import type { IncomingMessage } from 'node:http'
import { ArchiveUnavailable } from '../../../archive/archive.js'
import { presentError } from '../../../contract/error-answer.js'
import { type ErrorCode, errorCatalogue } from '../../../contract/errors.js'
import { WrittenByOtherVersion } from '../../../machines/written-by-other-version.js'
import { isRedisUnusable, MoneyWaits } from '../../../redis/connection/redis-errors.js'
import { DamagedPayment } from '../../../redis/payments/payment-record.js'
import { DamagedValue } from '../../../redis/stored-fields.js'
import { type Logger, warnRateLimited } from '../../../runtime/log.js'
import { ClientGone } from '../client-signal.js'
import { type Answer, matchedRoute, type RequestContext } from '../context.js'
import { ServiceError } from '../service-error.js'

/** Until a client should ask again (s): a restart of Redis takes as long, and so does the first reconciliation. */
export const RETRY_AFTER_S = 2

/** The store or what it holds is at fault, not the load. */
const UNAVAILABLE: readonly ErrorCode[] = ['service_unavailable', 'money_waits', 'record_damaged']

function headersOf(code: ErrorCode): Record<string, string> {
  const { status, retryable } = errorCatalogue[code]
  if (status === 401) return { 'WWW-Authenticate': 'Bearer' }
  return retryable && (status === 409 || status === 503) ? { 'Retry-After': String(RETRY_AFTER_S) } : {}
}

/** The answer to an error; logs what operators need to know. */
export function answerToError(thrown: unknown, ctx: RequestContext, log: Logger): Answer {
  const context = { request_id: ctx.state.requestId, method: ctx.method, route: matchedRoute(ctx) }
  if (isClientGone(thrown, ctx.req)) {
    log.debug(context, 'the client disconnected before its answer')
    // Not sent: for metrics and logs. 499 is "client closed request" in access logs of proxies.
    return { status: 499 }
  }
  const error = toServiceError(thrown)
  if (error.code === 'internal_error') log.error({ ...context, err: thrown }, 'unexpected error in a request')
  if (UNAVAILABLE.includes(error.code)) warnRateLimited(log, { ...context, err: thrown }, 'the store is unavailable')
  return {
    status: errorCatalogue[error.code].status,
    body: presentError(error, ctx.state),
    headers: { ...headersOf(error.code), ...error.headers }
  }
}

function toServiceError(thrown: unknown): ServiceError {
  if (thrown instanceof ServiceError) return thrown
  if (thrown instanceof MoneyWaits) return new ServiceError('money_waits', { cause: thrown })
  if (thrown instanceof DamagedValue) {
    const about = thrown instanceof DamagedPayment ? { paymentId: thrown.paymentId } : {}
    return new ServiceError('record_damaged', { cause: thrown, ...about })
  }
  // During a rolling restart, a process of the newer version can read the record.
  if (isRedisUnusable(thrown) || thrown instanceof ArchiveUnavailable || thrown instanceof WrittenByOtherVersion)
    return new ServiceError('service_unavailable', { cause: thrown })
  return new ServiceError('internal_error', { cause: thrown })
}

/** Whether a read was given up, or raw-body failed, because the connection closed. */
function isClientGone(thrown: unknown, request: IncomingMessage): boolean {
  if (thrown instanceof ClientGone) return true
  return request.readableAborted && thrown instanceof Error && 'type' in thrown
}
