/**
 * The use case behind POST /v1/cards: a one-use token becomes a stored card (docs/API.md#post-v1cards).
 *
 * Three steps, each of which can be repeated: claim the token, store its card, drop the token. A process that dies
 * between two steps leaves a token that only this route can claim again. A repeated request ends in the same card.
 */
import type { CardStore, StoredCard } from '../../redis/cards/cards.js'
import { CARD_OWNER, type TokenStore, type TokenSummary } from '../../redis/tokens/tokens.js'
import { ServiceError } from '../../runtime/errors.js'
import { apiMetrics } from '../http/api-metrics.js'

export interface StoreCardDeps {
  readonly tokens: Pick<TokenStore, 'peek' | 'claim' | 'drop'>
  readonly cards: Pick<CardStore, 'store' | 'findByToken'>
  /** Called when the card is stored, but its token could not be dropped: the token ends by its TTL instead. */
  onDropFailed(error: unknown): void
}

/**
 * Exchanges a token of `merchantId` for a stored card; `isNew` is false when an earlier request did so.
 * Throws `ServiceError` `invalid_token` when the token is unknown, expired, of another merchant, or used by a payment.
 */
export async function storeCard(
  deps: StoreCardDeps,
  merchantId: string,
  tokenId: string
): Promise<{ readonly card: StoredCard; readonly isNew: boolean }> {
  const claim = await deps.tokens.claim(tokenId, merchantId, CARD_OWNER)
  if (claim.kind !== 'claimed') apiMetrics().claimRefused(claim.kind)
  const summary = claim.kind === 'claimed' ? await deps.tokens.peek(tokenId) : null
  if (claim.kind !== 'claimed' || summary === null) return storedBefore(deps, merchantId, tokenId)

  const result = await deps.cards.store({ ...cardFields(summary), cardBox: claim.cardBox })
  await deps.tokens.drop(tokenId).catch(deps.onDropFailed)
  // The token became a card that was erased since: it is used up.
  if (result === null) throw new ServiceError('invalid_token')
  return result
}

/** A token that is gone may have become a card: in a request whose answer was lost, or in one that was faster. */
async function storedBefore(
  deps: StoreCardDeps,
  merchantId: string,
  tokenId: string
): Promise<{ readonly card: StoredCard; readonly isNew: boolean }> {
  const card = await deps.cards.findByToken(merchantId, tokenId)
  if (card === null) throw new ServiceError('invalid_token')
  return { card, isNew: false }
}

function cardFields({ owner: _, ...fields }: TokenSummary): Omit<TokenSummary, 'owner'> {
  return fields
}
