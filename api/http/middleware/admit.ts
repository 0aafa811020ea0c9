/** Beyond the capacity of the process, a request gets 503 at once: a wait would only delay the client's retry. */
import { ServiceError } from '../../../runtime/errors.js'
import type { Admission } from '../admission.js'
import { apiMetrics } from '../api-metrics.js'

/** Does `work` for a merchant within the capacity of the process. Throws `overloaded`. */
export async function admitted<T>(admission: Admission, merchantId: string, work: () => Promise<T>): Promise<T> {
  const reason = admission.enter(merchantId)
  if (reason !== undefined) {
    apiMetrics().shed(reason)
    throw overloaded()
  }
  try {
    return await work()
  } finally {
    admission.leave(merchantId)
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
