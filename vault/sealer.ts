/** Sealing of card data with public keys: `api` and `tokens` can seal and can't open. */
import sodium from 'sodium-native'
import { type BoxContext, type BoxKind, encodePlaintext, formatBox, type SealedCard, type TypedCard } from './box.js'
import { type KeyRing, requireKey } from './key-ring.js'
import { type KeyHolder, watchKeys } from './watched-keys.js'

export interface Sealer {
  /** Seals a card for `context`. Returns the text of the box. */
  sealCard(card: SealedCard, context: BoxContext): string
  /**
   * Seals card and CVV together, for the one payment of a token. Opening is the most expensive step of a payment, and one
   * box costs half of two. The box must never reach a disk.
   */
  sealTyped(card: TypedCard, context: BoxContext): string
  /** Seals a CVV for `context`, apart from the card, because it is deleted earlier. Returns the text of the box. */
  sealCvv(cvv: string, context: BoxContext): string
}

/**
 * Reads the public key file, and again after a rotation; seals with its current key. Throws `VaultError` `key_file`.
 */
export function loadSealer(publicFile: string): Sealer & KeyHolder {
  const currentKey = watchKeys(publicFile, 'public', readCurrentKey)

  const seal = (kind: BoxKind, context: BoxContext, secret: readonly string[]): string => {
    const { id, publicKey } = currentKey.value()
    const plaintext = encodePlaintext(kind, context, secret)
    const sealed = Buffer.alloc(plaintext.length + sodium.crypto_box_SEALBYTES)
    try {
      sodium.crypto_box_seal(sealed, plaintext, publicKey)
    } finally {
      sodium.sodium_memzero(plaintext)
    }
    return formatBox(id, sealed)
  }

  return {
    keyIds: currentKey.keyIds,
    keyProblem: currentKey.keyProblem,
    sealCard: (card, context) => seal('card', context, partsOf(card)),
    sealTyped: (card, context) => seal('typed', context, [...partsOf(card), card.cvv]),
    sealCvv: (cvv, context) => seal('cvv', context, [cvv])
  }
}

function partsOf(card: SealedCard): string[] {
  return [card.number, card.holderName, card.expirationMonth, card.expirationYear]
}

function readCurrentKey(ring: KeyRing): { id: string; publicKey: Buffer } {
  const key = requireKey(ring, ring.current)
  return { id: ring.current, publicKey: Buffer.from(key.public ?? '', 'base64') }
}
