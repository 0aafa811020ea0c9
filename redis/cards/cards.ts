/**
 * Stored cards, on the durable Redis: the sealed card of a one-use token, kept for later payments, without its CVV.
 *
 * A card is never changed after it was stored, only erased. Its box stays sealed for its token, so `tokenId` is part of the record.
 */
import { uuidv7 } from 'uuidv7'
import type { Writes } from '../connection/writes.js'
import { keys, partitionOf, paymentKeyOf } from '../keys.js'
import { defineScript } from '../scripts.js'

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

/** How long a repeated POST /v1/cards finds its card: as long as idempotency keys are kept. */
const TOKEN_REMEMBERED_MS = 30 * 24 * 3_600_000

const storeCard = defineScript('store_card')
const eraseCard = defineScript('erase_card')

/** Fields of the hash of a card. */
const CARD_FIELDS = ['merchant', 'token', 'box', 'brand', 'last4', 'month', 'year', 'holder'] as const

/** `partitions`: the number of the installation. */
export function createCardStore(writes: Writes, partitions: number): CardStore {
  const { redis } = writes
  const read = async (merchantId: string, cardId: string): Promise<StoredCard | null> => {
    const key = keys.card(partitionOf(merchantId, partitions), cardId)
    const card = readCard(cardId, await redis.hmget(key, ...CARD_FIELDS))
    return card?.merchantId === merchantId ? card : null
  }

  return {
    read,
    findByToken: async (merchantId, tokenId) => {
      const cardId = await redis.get(keys.cardOfToken(partitionOf(merchantId, partitions), tokenId))
      return cardId === null ? null : read(merchantId, cardId)
    },
    store: async card => {
      const { cardId, isNew } = await store(writes, partitionOf(card.merchantId, partitions), card)
      const stored = isNew ? { ...card, cardId } : await read(card.merchantId, cardId)
      return stored === null ? null : { card: stored, isNew }
    },
    erase: async (merchantId, cardId) => {
      const key = keys.card(partitionOf(merchantId, partitions), cardId)
      return (await writes.run(key, node => eraseCard(node, [key], [merchantId]))) === 1
    }
  }
}

async function store(writes: Writes, partition: number, card: NewCard): Promise<{ cardId: string; isNew: boolean }> {
  const newId = `card_${paymentKeyOf(uuidv7())}`
  const fields: Record<(typeof CARD_FIELDS)[number], string> = {
    merchant: card.merchantId,
    token: card.tokenId,
    box: card.cardBox,
    brand: card.brand,
    last4: card.last4,
    month: card.expirationMonth,
    year: card.expirationYear,
    holder: card.holderName
  }
  const places = [keys.cardOfToken(partition, card.tokenId), keys.card(partition, newId)]
  const values = [newId, TOKEN_REMEMBERED_MS, ...Object.entries(fields).flat()]
  const reply = await writes.run(keys.card(partition, newId), node => storeCard(node, places, values))
  const [cardId, isNew] = Array.isArray(reply) ? reply : []
  if (typeof cardId !== 'string') throw new Error('store_card.lua answered what this version does not know.')
  return { cardId, isNew: isNew === 1 }
}

function readCard(cardId: string, values: (string | null)[]): StoredCard | null {
  const [merchantId, tokenId, cardBox, brand, last4, expirationMonth, expirationYear, holderName] = values
  if (!merchantId || !tokenId || !cardBox || !brand || !last4) return null
  if (!expirationMonth || !expirationYear || !holderName) return null
  return { cardId, merchantId, tokenId, cardBox, brand, last4, expirationMonth, expirationYear, holderName }
}
