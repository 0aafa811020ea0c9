/** Builders of tokens and stored cards for tests. Boxes here are plain words: the stores can't read boxes anyway. */
import type { NewCard } from '../../redis/cards/cards.js'
import { type NewToken, newTokenId } from '../../redis/tokens/tokens.js'

/** A token of merchant `m_1`, ready to be put. */
export function aToken(changes: Partial<NewToken> = {}): NewToken {
  return { ...aCard(), typedBox: 'v1.k1.typed', ...changes }
}

/** A card of merchant `m_1` under a token of its own, ready to be stored. */
export function aCard(changes: Partial<NewCard> = {}): NewCard {
  return {
    merchantId: 'm_1',
    tokenId: newTokenId(),
    cardBox: 'v1.k1.card',
    brand: 'visa',
    last4: '0060',
    expirationMonth: '07',
    expirationYear: '2031',
    holderName: 'Conceição Araújo',
    ...changes
  }
}
