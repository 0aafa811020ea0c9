/** Opening of sealed card data with private keys: `payments` only. */
import sodium from 'sodium-native'
import {
  type BoxContext,
  type BoxKind,
  damagedBox,
  decodePlaintext,
  parseBox,
  type SealedCard,
  type TypedCard
} from './box.js'
import type { KeyRing } from './key-ring.js'
import { VaultError } from './vault-error.js'
import { type KeyHolder, watchKeys } from './watched-keys.js'

export interface Opener {
  /** The card in a box that was sealed as a card for `context`. Throws `VaultError`, which never holds card data. */
  openCard(box: string, context: BoxContext): SealedCard
  /** Card and CVV in a box that was sealed as typed for `context`. Throws `VaultError`, which never holds card data. */
  openTyped(box: string, context: BoxContext): TypedCard
  /** The CVV in a box that was sealed as a CVV for `context`. Throws `VaultError`, which never holds it. */
  openCvv(box: string, context: BoxContext): string
}

interface KeyPair {
  readonly publicKey: Buffer
  readonly privateKey: Buffer
  /** What it shares with the senders of boxes, by their public keys. */
  readonly shared: Map<string, Buffer>
}

/** Each process that seals is a new sender each minute. Beyond that the oldest are agreed on again. */
const SENDERS_MAX = 500

/**
 * Reads the private key file; opens boxes of every key in it. A box of an unknown key makes it read a changed file again,
 * so it finds keys that a rotation adds. Throws `VaultError` `key_file`.
 */
export function loadOpener(privateFile: string): Opener & KeyHolder {
  const pairs = watchKeys(privateFile, 'private', readPairs)

  const open = (kind: BoxKind, box: string, context: BoxContext): readonly string[] => {
    const { keyId, sender, nonce, sealed } = parseBox(box)
    const pair = pairs.value().get(keyId) ?? pairs.value(true).get(keyId)
    if (pair === undefined) throw unknownKey(keyId, privateFile, pairs.keyProblem())
    const shared = sharedWith(sender, pair)
    const plaintext = Buffer.alloc(sealed.length - sodium.crypto_secretbox_MACBYTES)
    try {
      if (!sodium.crypto_secretbox_open_easy(plaintext, sealed, nonce, shared)) throw damagedBox()
      return decodePlaintext(kind, context, plaintext)
    } finally {
      sodium.sodium_memzero(plaintext)
    }
  }

  return {
    keyIds: pairs.keyIds,
    keyProblem: pairs.keyProblem,
    openCard: (box, context) => cardOf(open('card', box, context)),
    openTyped: (box, context) => {
      const parts = open('typed', box, context)
      return { ...cardOf(parts), cvv: given(parts[4]) }
    },
    openCvv: (box, context) => given(open('cvv', box, context)[0])
  }
}

function sharedWith(sender: Buffer, { publicKey, privateKey, shared }: KeyPair): Buffer {
  const name = sender.toString('latin1')
  const known = shared.get(name)
  if (known !== undefined) return known
  const secret = sodium.sodium_malloc(sodium.crypto_kx_SESSIONKEYBYTES)
  try {
    sodium.crypto_kx_server_session_keys(secret, null, publicKey, privateKey, sender)
  } catch {
    // A key of a small order, which no sender makes.
    throw damagedBox()
  }
  const [oldest] = shared.keys()
  if (shared.size >= SENDERS_MAX && oldest !== undefined) shared.delete(oldest)
  shared.set(name, secret)
  return secret
}

function cardOf(parts: readonly string[]): SealedCard {
  const [number, holderName, expirationMonth, expirationYear] = parts
  return {
    number: given(number),
    holderName: given(holderName),
    expirationMonth: given(expirationMonth),
    expirationYear: given(expirationYear)
  }
}

function given(part: string | undefined): string {
  if (part === undefined) throw damagedBox()
  return part
}

/** Keeps private keys in guarded memory, which is neither swapped out nor part of a core dump. */
function readPairs(ring: KeyRing): ReadonlyMap<string, KeyPair> {
  const pairs = new Map<string, KeyPair>()
  for (const [id, key] of Object.entries(ring.keys)) {
    const decoded = Buffer.from(key.private ?? '', 'base64')
    const privateKey = sodium.sodium_malloc(sodium.crypto_box_SECRETKEYBYTES)
    decoded.copy(privateKey)
    sodium.sodium_memzero(decoded)
    pairs.set(id, { publicKey: Buffer.from(key.public ?? '', 'base64'), privateKey, shared: new Map() })
  }
  return pairs
}

function unknownKey(keyId: string, privateFile: string, problem: string | undefined): VaultError {
  const why =
    problem ?? 'Give this process the private file of the last rotation; it reads the file again without a restart.'
  return new VaultError(
    'unknown_key',
    `The box was sealed with key ${keyId}, which ${privateFile} does not have. ${why}`
  )
}
