/**
 * The files that hold the keys of the vault: `{"current":"k1","keys":{"k1":{"public":"base64"}}}`; the private file
 * has `"private"` beside each `"public"`. New boxes are sealed with `current`; the other keys only open old boxes.
 *
 * A key pair is created by the operator's tools, so everything here is synchronous and happens at start.
 */
import { readFileSync } from 'node:fs'
import sodium from 'sodium-native'
import { VaultError } from './errors.js'

/** One key of a ring, as it stands in a file (base64). */
export interface StoredKey {
  readonly public: string
  readonly private?: string
}

/** The content of a key file. */
export interface KeyRing {
  readonly current: string
  readonly keys: Readonly<Record<string, StoredKey>>
}

/** Ids become a part of every box, between dots. */
const KEY_ID = /^[A-Za-z0-9_-]{1,32}$/

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
 * The ring with a fresh key pair in it, which becomes the current one. `undefined` starts a new ring. The id is the next
 * free one unless it is given. Throws `VaultError` `key_file` when it is taken, or no id.
 */
export function withNewKey(ring: KeyRing | undefined, newId?: string): KeyRing {
  const keys = ring?.keys ?? {}
  const id = newId ?? nextKeyId(Object.keys(keys))
  if (!KEY_ID.test(id) || Object.hasOwn(keys, id)) {
    throw new VaultError(
      'key_file',
      `"${id}" cannot be the id of a new key: it is one of an old key, or not 1 to 32 letters, digits, "_" or "-".`
    )
  }
  const publicKey = Buffer.alloc(sodium.crypto_box_PUBLICKEYBYTES)
  const privateKey = Buffer.alloc(sodium.crypto_box_SECRETKEYBYTES)
  sodium.crypto_box_keypair(publicKey, privateKey)
  const pair = { public: publicKey.toString('base64'), private: privateKey.toString('base64') }
  sodium.sodium_memzero(privateKey)
  return { current: id, keys: { ...keys, [id]: pair } }
}

function nextKeyId(ids: readonly string[]): string {
  const numbers = ids.map(id => Number(/^k(\d{1,9})$/.exec(id)?.[1] ?? 0))
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
  return Object.values(value['keys']).every(key => isObject(key) && typeof key['public'] === 'string')
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
