/** Beyond the capacity of the process, a request gets 503 at once: a wait would only delay the client's retry. */
import { ServiceError } from '../../runtime/errors.js'
import type { Admission } from '../admission.js'
import { principalOf, type RequestMiddleware } from '../context.js'
import { apiMetrics } from '../metrics.js'

/** Comes after `authenticate`. Throws `overloaded`. */
export function admit(admission: Admission): RequestMiddleware {
  return async (ctx, next) => {
    const { merchantId } = principalOf(ctx)
    const reason = admission.enter(merchantId)
    if (reason !== undefined) {
      apiMetrics().shed(reason)
      throw overloaded()
    }
    try {
      return await next()
    } finally {
      admission.leave(merchantId)
    }
  }
}

/** Clients that were turned away together should not come back together (s). */
const RETRY_AFTER_MIN_S = 1
const RETRY_AFTER_SPREAD_S = 3

/** The answer of a service that has more to do than it can. */
export function overloaded(): ServiceError {
  const retryAfterS = RETRY_AFTER_MIN_S + Math.floor(Math.random() * RETRY_AFTER_SPREAD_S)
  return new ServiceError('overloaded', { headers: { 'Retry-After': String(retryAfterS) } })
}
