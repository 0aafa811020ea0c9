/**
 * The format of a sealed box: the text `v2.<key id>.<base64url>` of the sender's public key, a nonce, and the secret box of
 * libsodium. Inside are the secret, its kind, its merchant and its subject. So a box that was copied into another record,
 * or a CVV in the place of a card, is refused when it is opened.
 */
import sodium from 'sodium-native'
import { VaultError } from './vault-error.js'

/** What a box holds. */
export type BoxKind = 'card' | 'cvv' | 'typed'

/** What a box is bound to. The same values are needed to open it. */
export interface BoxContext {
  readonly merchantId: string
  /** The id of the token or payment that the buyer's data came with; a stored card keeps the id of its token. */
  readonly subjectId: string
}

/** A card as it is sealed: the fields of the request without the CVV. */
export interface SealedCard {
  readonly number: string
  readonly holderName: string
  /** "01".."12" */
  readonly expirationMonth: string
  /** "YYYY" */
  readonly expirationYear: string
}

/** A card with its CVV, for one payment: opened once, and deleted with its token. */
export interface TypedCard extends SealedCard {
  readonly cvv: string
}

const BOX = /^v2\.([A-Za-z0-9_-]{1,32})\.([A-Za-z0-9_-]+)$/
const SENDER_BYTES = sodium.crypto_kx_PUBLICKEYBYTES
const HEAD_BYTES = SENDER_BYTES + sodium.crypto_secretbox_NONCEBYTES

/** Views of the bytes of one box. */
export interface BoxBytes {
  /** The public key of the pair that it was sealed with. */
  readonly sender: Buffer
  readonly nonce: Buffer
  /** The encrypted plaintext and its authenticator. */
  readonly sealed: Buffer
}

/** Room for a box of so many bytes of plaintext; `text` makes the box of what was written into it. */
export function newBox(plaintextBytes: number): BoxBytes & { text(keyId: string): string } {
  const bytes = Buffer.alloc(HEAD_BYTES + plaintextBytes + sodium.crypto_secretbox_MACBYTES)
  return { ...viewsOf(bytes), text: keyId => `v2.${keyId}.${bytes.toString('base64url')}` }
}

/** Parts of a box. Throws `VaultError` `damaged_box`. */
export function parseBox(box: string): BoxBytes & { readonly keyId: string } {
  const [, keyId, text] = BOX.exec(box) ?? []
  if (keyId === undefined || text === undefined) throw damagedBox()
  const bytes = Buffer.from(text, 'base64url')
  if (bytes.length <= HEAD_BYTES + sodium.crypto_secretbox_MACBYTES) throw damagedBox()
  return { keyId, ...viewsOf(bytes) }
}

function viewsOf(bytes: Buffer): BoxBytes {
  return {
    sender: bytes.subarray(0, SENDER_BYTES),
    nonce: bytes.subarray(SENDER_BYTES, HEAD_BYTES),
    sealed: bytes.subarray(HEAD_BYTES)
  }
}

/** The id of the key that a box was sealed with. Throws `VaultError` `damaged_box`. */
export function keyIdOf(box: string): string {
  return parseBox(box).keyId
}

/** The bytes that are sealed. The caller wipes them. */
export function encodePlaintext(kind: BoxKind, context: BoxContext, secret: readonly string[]): Buffer {
  return Buffer.from(JSON.stringify([...label(kind, context), ...secret]))
}

/** The secret parts in opened bytes. Throws `VaultError` `wrong_context` or `damaged_box`, without quoting them. */
export function decodePlaintext(kind: BoxKind, context: BoxContext, plaintext: Buffer): readonly string[] {
  const parts = parseStrings(plaintext)
  const expected = label(kind, context)
  if (expected.some((part, index) => parts[index] !== part)) {
    throw new VaultError(
      'wrong_context',
      `The box is not the ${kind} of ${context.subjectId} of merchant ${context.merchantId}; it was sealed for another record. Nothing was opened.`
    )
  }
  return parts.slice(expected.length)
}

/** For a box that no key can open. */
export function damagedBox(): VaultError {
  return new VaultError('damaged_box', 'The sealed box is damaged or is no box. The buyer must type the card again.')
}

function label(kind: BoxKind, context: BoxContext): readonly [BoxKind, string, string] {
  return [kind, context.merchantId, context.subjectId]
}

/** Drops the error of JSON.parse on purpose: it quotes the text. */
function parseStrings(plaintext: Buffer): readonly string[] {
  let parts: unknown
  try {
    parts = JSON.parse(plaintext.toString())
  } catch {
    throw damagedBox()
  }
  if (!Array.isArray(parts) || !parts.every(part => typeof part === 'string')) throw damagedBox()
  return parts
}
