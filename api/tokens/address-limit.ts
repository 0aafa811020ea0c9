/**
 * Who may make how many tokens with a publishable key. The key stands in the shop's page, so an attacker has it too and
 * must not use it up for the shop's buyers:
 *
 * - an address is limited whatever it sends;
 * - only a good card counts for the key;
 * - half of the key's requests stay for networks that send little.
 */
import { isIPv4, isIPv6 } from 'node:net'
import type { Redis } from '../../redis/connections.js'
import { createRateLimiter, type RateLimit, type RateLimiter } from '../../redis/rate-limit.js'
import type { Logger } from '../../runtime/log.js'
import type { RequestContext, RequestMiddleware } from '../context.js'
import { rateLimited, takeOfKey } from '../middleware/rate-limit.js'

/** The part of a key's limit that one address may send, to all routes. */
const ADDRESS_SHARE = 0.5
/** A network that makes more tokens than this part of a key's limit leaves `RESERVE` of each key to others. */
const NETWORK_SHARE = 0.02
const RESERVE = 0.5

export interface TokenLimits {
  readonly key: RateLimiter
  readonly address: RateLimiter
  readonly network: RateLimiter
}

/** `limit` is that of a key. Null: no limits. */
export function createTokenLimits(redis: Redis, limit: RateLimit, log: Logger): TokenLimits | null {
  const shareOf = ({ perSecond, burst }: RateLimit, share: number): RateLimit => ({
    perSecond: perSecond * share,
    burst: Math.ceil(burst * share)
  })
  const key = createRateLimiter(redis, limit, log)
  const address = createRateLimiter(redis, shareOf(limit, ADDRESS_SHARE), log)
  const network = createRateLimiter(redis, shareOf(limit, NETWORK_SHARE), log)
  return key === null || address === null || network === null ? null : { key, address, network }
}

/** Comes before authentication, so that guessing of keys is limited too. Throws `rate_limited` with `Retry-After`. */
export function limitAddress(limits: TokenLimits | null): RequestMiddleware {
  return async (ctx, next) => {
    const grant = await limits?.address.take(`address:${addressGroup(ctx.ip)}`)
    if (grant?.isAllowed === false) throw rateLimited(grant)
    return next()
  }
}

/** Counts a good card for the key of its request. Throws `rate_limited` with `Retry-After`. */
export async function limitTokens(ctx: RequestContext, { key, network }: TokenLimits): Promise<void> {
  const grant = await network.take(`network:${addressGroup(ctx.ip, NETWORK_GROUPS)}`)
  const isHeavy = grant?.isAllowed === false
  await takeOfKey(ctx, key, isHeavy ? Math.floor(key.burst * RESERVE) : 0)
}

/** Of the eight groups of an IPv6 address: a client chooses freely within its /64, and may be given a whole /48. */
const CLIENT_GROUPS = 4
const NETWORK_GROUPS = 3

/** An IPv4 address, or so many groups of an IPv6 address. Some proxies write the client's port behind it. */
export function addressGroup(address: string, groups = CLIENT_GROUPS): string {
  const [, inBrackets, beforePort] = /^\[([^\]]+)\](?::\d+)?$|^([\d.]+):\d+$/.exec(address) ?? []
  return groupOf(inBrackets ?? beforePort ?? address, groups)
}

function groupOf(address: string, count: number): string {
  const mapped = address.replace(/^::ffff:(?=\d+\.)/i, '')
  if (isIPv4(mapped)) return mapped
  const [bare = ''] = address.split('%')
  if (!isIPv6(bare)) return 'unknown'
  const [head = '', tail] = bare.toLowerCase().split('::')
  const left = head === '' ? [] : head.split(':')
  const right = tail === undefined || tail === '' ? [] : tail.split(':')
  const zeros: string[] = Array(Math.max(0, 8 - left.length - right.length)).fill('0')
  const groups = tail === undefined ? left : [...left, ...zeros, ...right]
  return `${groups
    .slice(0, count)
    .map(group => Number.parseInt(group, 16).toString(16))
    .join(':')}::/${16 * count}`
}
