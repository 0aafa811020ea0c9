/**
 * One-use tokens and CVVs in flight, on the memory-only Redis: nothing here may ever reach a disk (invariant 7).
 *
 * Boxes are sealed; this store can't read them. What expires or is lost with that Redis costs the buyer another
 * typing of the card, and never a payment.
 */
import { randomUUID } from 'node:crypto'
import type { CardFace } from '../cards/cards.js'
import { inBatches } from '../connection/batches.js'
import type { Redis } from '../connection/connections.js'
import { keys, paymentKeyOf } from '../keys.js'
import { defineBatchScript, defineNamedScript } from '../scripts.js'

/** What may be known about a token without claiming it. */
export interface TokenSummary extends CardFace {
  readonly tokenId: string
  readonly merchantId: string
  /**
   * Who has claimed it: the idempotency record of a request, `CARD_OWNER`, or `null` while it is free. Not a payment id: `api`
   * makes a new one for each try, and the retry after a crash must get its token again.
   */
  readonly owner: string | null
}

/**
 * A token as it is put: its boxes are sealed for `{ merchantId, subjectId: tokenId }`. Two, because a stored card may not
 * keep a CVV, and opening two boxes for each payment cost a worker a third of its time.
 */
export interface NewToken extends Omit<TokenSummary, 'owner'> {
  /** The card alone, which `POST /v1/cards` keeps. */
  readonly cardBox: string
  /** The card with its CVV, which a payment opens once. It never leaves the memory-only Redis. */
  readonly typedBox: string
}

/** A token of a CVV alone, for a stored card: its box is sealed for `{ merchantId, subjectId: tokenId }`. */
export interface NewCvvToken {
  readonly tokenId: string
  readonly merchantId: string
  readonly cvvBox: string
}

/**
 * - `claimed`: the caller owns the token now, or did already
 * - `missing`: there is no such token, or it is another merchant's
 * - `taken`: another owner has it
 */
export type Claim = Claimed<Pick<NewToken, 'cardBox' | 'typedBox' | 'brand' | 'last4'>> | NoClaim

/** As `Claim`, of a token of a CVV. */
export type CvvClaim = Claimed<Pick<NewCvvToken, 'cvvBox'>> | NoClaim

type Claimed<Boxes> = { readonly kind: 'claimed' } & Boxes

interface NoClaim {
  readonly kind: 'missing' | 'taken'
}

/** The owner of a token that becomes a stored card. */
export const CARD_OWNER = 'card'

/** All methods reject while the memory-only Redis is unavailable; each may be repeated. */
export interface TokenStore {
  /** Keeps a token for `ttlMs`. */
  put(token: NewToken, ttlMs: number): Promise<void>
  /** Keeps a token of a CVV for `ttlMs`. */
  putCvvToken(token: NewCvvToken, ttlMs: number): Promise<void>
  /** Reads a token of any merchant: the caller compares `merchantId`. `null` when it is unknown or expired. */
  peek(tokenId: string): Promise<TokenSummary | null>
  /**
   * Makes `owner` the only one who can use the token, and keeps it for `CLAIM_TTL_MS` at least. `request` (the
   * fingerprint of a request) may release the token. Only a worker may when it is '', or when two different requests of
   * one owner have claimed the token.
   */
  claim(tokenId: string, merchantId: string, owner: string, request?: string): Promise<Claim>
  /** The same for a token of a CVV. Neither finds a token of the other kind. */
  claimCvv(tokenId: string, merchantId: string, owner: string, request?: string): Promise<CvvClaim>
  /**
   * Lets another owner claim the token, for the rest of its life; nothing happens unless `owner` has it, and `request`
   * may give it back. Without `request`, `owner` itself says that it has not used the token. Of either kind.
   */
  release(tokenId: string, owner: string, request?: string): Promise<void>
  /** Forgets a token of either kind, and its boxes. */
  drop(tokenId: string): Promise<void>
  /** Keeps the CVV that came with a payment by stored card, for `CLAIM_TTL_MS`. */
  putCvv(paymentId: string, cvvBox: string): Promise<void>
  /** The box of `putCvv`, or `null` when there is none or it has expired. */
  readCvv(paymentId: string): Promise<string | null>
  /** Forgets the CVV of a payment. */
  dropCvv(paymentId: string): Promise<void>
}

/**
 * The least life of a token after a claim, and the life of a CVV that came with a stored card: longer than a command may
 * wait for a worker, which may be restarting, and the worker for the card network. Afterwards the payment fails as if
 * the token had expired: nothing was charged.
 */
const CLAIM_TTL_MS = 15 * 60_000

const claimTokens = defineBatchScript<{
  keys: 'token'
  given: { merchant: string; owner: string; request: string; leastMs: number }
}>('claim_tokens')
const releaseToken = defineNamedScript<{ keys: 'token'; given: { owner: string; request: string } }>('release_token')

