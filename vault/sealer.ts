/**
 * Sealing of card data with public keys: `api` and `tokens` can seal, and open nothing but what they sealed in the last
 * minute, which they have seen in the clear.
 */
import sodium from 'sodium-native'
import { type BoxContext, type BoxKind, encodePlaintext, newBox, type SealedCard, type TypedCard } from './box.js'
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

/** A key pair for each box would be nearly all the cost of sealing and opening it. */
const SENDER_LIFE_MS = 60_000

interface VaultKey {
  readonly id: string
  readonly publicKey: Buffer
}

interface Sender {
  readonly vaultKey: VaultKey
  readonly publicKey: Buffer
  readonly shared: Buffer
}

/**
 * Reads the public key file, and again after a rotation; seals with its current key. Throws `VaultError` `key_file`.
 */
export function loadSealer(publicFile: string, senderLifeMs: number = SENDER_LIFE_MS): Sealer & KeyHolder {
  const currentKey = watchKeys(publicFile, 'public', readCurrentKey)

  let sender: Sender | null = null
  const senderFor = (vaultKey: VaultKey): Sender => {
    if (sender?.vaultKey !== vaultKey) {
      const latest = newSender(vaultKey)
      sender = latest
      setTimeout(() => {
        sodium.sodium_memzero(latest.shared)
        if (sender === latest) sender = null
      }, senderLifeMs).unref()
    }
    return sender
  }

  const seal = (kind: BoxKind, context: BoxContext, secret: readonly string[]): string => {
    const { vaultKey, publicKey, shared } = senderFor(currentKey.value())
    const plaintext = encodePlaintext(kind, context, secret)
    const box = newBox(plaintext.length)
    try {
      publicKey.copy(box.sender)
      sodium.randombytes_buf(box.nonce)
      sodium.crypto_secretbox_easy(box.sealed, plaintext, box.nonce, shared)
    } finally {
      sodium.sodium_memzero(plaintext)
    }
    return box.text(vaultKey.id)
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

/** A new key pair, and the secret that it shares with the vault. Nothing else is kept of its private half. */
function newSender(vaultKey: VaultKey): Sender {
  const publicKey = Buffer.alloc(sodium.crypto_kx_PUBLICKEYBYTES)
  const privateKey = sodium.sodium_malloc(sodium.crypto_kx_SECRETKEYBYTES)
  const shared = sodium.sodium_malloc(sodium.crypto_kx_SESSIONKEYBYTES)
  sodium.crypto_kx_keypair(publicKey, privateKey)
  sodium.crypto_kx_client_session_keys(null, shared, publicKey, privateKey, vaultKey.publicKey)
  sodium.sodium_memzero(privateKey)
  return { vaultKey, publicKey, shared }
}

function readCurrentKey(ring: KeyRing): VaultKey {
  const key = requireKey(ring, ring.current)
  return { id: ring.current, publicKey: Buffer.from(key.public ?? '', 'base64') }
}
