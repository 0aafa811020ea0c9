/** A stored card as merchants see it: docs/API.md#post-v1cards. */
import { isExpired } from '../../machines/card-brands.js'
import type { ShownCard } from './store-card.js'

export function presentCard(card: ShownCard, nowMs: number): Record<string, unknown> {
  return {
    card_id: card.cardId,
    status: isExpired(card.expirationYear, card.expirationMonth, nowMs) ? 'expired' : 'active',
    brand: card.brand,
    last4: card.last4,
    expiration_month: card.expirationMonth,
    expiration_year: card.expirationYear,
    holder_name: card.holderName
  }
}
