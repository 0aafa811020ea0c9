/**
 * The content of a key file: `{"current": id, "keys": {id: {…}}}`. The `current` key seals and derives; the other keys
 * serve what was made with them. `next` exists during a rotation of the vault: a key that opens and does not seal yet.
 *
 * The id of a key is its fingerprint, so that keys of two installations never have the same id. The fingerprint of a
 * webhook key is an HMAC under that key, which reveals nothing about it.
 */
import { createHmac, hash, randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import sodium from 'sodium-native'
import { VaultError } from './vault-error.js'

/** `private` and `public`: the two files of the vault. `webhook`: the file that signing secrets are derived from. */
export type RingKind = 'private' | 'public' | 'webhook'

/** One key of a ring in its file: 32 bytes each, base64. */
export interface StoredKey {
  /** Vault only. */
  readonly public?: string
  /** Private file of the vault only. */
  readonly private?: string
  /** Webhook keys only. */
  readonly secret?: string
  /** ISO 8601: since when the key is the current one. Not in the public file. */
  readonly addedAt?: string
}

/** The content of a key file. */
export interface KeyRing {
  readonly current: string
  /** Private file of the vault only. */
  readonly next?: string
  readonly keys: Readonly<Record<string, StoredKey>>
}

const parts = { private: ['public', 'private'], public: ['public'], webhook: ['secret'] } as const
const KEY_BYTES = 32
/** 80 bits, so that no other key with the same id can be found. Every stored card contains an id. */
const ID_LETTERS = 20
/**
 * How long a ring must have had its current key before an old key may be removed. Tokens that were sealed with the old
 * one live at most a day (TOKEN_TTL_MS), and a quarter of an hour more after a late claim. The rest is for machines that
 * got the new public file late.
 */
const UNUSED_FOR_MS = 48 * 3_600_000

/** Reads and checks a key file. Throws `VaultError` `key_file` with the path and what is wrong with it. */
export function readKeyRing(file: string, kind: RingKind): KeyRing {
  const ring = parseKeyRing(readText(file, kind))
  if (ring === undefined) throw badFile(file, kind, 'is not a key ring; expected {"current": id, "keys": {id: {...}}}')
  if (!Object.hasOwn(ring.keys, ring.current)) throw badFile(file, kind, 'has no key with the id of "current"')
  if (ring.next !== undefined && !Object.hasOwn(ring.keys, ring.next))
    throw badFile(file, kind, 'has no key with the id of "next"')
  for (const [id, key] of Object.entries(ring.keys)) {
    const problem = problemOf(id, key, kind)
    if (problem !== undefined) throw badFile(file, kind, problem)
  }
  return ring
}

/** The ring without its private halves, for processes that seal. */
export function publicHalf(ring: KeyRing): KeyRing {
  const keys = Object.entries(ring.keys).map(([id, key]) => [id, { public: key.public ?? '' }] as const)
  return { current: ring.current, keys: Object.fromEntries(keys) }
}

/** The ring of the vault with a new key as `next`; the same ring when it has one. */
export function withNextKey(ring: KeyRing, nowMs: number): KeyRing {
  if (ring.next !== undefined) return ring
  const { current: next, keys } = withNewKey(ring, 'private', nowMs)
  return { current: ring.current, next, keys }
}

/** The ring with its `next` key as the current one; the same ring when it has none. */
export function withNextAsCurrent(ring: KeyRing, nowMs: number): KeyRing {
  if (ring.next === undefined) return ring
  const key = { ...requireKey(ring, ring.next), addedAt: new Date(nowMs).toISOString() }
  return { current: ring.next, keys: { ...ring.keys, [ring.next]: key } }
}

/** The ring with a new key, which is the current one. `undefined` starts a ring. */
export function withNewKey(ring: KeyRing | undefined, kind: 'private' | 'webhook', nowMs: number): KeyRing {
  const made = kind === 'webhook' ? { secret: randomBytes(KEY_BYTES).toString('base64') } : newPair()
  const key = { ...made, addedAt: new Date(nowMs).toISOString() }
  const id = fingerprintOf(key, kind)
  return { current: id, keys: { ...ring?.keys, [id]: key } }
}

/**
 * The ring without one of its old keys. The caller checks that nothing is sealed with it. Throws `VaultError`
 * `key_in_use` when it is the current key or was until recently, `key_file` when the ring does not have it.
 */
export function withoutKey(ring: KeyRing, keyId: string, nowMs: number): KeyRing {
  const since = requireKey(ring, ring.current).addedAt ?? ''
  requireKey(ring, keyId)
  if (keyId === ring.current) {
    throw keyInUse(`${keyId} is the current key: everything is sealed with it. Rotate first (vault rotate).`)
  }
  if (keyId === ring.next) throw keyInUse(`${keyId} is the next key of a rotation. End that first (vault rotate).`)
  const readyMs = Date.parse(since) + UNUSED_FOR_MS
  if (nowMs < readyMs) {
    throw keyInUse(
      `Tokens that are sealed with ${keyId} may still be alive: ${ring.current} has been the current key only since ${since}. Retire ${keyId} after ${new Date(readyMs).toISOString()}.`
    )
  }
  return { ...ring, keys: Object.fromEntries(Object.entries(ring.keys).filter(([id]) => id !== keyId)) }
}

/** The key of an id. Throws `VaultError` `key_file` when the ring does not have it. */
export function requireKey(ring: KeyRing, keyId: string): StoredKey {
  const key = Object.hasOwn(ring.keys, keyId) ? ring.keys[keyId] : undefined
  if (key !== undefined) return key
  throw new VaultError(
    'key_file',
    `There is no key ${keyId}; the ring has ${Object.keys(ring.keys).join(', ')}. Nothing was changed.`
  )
}

function newPair(): Pick<StoredKey, 'public' | 'private'> {
  const [publicKey, privateKey] = [Buffer.alloc(KEY_BYTES), Buffer.alloc(KEY_BYTES)]
  sodium.crypto_box_keypair(publicKey, privateKey)
  const pair = { public: publicKey.toString('base64'), private: privateKey.toString('base64') }
  sodium.sodium_memzero(privateKey)
  return pair
}

function fingerprintOf(key: StoredKey, kind: RingKind): string {
  const full =
    kind === 'webhook'
      ? createHmac('sha256', bytesOf(key.secret)).update('key id').digest('hex')
      : hash('sha256', bytesOf(key.public))
  // Letters only: sixteen digits in a row would look like a card number to a scanner of logs or Redis.
  return full.slice(0, ID_LETTERS).replace(/\d/g, digit => 'ghijklmnop'.charAt(Number(digit)))
}

function problemOf(id: string, key: StoredKey, kind: RingKind): string | undefined {
  if (kind === 'public' && key.private !== undefined) return 'holds private keys; give this process the public file'
  for (const part of parts[kind]) {
    if (bytesOf(key[part]).length !== KEY_BYTES) return `has no valid ${part} key in "${id}"; is it another key file?`
  }
  if (kind !== 'public' && Number.isNaN(Date.parse(key.addedAt ?? ''))) return `has no valid "addedAt" in "${id}"`
  if (kind === 'private' && !isPair(key)) return `has a private key in "${id}" that does not belong to its public key`
  if (id !== fingerprintOf(key, kind)) return `has a key under the id "${id}" that is not the fingerprint of the key`
  return undefined
}

function isPair(key: StoredKey): boolean {
  const [derived, privateKey] = [Buffer.alloc(KEY_BYTES), bytesOf(key.private)]
  sodium.crypto_scalarmult_base(derived, privateKey)
  sodium.sodium_memzero(privateKey)
  return derived.equals(bytesOf(key.public))
}

function bytesOf(text: string | undefined): Buffer {
  return Buffer.from(text ?? '', 'base64')
}

function readText(file: string, kind: RingKind): string {
  try {
    return readFileSync(file, 'utf8')
  } catch (error) {
    const reason = error instanceof Error && 'code' in error ? String(error.code) : 'unreadable'
    throw badFile(file, kind, `cannot be read (${reason})`)
  }
}

/** Drops the error of JSON.parse on purpose: it quotes the text. */
function parseKeyRing(text: string): KeyRing | undefined {
  let ring: unknown
  try {
    ring = JSON.parse(text)
  } catch {
    return undefined
  }
  return isKeyRing(ring) ? ring : undefined
}

function isKeyRing(value: unknown): value is KeyRing {
  if (!isObject(value) || typeof value['current'] !== 'string' || !isObject(value['keys'])) return false
  if (!['undefined', 'string'].includes(typeof value['next'])) return false
  return Object.values(value['keys']).every(
    key => isObject(key) && Object.values(key).every(part => typeof part === 'string')
  )
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function keyInUse(message: string): VaultError {
  return new VaultError('key_in_use', message)
}

function badFile(file: string, kind: RingKind, problem: string): VaultError {
  const [name, loss] =
    kind === 'webhook'
      ? ['webhook', 'a new one changes the signing secret of every merchant']
      : ['vault', 'a new one opens no card that is stored']
  return new VaultError(
    'key_file',
    `The ${name} key file ${file} ${problem}. Correct the path or the rights, or restore the file; ${loss}.`
  )
}
