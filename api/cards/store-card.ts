/**
 * The use case behind POST /v1/cards: a one-use token becomes a stored card (docs/API.md#post-v1cards).
 *
 * Three steps, each of which can be repeated: claim the token, store its card, drop the token. A process that dies
 * between two steps leaves a token that only this route can claim again. A repeated request ends in the same card.
 */
import type { ShownCard } from '../../contract/card.js'
import type { CardStore } from '../../redis/cards/cards.js'
import { CARD_OWNER, type TokenStore, type TokenSummary } from '../../redis/tokens/tokens.js'
import { ServiceError } from '../http/service-error.js'

interface Exchange {
  readonly card: ShownCard
  /** False when an earlier request exchanged the same token. */
  readonly isNew: boolean
}

/** What the routes of stored cards need. */
export interface Cards {
  /** `storeCard` for the stores of this process. */
  store(merchantId: string, tokenId: string): Promise<Exchange>
  /** Null when this merchant has no such card. */
  read(merchantId: string, cardId: string): Promise<ShownCard | null>
  /** False when this merchant has no such card. */
  erase(merchantId: string, cardId: string): Promise<boolean>
}

export interface StoreCardDeps {
  readonly tokens: Pick<TokenStore, 'peek' | 'claim' | 'drop'>
  readonly cards: Pick<CardStore, 'store' | 'findByToken'>
  /** Called when the card is stored, but its token could not be dropped: the token expires instead. */
  onDropFailed(error: unknown): void
}

/**
 * Exchanges a token of `merchantId` for a stored card. Throws `ServiceError` `invalid_token` when the token is unknown,
 * expired, of another merchant, or used by a payment.
 */
export async function storeCard(deps: StoreCardDeps, merchantId: string, tokenId: string): Promise<Exchange> {
  const claim = await deps.tokens.claim(tokenId, merchantId, CARD_OWNER)
  const summary = claim.kind === 'claimed' ? await deps.tokens.peek(tokenId) : null
  if (claim.kind !== 'claimed' || summary === null) return storedBefore(deps, merchantId, tokenId)

  const result = await deps.cards.store({ ...cardFields(summary), cardBox: claim.cardBox })
  await deps.tokens.drop(tokenId).catch(deps.onDropFailed)
  // The token became a card that was erased later: it is used up.
  if (result === null) throw new ServiceError('invalid_token')
  return result
}

/** A token that no longer exists may have become a card: by a request whose answer was lost, or by a concurrent one. */
async function storedBefore(deps: StoreCardDeps, merchantId: string, tokenId: string): Promise<Exchange> {
  const card = await deps.cards.findByToken(merchantId, tokenId)
  if (card === null) throw new ServiceError('invalid_token')
  return { card, isNew: false }
}

function cardFields({ owner: _, ...fields }: TokenSummary): Omit<TokenSummary, 'owner'> {
  return fields
}
