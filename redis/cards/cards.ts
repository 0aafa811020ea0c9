/**
 * Stored cards, on the durable Redis: the sealed card of a one-use token, kept for later payments, without its CVV.
 *
 * A card is never changed after it was stored, only erased. Its box stays sealed for its token, so `tokenId` is part of the record.
 */
import { uuidv7 } from 'uuidv7'
import { DAY_MS } from '../../machines/durations.js'
import type { Writes } from '../connection/writes.js'
import { keys, partitionOf, paymentKeyOf } from '../keys.js'
import { defineNamedScript } from '../scripts.js'
import { required, storedValue } from '../stored-fields.js'

/** What may be shown of a card. */
export interface CardFace {
  readonly brand: string
  readonly last4: string
  /** "01".."12" */
  readonly expirationMonth: string
  /** "YYYY" */
  readonly expirationYear: string
  readonly holderName: string
}

/** A card to store. `cardBox` was sealed for `{ merchantId, subjectId: tokenId }`. */
export interface NewCard extends CardFace {
  readonly merchantId: string
  readonly tokenId: string
  readonly cardBox: string
}

/** A stored card. `cardId` is `card_` and 26 characters. */
export interface StoredCard extends NewCard {
  readonly cardId: string
}

/** All methods reject while the durable Redis is unavailable; each is idempotent. */
export interface CardStore {
  /** Erases a card of this merchant; false when there is none. */
  erase(merchantId: string, cardId: string): Promise<boolean>
  /**
   * Stores a card. The same token again by the same merchant, within 30 days, gives the first card and `isNew` false; null
   * when that card was erased since.
   */
  store(card: NewCard): Promise<{ readonly card: StoredCard; readonly isNew: boolean } | null>
  /** A card of this merchant; `null` when there is none, or it is another merchant's (docs/API.md#post-v1cards). */
  read(merchantId: string, cardId: string): Promise<StoredCard | null>
  /** The card that a token of this merchant has become, or `null`. */
  findByToken(merchantId: string, tokenId: string): Promise<StoredCard | null>
}

/** How long a repeated POST /v1/cards finds its card (ms): the least that IDEMPOTENCY_RETENTION_DAYS may be. */
const TOKEN_REMEMBERED_MS = 30 * DAY_MS

const storeCard = defineNamedScript<{
  keys: 'token' | 'card'
  given: { cardId: string; record: string; rememberMs: number }
}>('store_card')

/** The record of a card. */
export const storedCard = storedValue<NewCard>('card', {
  merchantId: [required],
  tokenId: [required],
  cardBox: [required],
  brand: [required],
  last4: [required],
  expirationMonth: [required],
  expirationYear: [required],
  holderName: [required]
})

/** `partitions`: the number of the installation. */
export function createCardStore(writes: Writes, partitions: number): CardStore {
  const keyOf = (merchantId: string, cardId: string): string => keys.card(partitionOf(merchantId, partitions), cardId)
  const read = async (merchantId: string, cardId: string, redis = writes.redis): Promise<StoredCard | null> => {
    const record = await redis.get(keyOf(merchantId, cardId))
    const card = record === null ? null : { ...storedCard.decode(record), cardId }
    return card?.merchantId === merchantId ? card : null
  }

  return {
    read,
    findByToken: async (merchantId, tokenId) => {
      const cardId = await writes.redis.get(keys.cardOfToken(partitionOf(merchantId, partitions), tokenId))
      return cardId === null ? null : read(merchantId, cardId)
    },
    store: async card => {
      const { cardId, isNew } = await store(writes, partitionOf(card.merchantId, partitions), card)
      const stored = isNew ? { ...card, cardId } : await read(card.merchantId, cardId)
      return stored === null ? null : { card: stored, isNew }
    },
    // The note of what its token became stays: a repeated request with the token must not store the card again. That there is
    // none is confirmed as well, because an earlier try may have erased it.
    erase: async (merchantId, cardId) => {
      const key = keyOf(merchantId, cardId)
      return await writes.run(
        key,
        async redis => (await read(merchantId, cardId, redis)) !== null && (await redis.del(key)) === 1
      )
    }
  }
}

async function store(writes: Writes, partition: number, card: NewCard): Promise<{ cardId: string; isNew: boolean }> {
  const newId = `card_${paymentKeyOf(uuidv7())}`
  const named = { token: keys.cardOfToken(partition, card.tokenId), card: keys.card(partition, newId) }
  const given = { cardId: newId, record: storedCard.encode(card), rememberMs: TOKEN_REMEMBERED_MS }
  const reply = await writes.run(named.card, node => storeCard(node, named, given))
  const [cardId, isNew] = Array.isArray(reply) ? reply : []
  if (typeof cardId !== 'string') throw new Error('store_card.lua answered what this version does not know.')
  return { cardId, isNew: isNew === 1 }
}
