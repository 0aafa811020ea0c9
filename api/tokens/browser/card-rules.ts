/** The problems of a typed card, by field, for immediate feedback. `tokens` checks again. */
import { brandOf, isExpired, isLuhnValid, mayHoldNumber, NUMBER_DIGITS_MIN } from '../../../machines/card-brands.js'
import { digitsOf, layoutOf, readExpiry } from './typing.js'

export const FIELD_NAMES = ['number', 'expiry', 'cvv', 'name'] as const
export type FieldName = (typeof FIELD_NAMES)[number]
export type TypedCard = Readonly<Record<FieldName, string>>

/** Codes, not sentences: each has a text in every language (texts.ts). */
export type ProblemCode =
  | 'number_missing'
  | 'number_incomplete'
  | 'number_wrong'
  | 'brand_unknown'
  | 'not_a_test_card'
  | 'expiry_missing'
  | 'expiry_wrong'
  | 'expired'
  | 'cvv_missing'
  | 'cvv_wrong'
  | 'name_missing'
  | 'name_wrong'

const rules: Record<FieldName, (card: TypedCard, nowMs: number) => ProblemCode | null> = {
  number: card => {
    const digits = digitsOf(card.number)
    if (digits === '') return 'number_missing'
    if (digits.length < NUMBER_DIGITS_MIN) return 'number_incomplete'
    if (!isLuhnValid(digits)) return 'number_wrong'
    return brandOf(digits) === null ? 'brand_unknown' : null
  },
  expiry: (card, nowMs) => {
    if (card.expiry.trim() === '') return 'expiry_missing'
    const expiry = readExpiry(card.expiry)
    if (expiry === null) return 'expiry_wrong'
    return isExpired(expiry.year, expiry.month, nowMs) ? 'expired' : null
  },
  cvv: card => {
    if (card.cvv === '') return 'cvv_missing'
    return digitsOf(card.cvv).length === layoutOf(digitsOf(card.number)).cvvDigits ? null : 'cvv_wrong'
  },
  name: card => {
    if (card.name.trim() === '') return 'name_missing'
    // A card number typed into the wrong field must not be kept as a name.
    return mayHoldNumber(card.name) ? 'name_wrong' : null
  }
}

/** The problem of one field, or `null` when it is valid. */
export function problemOf(field: FieldName, card: TypedCard, nowMs: number): ProblemCode | null {
  return rules[field](card, nowMs)
}
