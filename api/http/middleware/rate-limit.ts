/** The rate limit of an API key: a token bucket, reported in the `RateLimit` headers. */
import type { Grant, RateLimiter } from '../../../redis/merchants/rate-limit.js'
import { principalOf, type RequestContext } from '../context.js'
import { ServiceError } from '../service-error.js'

/** Requests that a key may send at once after a pause. */
export const RATE_LIMIT_BURST = 200

/** Takes a token of the key of the request. Throws `rate_limited` with `Retry-After`; see `RateLimiter.take` for `reserve`. */
export async function takeOfKey(ctx: RequestContext, limiter: RateLimiter, reserve?: number): Promise<void> {
  const grant = await limiter.take(principalOf(ctx).keyId, reserve)
  if (grant === null) return
  ctx.state.headers.push('RateLimit-Policy', `"key";q=${limiter.burst};w=${limiter.windowS}`)
  ctx.state.headers.push('RateLimit', `"key";r=${grant.remaining};t=${Math.ceil(grant.fullAfterMs / 1_000)}`)
  if (grant.isAllowed) return
  throw rateLimited(grant)
}

/** The answer to a request above the limit. */
export function rateLimited({ retryAfterMs }: Grant): ServiceError {
  const retryAfterS = Math.max(1, Math.ceil(retryAfterMs / 1_000))
  return new ServiceError('rate_limited', { headers: { 'Retry-After': String(retryAfterS) } })
}