/** One answer of claim_tokens.lua. */
type ClaimReply = readonly (string | null)[]

/** Fields of the hash of a token. */
const SUMMARY_FIELDS = ['merchant', 'brand', 'last4', 'month', 'year', 'holder', 'owner'] as const

/** The store on a connection to the memory-only Redis. */
export function createTokenStore(redis: Redis): TokenStore {
  const claimOne = inBatches(
    async (calls: Parameters<typeof claimTokens>[1]) => (await claimTokens(redis, calls)) as (ClaimReply | string)[],
    call => [call.keys.token]
  )
  const claimAt = (token: string, merchant: string, owner: string, request: string): Promise<ClaimReply> =>
    claimOne({ keys: { token }, given: { merchant, owner, request, leastMs: CLAIM_TTL_MS } })
  const dropAt = inBatches(async (places: readonly string[]) => {
    const count = await redis.unlink(...places)
    return places.map(() => count)
  })
  return {
    put: (token, ttlMs) => putHash(redis, keys.token(token.tokenId), hashOf(token), ttlMs),
    putCvvToken: ({ tokenId, merchantId, cvvBox }, ttlMs) =>
      putHash(redis, keys.cvvToken(tokenId), { merchant: merchantId, typed: cvvBox }, ttlMs),
    peek: async tokenId => readSummary(tokenId, await redis.hmget(keys.token(tokenId), ...SUMMARY_FIELDS)),
    claim: async (tokenId, merchantId, owner, request = '') =>
      readClaim(await claimAt(keys.token(tokenId), merchantId, owner, request)),
    claimCvv: async (tokenId, merchantId, owner, request = '') =>
      readCvvClaim(await claimAt(keys.cvvToken(tokenId), merchantId, owner, request)),
    release: async (tokenId, owner, request = '') => {
      await releaseToken(redis, { token: placeOf(tokenId) }, { owner, request })
    },
    drop: async tokenId => {
      await dropAt(placeOf(tokenId))
    },
    putCvv: async (paymentId, cvvBox) => {
      await redis.set(keys.cvv(paymentId), cvvBox, 'PX', CLAIM_TTL_MS)
    },
    readCvv: paymentId => redis.get(keys.cvv(paymentId)),
    dropCvv: async paymentId => {
      await dropAt(keys.cvv(paymentId))
    }
  }
}

/** A new token id: `tok_` and 26 characters, 122 random bits. */
export function newTokenId(): string {
  return `tok_${paymentKeyOf(randomUUID())}`
}

const CVV_TOKEN = 'cvt_'

/** The same for a token of a CVV: `cvt_` and 26 characters. */
export function newCvvTokenId(): string {
  return `${CVV_TOKEN}${paymentKeyOf(randomUUID())}`
}

function placeOf(tokenId: string): string {
  return tokenId.startsWith(CVV_TOKEN) ? keys.cvvToken(tokenId) : keys.token(tokenId)
}

function hashOf(token: NewToken): Record<string, string> {
  return {
    merchant: token.merchantId,
    brand: token.brand,
    last4: token.last4,
    month: token.expirationMonth,
    year: token.expirationYear,
    holder: token.holderName,
    card: token.cardBox,
    typed: token.typedBox
  }
}

async function putHash(redis: Redis, key: string, fields: Record<string, string>, ttlMs: number): Promise<void> {
  const results = await redis.multi().hset(key, fields).pexpire(key, ttlMs).exec()
  const failed = results?.find(([error]) => error !== null)
  if (results === null || failed) throw failed?.[0] ?? new Error('The token was not stored.')
}

function readSummary(tokenId: string, values: (string | null)[]): TokenSummary | null {
  const [merchantId, brand, last4, expirationMonth, expirationYear, holderName, owner = null] = values
  if (!merchantId || !brand || !last4 || !expirationMonth || !expirationYear || !holderName) return null
  return { tokenId, merchantId, brand, last4, expirationMonth, expirationYear, holderName, owner }
}

function readClaim([kind, cardBox, typedBox, brand, last4]: ClaimReply): Claim {
  if (kind === 'claimed' && cardBox && typedBox && brand && last4) return { kind, cardBox, typedBox, brand, last4 }
  return readNoClaim(kind)
}

function readCvvClaim([kind, , cvvBox]: ClaimReply): CvvClaim {
  if (kind === 'claimed' && cvvBox) return { kind, cvvBox }
  return readNoClaim(kind)
}

function readNoClaim(kind: ClaimReply[number] | undefined): NoClaim {
  if (kind === 'missing' || kind === 'taken') return { kind }
  throw new Error('claim_tokens.lua answered what this version does not know. Start one version of the service only.')
}
