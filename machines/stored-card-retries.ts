/** Whether a stored card may be tried again after its declines: the rules of card networks (docs/DECLINES.md). */
import { type Decline, type DeclineReason, declineOf } from './declines.js'
import type { Environment } from './model.js'

/** The strictest rule, of Visa: 15 tries of a card by one merchant within 30 days. */
export const CARD_DECLINES_MAX = 15

/** Reasons that are about the card. The others are about what was sent with it, or are not known: the next try may be right. */
const ABOUT_THE_CARD: ReadonlySet<DeclineReason> = new Set([
  'expired_card',
  'blocked_card',
  'not_permitted',
  'suspected_fraud'
])

/**
 * The decline that a new payment by this card gets unsent, or undefined.
 *
 * @param codes of its declines within 30 days, the newest last
 */
export function declineUnsent(codes: readonly string[], brand: string, environment: Environment): Decline | undefined {
  const declines = codes.map(code => declineOf(brand, code, environment))
  const final = declines.findLast(({ reason, mayRetry }) => !mayRetry && ABOUT_THE_CARD.has(reason))
  const last = declines.length >= CARD_DECLINES_MAX ? declines.at(-1) : undefined
  const decline = final ?? last
  return decline === undefined ? undefined : { ...decline, mayRetry: false }
}
