/**
 * Merchants and their API keys, on the durable Redis.
 *
 * A key is `<svc_test|svc_live>.<key_id>.<secret>`; a publishable key, which a browser may see, has no secret part and
 * may only make one-use tokens. Of a secret only its SHA-256 is kept: 256 random bits need no slow hash.
 *
 * The index of ids is written before the record, so that nothing can exist that the lists don't show.
 */
import { hash, randomBytes } from 'node:crypto'
import type { Environment } from '../../machines/model.js'
import type { Redis } from '../connection/connections.js'
import { keys } from '../keys.js'
import { readable, required, storedValue, textList } from '../stored-fields.js'

/** Those of docs/API.md#keys; `tokens:write` is the only one of publishable keys. */
export const permissions = ['payments:read', 'payments:write', 'cards:write', 'webhooks:write', 'tokens:write'] as const
export type Permission = (typeof permissions)[number]

export interface Merchant {
  readonly merchantId: string
  readonly name: string
  /** Has the online payments product; without it every request is refused with `merchant_disabled`. */
  readonly isEnabled: boolean
  readonly createdAtMs: number
}

/** A key as operators see it: never its secret. */
export interface ApiKey {
  readonly keyId: string
  readonly merchantId: string
  readonly environment: Environment
  readonly permissions: readonly Permission[]
  readonly isPublishable: boolean
  readonly isRevoked: boolean
  /** What the operator calls it; null without a label. */
  readonly label: string | null
  /** Refused from this moment on; null: it does not expire. */
  readonly expiresAtMs: number | null
  readonly createdAtMs: number
}

/** All that authentication needs to know about a key. */
export interface KeyRecord extends ApiKey {
  /** SHA-256 of the secret; null for publishable keys. */
  readonly secretHash: Buffer | null
  readonly isMerchantEnabled: boolean
}

/** A request of an operator that can't be carried out; the message says why. */
export class MerchantStoreError extends Error {}

/** The permissions of a key. A name that this version does not know grants nothing. */
const storedPermissions = storedValue<{ readonly names: readonly string[] }>('list of permissions', {
  names: [required, textList]
})

/** An id that no merchant gets: reading it makes an unknown key as slow as a known one. */
const NO_MERCHANT = 'm_none'
const NAME_LENGTH_MAX = 120

export class MerchantStore {
  readonly #redis: Redis
  readonly #environment: Environment

  constructor(redis: Redis, environment: Environment) {
    this.#redis = redis
    this.#environment = environment
  }

