/** What the routes of stored cards need. */
import type { CardFace } from '../../redis/cards/cards.js'

/** A card that can be charged again; the card number is not in it. */
export interface StoredCard extends CardFace {
  readonly cardId: string
}

export interface Cards {
  /**
   * Exchanges a one-use token of this merchant for a stored card; `isNew` is false when the same token was exchanged
   * before. Throws `ServiceError` `invalid_token`. api/cards/store-card.ts implements it.
   */
  store(merchantId: string, tokenId: string): Promise<{ readonly card: StoredCard; readonly isNew: boolean }>
  /** Null when this merchant has no such card. */
  read(merchantId: string, cardId: string): Promise<StoredCard | null>
  /** False when this merchant has no such card. */
  erase(merchantId: string, cardId: string): Promise<boolean>
}
