/** How many requests, how long, how they ended: by route, never by path, which holds ids. */
import type { Logger } from '../../runtime/log.js'
import { matchedRoute, type RequestMiddleware } from '../context.js'
import { apiMetrics } from '../metrics.js'

/** The methods of our routes; others are counted together, since a client may invent any number of them. */
const KNOWN_METHODS = new Set(['GET', 'HEAD', 'POST', 'PUT', 'OPTIONS'])

/** Outside of everything else, so that errors are measured too. */
export function measure(log: Logger): RequestMiddleware {
  return async (ctx, next) => {
    const startedAtMs = performance.now()
    await next()
    const durationMs = performance.now() - startedAtMs
    const { requestId, correlationId, principal } = ctx.state
    const route = matchedRoute(ctx)
    const method = KNOWN_METHODS.has(ctx.method) ? ctx.method : 'other'
    apiMetrics().answered({ method, route: route ?? 'none', status: ctx.status }, durationMs)
    if (!log.isLevelEnabled('debug')) return
    log.debug(
      {
        method,
        route,
        status: ctx.status,
        duration_ms: Math.round(durationMs),
        request_id: requestId,
        correlation_id: correlationId,
        merchant_id: principal?.merchantId,
        key_id: principal?.keyId
      },
      'request answered'
    )
  }
}
