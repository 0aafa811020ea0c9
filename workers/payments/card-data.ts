/**
 * The one place where card data is opened (invariant 7): just before an authorisation, for the length of one call.
 *
 * A token belongs to the request that claimed it; a worker gets the boxes by claiming it again. Card and CVV are
 * deleted as soon as the authorisation was sent: it is never sent a second time, regardless of the answer. The token
 * of an authorisation that was not sent is released: the merchant may use it with another Idempotency-Key.
 */
import type { CardSource } from '../../machines/commands.js'
import type { PaymentTerms } from '../../machines/model.js'
import type { OpenCard } from '../../machines/network.js'
import type { CardStore } from '../../redis/cards/cards.js'
import type { TokenStore } from '../../redis/tokens/tokens.js'
import type { Opener } from '../../vault/opener.js'

export interface CardData {
  /**
   * `invalid_token`: the token, or the CVV for a stored card, is gone; `unknown_card`: the card was erased. Rejects
   * when a Redis is unavailable, and with `VaultError` when a box can't be opened.
   */
  open(
    terms: PaymentTerms,
    source: CardSource,
    idempotencyRecordId: string
  ): Promise<OpenCard | 'invalid_token' | 'unknown_card'>
  /** Forgets the token, or the CVV for a stored card. */
  forget(terms: PaymentTerms, source: CardSource): Promise<void>
  /** Lets another request use the token, for the rest of its life; forgets the CVV that came in a request. */
  release(terms: PaymentTerms, source: CardSource, idempotencyRecordId: string): Promise<void>
}

/** `opener` has the private keys: `payments` alone is given them. */
export function createCardData(tokens: TokenStore, cards: CardStore, opener: Opener): CardData {
  return {
    async open(terms, source, idempotencyRecordId) {
      const { merchantId } = terms
      if (source.type === 'token') {
        const claim = await tokens.claim(source.tokenId, merchantId, idempotencyRecordId)
        if (claim.kind !== 'claimed') return 'invalid_token'
        const context = { merchantId, subjectId: source.tokenId }
        return opener.openTyped(claim.typedBox, context)
      }
      const card = await cards.read(merchantId, source.cardId)
      if (card === null) return 'unknown_card'
      const cvvBox = source.hasCvv ? await cvvBoxOf(tokens, terms, source, idempotencyRecordId) : null
      // An authorisation without the CVV is another one than was asked for: issuers judge it, and liability, otherwise.
      if (source.hasCvv && cvvBox === null) return 'invalid_token'
      return {
        ...opener.openCard(card.cardBox, { merchantId, subjectId: card.tokenId }),
        cvv: cvvBox === null ? null : opener.openCvv(cvvBox, { merchantId, subjectId: source.cvvTokenId ?? terms.id })
      }
    },

    async forget(terms, source) {
      const tokenId = tokenOf(source)
      if (tokenId !== undefined) await tokens.drop(tokenId)
      else if (hasCvv(source)) await tokens.dropCvv(terms.id)
    },

    async release(terms, source, idempotencyRecordId) {
      const tokenId = tokenOf(source)
      if (tokenId !== undefined) await tokens.release(tokenId, idempotencyRecordId)
      else if (hasCvv(source)) await tokens.dropCvv(terms.id)
    }
  }
}

/** The box of the CVV for a stored card; null when it is gone. */
async function cvvBoxOf(
  tokens: TokenStore,
  { id, merchantId }: PaymentTerms,
  { cvvTokenId }: CardSource & { type: 'card' },
  idempotencyRecordId: string
): Promise<string | null> {
  if (cvvTokenId === undefined) return tokens.readCvv(id)
  const claim = await tokens.claimCvv(cvvTokenId, merchantId, idempotencyRecordId)
  return claim.kind === 'claimed' ? claim.cvvBox : null
}

/** The one-use token of a source: of the card, or of the CVV for a stored card. */
function tokenOf(source: CardSource): string | undefined {
  return source.type === 'token' ? source.tokenId : source.cvvTokenId
}

function hasCvv(source: CardSource): boolean {
  return source.type === 'card' && source.hasCvv
}
