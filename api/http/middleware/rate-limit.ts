/** Requests per API key: a token bucket, which the client sees in the `RateLimit` headers. */
import type { Grant, RateLimiter } from '../../../redis/merchants/rate-limit.js'
import { ServiceError } from '../../../runtime/errors.js'
import { apiMetrics } from '../api-metrics.js'
import { principalOf, type RequestContext } from '../context.js'

/** Counts the request for its key and tells what is left. Throws `rate_limited` with `Retry-After`; see `take` for `reserve`. */
export async function takeOfKey(ctx: RequestContext, limiter: RateLimiter, reserve?: number): Promise<void> {
  const grant = await limiter.take(principalOf(ctx).keyId, reserve)
  if (grant === null) return
  ctx.state.headers.push('RateLimit-Policy', `"key";q=${limiter.burst};w=${limiter.windowS}`)
  ctx.state.headers.push('RateLimit', `"key";r=${grant.remaining};t=${Math.ceil(grant.fullAfterMs / 1_000)}`)
  if (grant.isAllowed) return
  apiMetrics().rateLimited()
  throw rateLimited(grant)
}

/** The answer to a request that is one too many. */
export function rateLimited({ retryAfterMs }: Grant): ServiceError {
  const retryAfterS = Math.max(1, Math.ceil(retryAfterMs / 1_000))
  return new ServiceError('rate_limited', { headers: { 'Retry-After': String(retryAfterS) } })
}
