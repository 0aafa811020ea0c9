/**
 * Why an issuer declined, as far as a merchant sees it: an expired card, or any other reason.
 *
 * Return codes mean different things by brand, and in the acquirer's test environment other things again: 57 is an
 * expired card there, and "not permitted for this card" in production. Hence one table per environment.
 */
import type { Environment } from './model.js'

export type DeclineReason = 'card_expired' | 'card_declined'

const EXPIRED_IN_TEST = ['57']
const EXPIRED_BY_DEFAULT = ['54']
/** Brands whose issuers say "expired" in codes of their own; `BV` is the acquirer's alias of Amex 101. */
const EXPIRED_BY_BRAND: Readonly<Record<string, readonly string[]>> = { amex: ['101', 'BV', '54'] }

/**
 * The error code for a declined authorisation (docs/API.md#errors).
 *
 * @param brand our brand name in lower case, as in `AuthoriseRequest`
 * @param code the return code as the network wrote it, leading zeros included
 */
export function declineReason(brand: string, code: string, environment: Environment): DeclineReason {
  const expired = environment === 'test' ? EXPIRED_IN_TEST : (EXPIRED_BY_BRAND[brand] ?? EXPIRED_BY_DEFAULT)
  return expired.includes(code.trim().toUpperCase()) ? 'card_expired' : 'card_declined'
}
