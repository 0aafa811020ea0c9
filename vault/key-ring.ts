/**
 * The files that hold the keys of the vault: `{"current":"k1-…","keys":{"k1-…":{"public":"base64"}}}`; the private file
 * has `"private"` and `"addedAt"` beside each `"public"`. New boxes are sealed with `current`; the other keys only open
 * old boxes.
 *
 * The id of a key is a name and six digits of its fingerprint: two keys that were made apart never have the same id, and a
 * box never seems to be sealed with a key that it is not sealed with. Older versions gave ids without a fingerprint, which
 * stay as they are.
 *
 * A key pair is created by the operator's tools, so everything here is synchronous and happens at start.
 */
import { hash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import sodium from 'sodium-native'
import { VaultError } from './errors.js'

/** One key of a ring, as it stands in a file (base64). */
export interface StoredKey {
  readonly public: string
  readonly private?: string
  /** ISO 8601; private file only. Keys of older versions have none. */
  readonly addedAt?: string
}

/** The content of a key file. */
export interface KeyRing {
  readonly current: string
  readonly keys: Readonly<Record<string, StoredKey>>
}

/** Ids become a part of every box, between dots. */
const KEY_ID = /^[A-Za-z0-9_-]{1,32}$/
/** An id without the fingerprint. */
const KEY_NAME = /^[A-Za-z0-9_-]{1,25}$/
const FINGERPRINT_DIGITS = 6
/**
 * How long a ring must have had its current key before an old one may leave it. What was sealed last with the old one is a
 * token of a day at the most (TOKEN_TTL_MS), and a quarter of an hour more when it is claimed then; the rest is for machines
 * that got the new public file late.
 */
const UNUSED_FOR_MS = 48 * 3_600_000

/**
 * Reads and checks a key file. `kind` says whether each key must have its private half.
 * Throws `VaultError` `key_file` with the path and what is wrong with it.
 */
export function readKeyRing(file: string, kind: 'public' | 'private'): KeyRing {
  const ring = parseKeyRing(readText(file))
  if (ring === undefined) throw badFile(file, 'is not a key ring; expected {"current": id, "keys": {id: {...}}}')
  if (!Object.hasOwn(ring.keys, ring.current)) throw badFile(file, `has no key with the id of "current"`)
  for (const [id, key] of Object.entries(ring.keys)) {
    if (!KEY_ID.test(id)) throw badFile(file, 'has a key whose id is not 1 to 32 letters, digits, "_" or "-"')
    if (!isKey(key.public, sodium.crypto_box_PUBLICKEYBYTES)) throw badFile(file, `has no valid public key in "${id}"`)
    if (kind === 'private' && !isKey(key.private, sodium.crypto_box_SECRETKEYBYTES)) {
      throw badFile(file, `has no valid private key in "${id}"; is it the public file?`)
    }
    if (Number.isNaN(Date.parse(key.addedAt ?? '1970-01-01'))) throw badFile(file, `has no valid time in "${id}"`)
    if (kind === 'public' && key.private !== undefined) {
      throw badFile(file, `holds private keys; give this process the public file`)
    }
  }
  return ring
}

/** The ring without its private halves: what sealing processes get. */
export function publicHalf(ring: KeyRing): KeyRing {
  const keys = Object.entries(ring.keys).map(([id, key]) => [id, { public: key.public }] as const)
  return { current: ring.current, keys: Object.fromEntries(keys) }
}

/**
 * The ring with a fresh key pair in it, which becomes the current one. `undefined` starts a new ring. The name is the next
 * free one unless it is given. Throws `VaultError` `key_file` when an old key has it, or it is no name.
 */
export function withNewKey(ring: KeyRing | undefined, nowMs: number, newName?: string): KeyRing {
  const keys = ring?.keys ?? {}
  const name = newName ?? nextName(Object.keys(keys))
  if (!KEY_NAME.test(name) || Object.keys(keys).some(id => isNamed(id, name))) {
    throw new VaultError(
      'key_file',
      `"${name}" cannot be the name of a new key: an old key has it, or it is not 1 to 25 letters, digits, "_" or "-". Choose another one.`
    )
  }
  const publicKey = Buffer.alloc(sodium.crypto_box_PUBLICKEYBYTES)
  const privateKey = Buffer.alloc(sodium.crypto_box_SECRETKEYBYTES)
  sodium.crypto_box_keypair(publicKey, privateKey)
  const pair = {
    public: publicKey.toString('base64'),
    private: privateKey.toString('base64'),
    addedAt: new Date(nowMs).toISOString()
  }
  sodium.sodium_memzero(privateKey)
  const id = `${name}-${hash('sha256', publicKey).slice(0, FINGERPRINT_DIGITS)}`
  return { current: id, keys: { ...keys, [id]: pair } }
}

/** Whether a rotation to `name` made the key of this id; the whole id is a name of it as well. */
export function isNamed(id: string, name: string): boolean {
  return id === name || (id.startsWith(`${name}-`) && /^[0-9a-f]{6}$/.test(id.slice(name.length + 1)))
}

/**
 * The ring without one of its old keys. Whether anything is still sealed with it is for the caller to know. Throws
 * `VaultError` `key_in_use` when it is the current key or was until lately, `key_file` when the ring does not have it.
 */
export function withoutKey(ring: KeyRing, keyId: string, nowMs: number): KeyRing {
  if (!Object.hasOwn(ring.keys, keyId)) {
    throw new VaultError(
      'key_file',
      `There is no key ${keyId}; the ring has ${Object.keys(ring.keys).join(', ')}. Nothing was changed.`
    )
  }
  if (keyId === ring.current) {
    throw keyInUse(`${keyId} is the current key: everything is sealed with it. Rotate first (vault rotate).`)
  }
  const since = ring.keys[ring.current]?.addedAt
  if (since === undefined) {
    throw keyInUse(
      `The key file does not say since when ${ring.current} is the current key: an older version made it. Rotate once more (vault rotate), and retire ${keyId} two days later.`
    )
  }
  const readyMs = Date.parse(since) + UNUSED_FOR_MS
  if (nowMs < readyMs) {
    throw keyInUse(
      `Tokens that are sealed with ${keyId} may still be on their way: ${ring.current} has been the current key since ${since} only. Retire ${keyId} after ${new Date(readyMs).toISOString()}.`
    )
  }
  return { ...ring, keys: Object.fromEntries(Object.entries(ring.keys).filter(([id]) => id !== keyId)) }
}

function keyInUse(message: string): VaultError {
  return new VaultError('key_in_use', message)
}

function nextName(ids: readonly string[]): string {
  const numbers = ids.map(id => Number(/^k(\d{1,9})(-[0-9a-f]{6})?$/.exec(id)?.[1] ?? 0))
  return `k${Math.max(0, ...numbers) + 1}`
}

function readText(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch (error) {
    const reason = error instanceof Error && 'code' in error ? String(error.code) : 'unreadable'
    throw badFile(file, `cannot be read (${reason})`)
  }
}

/** The error of JSON.parse is dropped on purpose: it quotes the text around the mistake. */
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
  return Object.values(value['keys']).every(key => {
    return isObject(key) && typeof key['public'] === 'string' && ['string', 'undefined'].includes(typeof key['addedAt'])
  })
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function isKey(text: unknown, bytes: number): boolean {
  return typeof text === 'string' && Buffer.from(text, 'base64').length === bytes
}

function badFile(file: string, problem: string): VaultError {
  return new VaultError(
    'key_file',
    `The vault key file ${file} ${problem}. Correct the path, or restore the file; do not create a new one while boxes of its keys exist.`
  )
}
