/** The problems of a typed card, by field, for immediate feedback. `tokens` checks again. */
import {
  brandOf,
  isExpired,
  isLuhnValid,
  lengthsOf,
  mayHoldNumber,
  NUMBER_DIGITS_MIN
} from '../../../machines/card-brands.js'
import { digitsOf, readExpiry } from './typing.js'

export const FIELD_NAMES = ['number', 'expiry', 'cvv', 'name'] as const
export type FieldName = (typeof FIELD_NAMES)[number]
export type EnteredCard = Readonly<Record<FieldName, string>>

/** Codes, not sentences: each has a text in every language (texts.ts). */
export type ProblemCode =
  | 'number_missing'
  | 'number_incomplete'
  | 'number_wrong'
  | 'brand_unknown'
  | 'not_a_test_card'
  | 'expiry_missing'
  | 'expiry_wrong'
  | 'month_wrong'
  | 'expired'
  | 'cvv_missing'
  | 'cvv_needs_3'
  | 'cvv_needs_4'
  | 'cvv_needs_3_or_4'
  | 'name_missing'
  | 'name_wrong'

/** What the rules depend on besides the card. */
interface Facts {
  readonly nowMs: number
  readonly cvvLengths: readonly number[]
}

const rules: Record<FieldName, (card: EnteredCard, facts: Facts) => ProblemCode | null> = {
  number: card => {
    const digits = digitsOf(card.number)
    if (digits === '') return 'number_missing'
    if (digits.length < NUMBER_DIGITS_MIN) return 'number_incomplete'
    if (!isLuhnValid(digits)) return 'number_wrong'
    const brand = brandOf(digits)
    if (brand === null) return 'brand_unknown'
    return lengthsOf(brand).includes(digits.length) ? null : 'number_wrong'
  },
  expiry: (card, { nowMs }) => {
    if (card.expiry.trim() === '') return 'expiry_missing'
    const expiry = readExpiry(card.expiry)
    if (/^(00|1[3-9])/.test(digitsOf(card.expiry))) return 'month_wrong'
    if (expiry === null) return 'expiry_wrong'
    return isExpired(expiry.year, expiry.month, nowMs) ? 'expired' : null
  },
  cvv: (card, { cvvLengths }) => {
    if (card.cvv === '') return 'cvv_missing'
    if (cvvLengths.includes(digitsOf(card.cvv).length)) return null
    if (cvvLengths.length > 1) return 'cvv_needs_3_or_4'
    return cvvLengths.includes(4) ? 'cvv_needs_4' : 'cvv_needs_3'
  },
  name: card => {
    if (card.name.trim() === '') return 'name_missing'
    // A card number typed into the wrong field must not be kept as a name.
    return mayHoldNumber(card.name) ? 'name_wrong' : null
  }
}

/** The problem of one field, or `null` when it is valid. */
export function problemOf(field: FieldName, card: EnteredCard, facts: Facts): ProblemCode | null {
  return rules[field](card, facts)
}