  /** Adds an enabled merchant. Throws `MerchantStoreError` when the name is blank or longer than 120 characters. */
  async createMerchant(name: string): Promise<Merchant> {
    const trimmed = name.trim()
    if (trimmed === '' || [...trimmed].length > NAME_LENGTH_MAX || /\p{Cc}/u.test(trimmed)) {
      throw new MerchantStoreError(`A merchant's name has 1 to ${NAME_LENGTH_MAX} characters on one line.`)
    }
    const merchant = { merchantId: `m_${randomText(10)}`, name: trimmed, isEnabled: true, createdAtMs: Date.now() }
    await this.#redis.zadd(keys.merchants(), merchant.createdAtMs, merchant.merchantId)
    await this.#redis.hset(keys.merchant(merchant.merchantId), {
      name: trimmed,
      enabled: '1',
      created: String(merchant.createdAtMs)
    })
    return merchant
  }

  /** The ids of all merchants, oldest first. */
  listIds(): Promise<string[]> {
    return this.#redis.zrange(keys.merchants(), '0', '-1')
  }

  /** All merchants, oldest first. */
  async listMerchants(): Promise<Merchant[]> {
    const found = await Promise.all((await this.listIds()).map(id => this.findMerchant(id)))
    return found.filter(merchant => merchant !== null)
  }

  async findMerchant(merchantId: string): Promise<Merchant | null> {
    return parseMerchant(merchantId, await this.#redis.hgetall(keys.merchant(merchantId)))
  }

  /** Enables or disables the online payments product. In effect everywhere within 1 s. */
  async setEnabled(merchantId: string, isEnabled: boolean): Promise<Merchant> {
    const merchant = await this.requireMerchant(merchantId)
    await this.#redis.hset(keys.merchant(merchantId), 'enabled', isEnabled ? '1' : '0')
    return { ...merchant, isEnabled }
  }

  /** Makes a key. `fullKey` is shown this once: nothing that is stored can bring it back. */
  async createKey(request: {
    merchantId: string
    permissions: readonly Permission[]
    isPublishable?: boolean
    label?: string | undefined
    expiresAtMs?: number | undefined
  }): Promise<ApiKey & { readonly fullKey: string }> {
    await this.requireMerchant(request.merchantId)
    const isPublishable = request.isPublishable ?? false
    const wanted = permissions.filter(permission => request.permissions.includes(permission))
    refuseBadPermissions(wanted, isPublishable)

    const key: ApiKey = {
      keyId: `k${randomText(15)}`,
      merchantId: request.merchantId,
      environment: this.#environment,
      permissions: wanted,
      isPublishable,
      isRevoked: false,
      label: request.label ?? null,
      expiresAtMs: request.expiresAtMs ?? null,
      createdAtMs: Date.now()
    }
    if (isKeyExpired(key, key.createdAtMs))
      throw new MerchantStoreError('The key would expire before it is made. Give a later time.')
    const secret = isPublishable ? null : randomBytes(32).toString('base64url')
    await this.#redis.zadd(keys.apiKeys(), key.createdAtMs, key.keyId)
    await this.#redis.hset(keys.apiKey(key.keyId), {
      merchant: key.merchantId,
      environment: key.environment,
      permissions: storedPermissions.encode({ names: wanted }),
      revoked: '0',
      created: String(key.createdAtMs),
      ...(key.label === null ? {} : { label: key.label }),
      ...(key.expiresAtMs === null ? {} : { expires: String(key.expiresAtMs) }),
      ...(secret === null ? {} : { secret: hashSecret(secret).toString('hex') })
    })
    const fullKey = [`svc_${this.#environment}`, key.keyId, ...(secret === null ? [] : [secret])].join('.')
    return { ...key, fullKey }
  }

  /** Keys, oldest first; those of one merchant when it is named. */
  async listKeys(merchantId?: string): Promise<ApiKey[]> {
    if (merchantId !== undefined) await this.requireMerchant(merchantId)
    const ids = await this.#redis.zrange(keys.apiKeys(), '0', '-1')
    const found = await Promise.all(ids.map(async id => parseKey(id, await this.#redis.hgetall(keys.apiKey(id)))))
    return found
      .filter(entry => entry !== null)
      .map(entry => entry.key)
      .filter(key => merchantId === undefined || key.merchantId === merchantId)
  }

  /** Ends a key for ever. In effect everywhere within 1 s. Revoking twice is the same as once. */
  async revokeKey(keyId: string): Promise<ApiKey> {
    const found = parseKey(keyId, await this.#redis.hgetall(keys.apiKey(keyId)))
    if (found === null) {
      throw new MerchantStoreError(
        `There is no key ${keyId}. Give the middle part of the key; \`key list\` shows them.`
      )
    }
    await this.#redis.hset(keys.apiKey(keyId), 'revoked', '1')
    return { ...found.key, isRevoked: true }
  }

  /**
   * The record behind a key id, revoked ones included; null when there is none. Two reads in either case. A key that has
   * expired at `nowMs` counts as revoked.
   */
  async findKey(keyId: string, nowMs: number): Promise<KeyRecord | null> {
    const found = parseKey(keyId, await this.#redis.hgetall(keys.apiKey(keyId)))
    const merchant = await this.findMerchant(found?.key.merchantId ?? NO_MERCHANT)
    if (found === null) return null
    const { key, secretHash } = found
    const isRevoked = key.isRevoked || isKeyExpired(key, nowMs)
    return { ...key, isRevoked, secretHash, isMerchantEnabled: merchant?.isEnabled ?? false }
  }

  /** Throws `MerchantStoreError` when there is none. */
  async requireMerchant(merchantId: string): Promise<Merchant> {
    const merchant = await this.findMerchant(merchantId)
    if (merchant === null) {
      throw new MerchantStoreError(`There is no merchant ${merchantId}. \`merchant list\` shows them all.`)
    }
    return merchant
  }
}

export function isKeyExpired({ expiresAtMs }: Pick<ApiKey, 'expiresAtMs'>, nowMs: number): boolean {
  return expiresAtMs !== null && nowMs >= expiresAtMs
}

/** What is stored of a secret, and compared with. */
export function hashSecret(secret: string): Buffer {
  return hash('sha256', secret, 'buffer')
}

function refuseBadPermissions(wanted: readonly Permission[], isPublishable: boolean): void {
  if (isPublishable && wanted.join() !== 'tokens:write') {
    throw new MerchantStoreError('A publishable key is public: it can have the permission tokens:write and no other.')
  }
  if (!isPublishable && wanted.includes('tokens:write')) {
    throw new MerchantStoreError('tokens:write is for publishable keys only: make one with --publishable.')
  }
  if (wanted.length === 0) {
    throw new MerchantStoreError(`A key needs at least one permission: ${permissions.join(', ')}.`)
  }
}

function parseMerchant(merchantId: string, row: Record<string, string>): Merchant | null {
  if (row['name'] === undefined) return null
  return { merchantId, name: row['name'], isEnabled: row['enabled'] === '1', createdAtMs: Number(row['created']) }
}

function parseKey(keyId: string, row: Record<string, string>): { key: ApiKey; secretHash: Buffer | null } | null {
  if (row['merchant'] === undefined) return null
  // A damaged list grants nothing, and the key can still be listed and revoked.
  const names = readable(row['permissions'] ?? '', storedPermissions.decode).flatMap(list => list.names)
  const key: ApiKey = {
    keyId,
    merchantId: row['merchant'],
    environment: row['environment'] === 'live' ? 'live' : 'test',
    permissions: permissions.filter(permission => names.includes(permission)),
    isPublishable: row['secret'] === undefined,
    isRevoked: row['revoked'] !== '0',
    label: row['label'] ?? null,
    expiresAtMs: row['expires'] === undefined ? null : Number(row['expires']),
    createdAtMs: Number(row['created'])
  }
  return { key, secretHash: row['secret'] === undefined ? null : Buffer.from(row['secret'], 'hex') }
}

const BASE32 = '0123456789abcdefghjkmnpqrstvwxyz'

/** Random characters of Crockford's base32, five bits each. */
function randomText(length: number): string {
  return Array.from(randomBytes(length), byte => BASE32[byte & 31]).join('')
}
