/**
 * Rate limits of tokens. A publishable key is public, so that an attacker can use it, and must not exhaust its limit for the
 * buyers of the shop:
 *
 * - every request counts for the limit of its address;
 * - only valid cards count for the limit of the key;
 * - half of the limit of a key is reserved for networks with few requests;
 * - a limit on the tokens that a key gets, spent or not, protects the memory that all merchants share.
 */
import ipaddr from 'ipaddr.js'
import type { Redis } from '../../redis/connection/connections.js'
import { createRateLimiter, type RateLimit, type RateLimiter } from '../../redis/merchants/rate-limit.js'
import type { Logger } from '../../runtime/log.js'
import { principalOf, type RequestContext, type RequestMiddleware } from '../http/context.js'
import { rateLimited, takeOfKey } from '../http/middleware/rate-limit.js'

/** The share of a key's limit that one address may use, on all routes. */
const ADDRESS_SHARE = 0.5
/** A network above this share of a key's limit cannot use the last `RESERVE` of a key. */
const NETWORK_SHARE = 0.02
const RESERVE = 0.5

/** Null: no such limit. */
export interface TokenLimits {
  readonly key: RateLimiter | null
  readonly address: RateLimiter | null
  readonly network: RateLimiter | null
  /** Bounds the tokens of a key that can be alive. */
  readonly issued: RateLimiter | null
}

/**
 * Allows `max` tokens at once, and as many again in each `ttlMs`, so that at most twice as many are alive. No limit when `max`
 * is 0, or when the rate limit of the key is tighter. It does not depend on that limit: a higher one allows no less.
 */
export function issueLimit({ perSecond, burst }: RateLimit, max: number, ttlMs: number): RateLimit {
  const issued = { perSecond: max / (ttlMs / 1_000), burst: max }
  const isTighter = perSecond > 0 && perSecond <= issued.perSecond && burst <= issued.burst
  return isTighter ? { perSecond: 0, burst: 0 } : issued
}

/** `limit`: of the requests of a key; `issued`: of the tokens that it gets. */
export function createTokenLimits(redis: Redis, limit: RateLimit, issued: RateLimit, log: Logger): TokenLimits {
  const shareOf = ({ perSecond, burst }: RateLimit, share: number): RateLimit => ({
    perSecond: perSecond * share,
    burst: Math.ceil(burst * share)
  })
  return {
    key: createRateLimiter(redis, limit, log),
    address: createRateLimiter(redis, shareOf(limit, ADDRESS_SHARE), log),
    network: createRateLimiter(redis, shareOf(limit, NETWORK_SHARE), log),
    issued: createRateLimiter(redis, issued, log)
  }
}

/** Runs before authentication, to limit key guessing too. Throws `rate_limited` with `Retry-After`. */
export function limitAddress({ address }: TokenLimits): RequestMiddleware {
  return async (ctx, next) => {
    const grant = await address?.take(`address:${addressGroup(ctx.ip)}`)
    if (grant?.isAllowed === false) throw rateLimited(grant)
    return next()
  }
}

/** Counts a valid card for the key of its request. Throws `rate_limited` with `Retry-After`. */
export async function limitTokens(ctx: RequestContext, { key, network, issued }: TokenLimits): Promise<void> {
  if (key !== null) {
    const grant = await network?.take(`network:${addressGroup(ctx.ip, NETWORK_GROUPS)}`)
    const isHeavy = grant?.isAllowed === false
    await takeOfKey(ctx, key, isHeavy ? Math.floor(key.burst * RESERVE) : 0)
  }
  const grant = await issued?.take(`issued:${principalOf(ctx).keyId}`)
  if (grant?.isAllowed === false) throw rateLimited(grant)
}

/** Of the eight groups of an IPv6 address: a client has at least a /64, and may have a /48. */
const CLIENT_GROUPS = 4
const NETWORK_GROUPS = 3

/** An IPv4 address, or so many groups of an IPv6 address. Some proxies append the port of the client. */
export function addressGroup(text: string, groups = CLIENT_GROUPS): string {
  const [, inBrackets, beforePort] = /^\[([^\]]+)\](?::\d+)?$|^([\d.]+):\d+$/.exec(text) ?? []
  const bare = inBrackets ?? beforePort ?? text
  if (!ipaddr.isValid(bare)) return 'unknown'
  // `process` turns an IPv4-mapped IPv6 address into the IPv4 address that it stands for.
  const address = ipaddr.process(bare)
  if (address instanceof ipaddr.IPv4) return address.toString()
  const network = address.parts.slice(0, groups).map(part => part.toString(16))
  return `${network.join(':')}::/${16 * groups}`
}
