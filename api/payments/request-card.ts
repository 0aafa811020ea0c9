/**
 * The card of a create request: claimed or looked up before acceptance, and released when the request is not accepted. The
 * card data stays sealed; only the CVV that comes with a stored card is sealed here.
 */
import { isExpired } from '../../machines/card-brands.js'
import type { CardSource } from '../../machines/commands.js'
import { type Decline, type DeclineReason, failureOfDecline } from '../../machines/declines.js'
import type { PaymentTerms } from '../../machines/model.js'
import { declineUnsent } from '../../machines/stored-card-retries.js'
import type { CardDeclineStore } from '../../redis/cards/card-declines.js'
import type { CardStore } from '../../redis/cards/cards.js'
import { isRedisUnusable } from '../../redis/connection/redis-errors.js'
import type { IdempotencyValue } from '../../redis/payments/idempotency.js'
import type { TokenStore } from '../../redis/tokens/tokens.js'
import type { Clock } from '../../runtime/clock.js'
import type { Config } from '../../runtime/config.js'
import type { Sealer } from '../../vault/sealer.js'
import { ServiceError } from '../http/service-error.js'
import type { CreateRequest, RequestScope } from './payments-port.js'
import { presentDecline } from './submission-presenter.js'

/** A request, and where its idempotency record is. */
export interface RecordedScope extends RequestScope {
  readonly partition: number
  readonly idempotencyRecordId: string
}

export interface RequestCardDeps {
  readonly clock: Clock
  readonly tokens: TokenStore
  readonly cards: CardStore
  readonly cardDeclines: Pick<CardDeclineStore, 'codes'>
  readonly config: Pick<Config, 'environment'>
  readonly sealer: Sealer
}

/**
 * The card of a new payment: a token is claimed for this request (a repeat of the request claims it again), a stored
 * card is looked up, and the token of its CVV claimed. Throws `ServiceError` when this merchant may not use one of them.
 */
export async function findCard(
  deps: RequestCardDeps,
  { merchantId, fingerprint, idempotencyRecordId }: RecordedScope,
  source: CardSource
): Promise<PaymentTerms['card']> {
  if (source.type === 'card') {
    const nowMs = deps.clock.now()
    const [card, codes] = await Promise.all([
      deps.cards.read(merchantId, source.cardId),
      deps.cardDeclines.codes(merchantId, source.cardId, nowMs)
    ])
    if (card === null) throw new ServiceError('unknown_card')
    if (isExpired(card.expirationYear, card.expirationMonth, nowMs)) throw cardExpired()
    const decline = declineUnsent(codes, card.brand, deps.config.environment)
    if (decline !== undefined) throw declinedUnsent(decline)
    if (source.cvvTokenId !== undefined) {
      const claim = await deps.tokens.claimCvv(source.cvvTokenId, merchantId, idempotencyRecordId, fingerprint)
      if (claim.kind !== 'claimed') throw new ServiceError('invalid_token')
    }
    return { brand: card.brand, last4: card.last4, cardId: card.cardId }
  }
  const claim = await deps.tokens.claim(source.tokenId, merchantId, idempotencyRecordId, fingerprint)
  if (claim.kind !== 'claimed') throw new ServiceError('invalid_token')
  return { brand: claim.brand, last4: claim.last4, cardId: null }
}

/** As an issuer would decline it: known here, it is not sent. */
function cardExpired(): ServiceError {
  return new ServiceError('card_expired', {
    more: { decline_reason: 'expired_card' satisfies DeclineReason, may_retry: false }
  })
}

/** A card network forbids to send it: this card was refused for good, or too often. */
function declinedUnsent(decline: Decline): ServiceError {
  return new ServiceError(failureOfDecline(decline), presentDecline(decline))
}

/** Seals the CVV that came with a stored card, for the worker that will pay with it. */
export async function keepCvv(deps: RequestCardDeps, terms: PaymentTerms, request: CreateRequest): Promise<void> {
  if (request.cvv === null) return
  const box = deps.sealer.sealCvv(request.cvv, { merchantId: terms.merchantId, subjectId: terms.id })
  await deps.tokens.putCvv(terms.id, box)
}

/**
 * Releases the card data of a request that was not accepted, because its key has a payment already. The token is released
 * for use with a new key when the payment belongs to another request, or has ended without the token. The store keeps a
 * token that the payment may still need or was sent with, because it knows which requests have claimed it.
 *
 * If this process dies before this, or the memory-only Redis is unavailable, the token stays with the key. A repeat of the
 * request releases it.
 */
export async function giveCardBack(
  deps: RequestCardDeps,
  { fingerprint, idempotencyRecordId }: RecordedScope,
  paymentId: string,
  { source, cvv }: CreateRequest,
  earlier: IdempotencyValue
): Promise<void> {
  const isStillOpen = earlier.fingerprint === fingerprint && earlier.result === null
  try {
    if (cvv !== null) await deps.tokens.dropCvv(paymentId)
    const tokenId = source.type === 'token' ? source.tokenId : source.cvvTokenId
    if (tokenId !== undefined && !isStillOpen) await deps.tokens.release(tokenId, idempotencyRecordId, fingerprint)
  } catch (error) {
    if (!isRedisUnusable(error)) throw error
  }
}
