/**
 * Authenticates the API key of a request and its permissions (docs/API.md#keys).
 *
 * Lookups are cached for `CACHE_AGE_MS`, misses too, so that a revoked key or a disabled merchant is refused within
 * 1 s in every process, and a flood of made-up keys costs no more Redis than a real client. A lookup that Redis does not
 * answer is repeated for up to 3 s; an older one is not used meanwhile, because the key may have been revoked.
 */
import { timingSafeEqual } from 'node:crypto'
import type { Environment } from '../../machines/model.js'
import { untilAnswered } from '../../redis/connection/until-answered.js'
import { hashSecret, type KeyRecord, type Permission } from '../../redis/merchants/merchants.js'
import type { Principal, RequestContext } from './context.js'
import { ServiceError } from './service-error.js'
import { traceRequest } from './trace-request.js'

export interface Authenticator {
  /** Reads an `Authorization` header. Throws `ServiceError`: `unauthorized`, or `merchant_disabled`. */
  authenticate(header: string | undefined): Promise<Principal>
}

/** Half of the promised second. The other half is for the lookup and the request. */
const CACHE_AGE_MS = 500
/** A bound on memory, far above the number of keys that are in use within half a second. */
const CACHE_ENTRIES_MAX = 10_000

const KEY_ID = /^[0-9A-Za-z_-]{1,64}$/
const SECRET = /^[0-9A-Za-z_-]{1,128}$/

/** The secret of unknown keys, so that they take as long as known ones. */
const NO_SECRET = hashSecret('')

/** Calls `findKey` at most once per key within `CACHE_AGE_MS`, unless it rejects. */
export function createAuthenticator(options: {
  environment: Environment
  findKey: (keyId: string) => Promise<KeyRecord | null>
  /** Monotonic clock in ms, for tests. */
  now?: () => number
}): Authenticator {
  const findCached = cacheLookups(options.findKey, options.now ?? (() => performance.now()))
  const prefix = `svc_${options.environment}`

  return {
    async authenticate(header) {
      const given = parseKeyText(header)
      if (given === null || given.prefix !== prefix) throw new ServiceError('unauthorized')
      const record = await findCached(given.keyId)
      if (!isSecretRight(record, given.secret) || record === null) throw new ServiceError('unauthorized')
      if (record.isRevoked || record.environment !== options.environment) throw new ServiceError('unauthorized')
      if (!record.isMerchantEnabled) throw new ServiceError('merchant_disabled')
      const { merchantId, keyId, permissions, isPublishable } = record
      return { merchantId, keyId, permissions, isPublishable }
    }
  }
}

/** Leaves the key's merchant in `ctx.state.principal`, or throws 401 / 403 (docs/API.md#keys). */
export async function authenticate(
  ctx: RequestContext,
  authenticator: Authenticator,
  permission: Permission
): Promise<Principal> {
  const principal = await authenticator.authenticate(ctx.req.headers.authorization)
  // Also for a key without the permission: browser-use.ts checks the key of every request.
  ctx.state.principal = principal
  traceRequest(ctx)
  if (!principal.permissions.includes(permission)) {
    const message = `must be a key with the permission ${permission}`
    throw new ServiceError('insufficient_scope', { fields: [{ path: 'header Authorization', message }] })
  }
  return principal
}

function parseKeyText(header: string | undefined): { prefix: string; keyId: string; secret: string | null } | null {
  const text = /^Bearer +([^ ]+)$/i.exec(header ?? '')?.[1]
  const [prefix, keyId, secret = null, ...rest] = (text ?? '').split('.')
  if (prefix === undefined || keyId === undefined || rest.length > 0) return null
  if (!KEY_ID.test(keyId) || (secret !== null && !SECRET.test(secret))) return null
  return { prefix, keyId, secret }
}

/** A secret key must come with its secret, a publishable one without any. Always hashes and compares once. */
function isSecretRight(record: KeyRecord | null, secret: string | null): boolean {
  const isEqual = timingSafeEqual(hashSecret(secret ?? ''), record?.secretHash ?? NO_SECRET)
  if (record === null) return false
  return record.secretHash === null ? secret === null : secret !== null && isEqual
}

function cacheLookups(
  find: (keyId: string) => Promise<KeyRecord | null>,
  now: () => number
): (keyId: string) => Promise<KeyRecord | null> {
  const entries = new Map<string, { startedAtMs: number; record: Promise<KeyRecord | null> }>()

  return keyId => {
    const known = entries.get(keyId)
    if (known !== undefined && now() - known.startedAtMs < CACHE_AGE_MS) return known.record
    const record = untilAnswered(() => find(keyId)).then(({ answer }) => answer)
    // Deleted first, so that the map stays sorted by age and its first entry is the oldest.
    entries.delete(keyId)
    entries.set(keyId, { startedAtMs: now(), record })
    for (const oldest of entries.keys()) {
      if (entries.size <= CACHE_ENTRIES_MAX) break
      entries.delete(oldest)
    }
    // A failed lookup is not cached: the next request repeats it.
    record.catch(() => {
      if (entries.get(keyId)?.record === record) entries.delete(keyId)
    })
    return record
  }
}
