/**
 * The use case behind POST /v1/tokens: a typed card becomes a one-use token (docs/SECURITY.md, The way of a card
 * number).
 */
import { newTokenId, type TokenStore } from '../../redis/tokens/tokens.js'
import type { Clock } from '../../runtime/clock.js'
import type { Sealer } from '../../vault/sealer.js'
import type { CardInput } from './card-input.js'

export interface CreateTokenDeps {
  readonly sealer: Sealer
  readonly tokens: Pick<TokenStore, 'put'>
  readonly tokenTtlMs: number
  /** The time of the world outside. */
  readonly clock: Clock
}

/** The answer to the browser. */
export interface CreatedToken {
  readonly token_id: string
  readonly brand: string
  readonly last4: string
  /** ISO 8601, UTC. */
  readonly expires_at: string
}

/**
 * Seals a card and its CVV apart, and keeps both under a new token of `merchantId`. Rejects when the memory-only Redis is
 * away.
 */
export async function createToken(deps: CreateTokenDeps, merchantId: string, card: CardInput): Promise<CreatedToken> {
  const { number, cvv, brand, ...holder } = card
  const tokenId = newTokenId()
  const context = { merchantId, subjectId: tokenId }
  const last4 = number.slice(-4)
  const token = {
    tokenId,
    merchantId,
    brand,
    last4,
    ...holder,
    cardBox: deps.sealer.sealCard({ number, ...holder }, context),
    typedBox: deps.sealer.sealTyped({ number, ...holder, cvv }, context)
  }
  await deps.tokens.put(token, deps.tokenTtlMs)
  return { token_id: tokenId, brand, last4, expires_at: new Date(deps.clock.now() + deps.tokenTtlMs).toISOString() }
}
