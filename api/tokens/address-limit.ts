/** Requests per client address: publishable keys are public, so anybody can send anything with one. */
import { isIPv4, isIPv6 } from 'node:net'
import type { RateLimit, RateLimiter } from '../../redis/rate-limit.js'
import type { RequestMiddleware } from '../context.js'
import { rateLimited } from '../middleware/rate-limit.js'

/** The part of a key's limit that one address has. */
const SHARE_OF_ADDRESS = 0.5

/**
 * What one address may send when a key may send `limit`. It is less: a publishable key stands in the shop's page, and
 * whoever reads it there must not use it up for the shop's buyers.
 */
export function addressLimit({ perSecond, burst }: RateLimit): RateLimit {
  return { perSecond: perSecond * SHARE_OF_ADDRESS, burst: Math.ceil(burst * SHARE_OF_ADDRESS) }
}

/**
 * Comes before authentication, so that guessing of keys is limited too. `limiter` null: no limit.
 * Throws `rate_limited` with `Retry-After`.
 */
export function limitAddress(limiter: RateLimiter | null): RequestMiddleware {
  return async (ctx, next) => {
    const grant = await limiter?.take(`address:${addressGroup(ctx.ip)}`)
    if (grant?.isAllowed === false) throw rateLimited(grant)
    return next()
  }
}

/**
 * One client: an IPv4 address, or the /64 of an IPv6 address, within which a client chooses freely. Some proxies write the
 * client's port behind it.
 */
export function addressGroup(address: string): string {
  const [, inBrackets, beforePort] = /^\[([^\]]+)\](?::\d+)?$|^([\d.]+):\d+$/.exec(address) ?? []
  return groupOf(inBrackets ?? beforePort ?? address)
}

function groupOf(address: string): string {
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
    .slice(0, 4)
    .map(group => Number.parseInt(group, 16).toString(16))
    .join(':')}::/64`
}
