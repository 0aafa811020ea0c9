/** Formats typed text: pure functions, which are tested without a browser. */
import { brandOf, type CardBrand } from '../../../machines/card-brands.js'

/** The format of card numbers and security codes of a brand. */
export interface BrandLayout {
  /** Digits of each group. */
  readonly groups: readonly number[]
  readonly digitsMax: number
  readonly cvvDigits: number
}

const COMMON: BrandLayout = { groups: [4, 4, 4, 7], digitsMax: 16, cvvDigits: 3 }
const LAYOUTS: Partial<Record<CardBrand, BrandLayout>> = {
  amex: { groups: [4, 6, 5], digitsMax: 15, cvvDigits: 4 },
  diners: { groups: [4, 6, 9], digitsMax: 19, cvvDigits: 3 },
  visa: { groups: [4, 4, 4, 4, 3], digitsMax: 19, cvvDigits: 3 },
  discover: { groups: [4, 4, 4, 4, 3], digitsMax: 19, cvvDigits: 3 },
  jcb: { groups: [4, 4, 4, 4, 3], digitsMax: 19, cvvDigits: 3 },
  hipercard: { groups: [4, 4, 4, 4, 3], digitsMax: 19, cvvDigits: 3 },
  aura: { groups: [4, 4, 4, 4, 3], digitsMax: 19, cvvDigits: 3 }
}

/** The layout of the brand of a complete or partial number. */
export function layoutOf(digits: string): BrandLayout {
  const brand = brandOf(digits)
  return (brand === null ? undefined : LAYOUTS[brand]) ?? COMMON
}

/** How many digits the security code of a stored card may have; `brand` as the API answers it, '' when it is not known. */
export function cvvLengthsOf(brand: string): readonly number[] {
  if (brand === '') return [COMMON.cvvDigits, 4]
  return [new Map(Object.entries(LAYOUTS)).get(brand)?.cvvDigits ?? COMMON.cvvDigits]
}

/** The digits of a text, without all other characters. */
export function digitsOf(text: string): string {
  return text.replace(/\D/g, '')
}

/** A card number in the groups of its brand: `4024 0071 5376 0060`. Drops digits above the maximum. */
export function formatNumber(text: string): string {
  const { groups, digitsMax } = layoutOf(digitsOf(text))
  let rest = digitsOf(text).slice(0, digitsMax)
  const parts: string[] = []
  for (const size of groups) {
    if (rest === '') break
    parts.push(rest.slice(0, size))
    rest = rest.slice(size)
  }
  return parts.join(' ')
}

/** An expiry as `MM / YY`, typed or filled in by a browser (`12/2031`, `2031-12`, `1231`). */
export function formatExpiry(text: string): string {
  const [, isoYear, isoMonth] = /^\s*(\d{4})-(\d{2})\s*$/.exec(text) ?? []
  if (isoYear !== undefined && isoMonth !== undefined) return `${isoMonth} / ${isoYear.slice(2)}`
  // The buyer deleted the last space of `12 / `: deletes the generated slash, too.
  if (/^\d\d \/$/.test(text)) return text.slice(0, 2)
  const [, single, years] = /^\s*(\d)\s*\/\s*(\d*)/.exec(text) ?? []
  let digits = single === undefined ? digitsOf(text) : `0${single}${years}`
  if (/^[2-9]/.test(digits)) digits = `0${digits}`
  const year = digits.slice(2)
  // Cards of 2020 have expired: a year that begins with 20 may become four digits.
  const shortYear = year.length >= 4 ? year.slice(2, 4) : year.slice(0, year.startsWith('20') ? 3 : 2)
  if (digits.length < 2) return digits
  return digits.length === 2 && !/\/|^\s*[2-9]/.test(text) ? digits : `${digits.slice(0, 2)} / ${shortYear}`
}

/** Month and year of a typed expiry, in the format of POST /v1/tokens, or `null` while it is incomplete. */
export function readExpiry(text: string): { month: string; year: string } | null {
  const [, month, year] = /^(0[1-9]|1[0-2])(\d{2})$/.exec(digitsOf(text)) ?? []
  return month === undefined || year === undefined ? null : { month, year: `20${year}` }
}

/** The position of the caret after formatting: after as many digits as before. */
export function caretIn(formatted: string, digitsBefore: number): number {
  let digits = 0
  for (let place = 0; place < formatted.length; place++) {
    if (digits === digitsBefore) return place
    if (/\d/.test(formatted[place] ?? '')) digits++
  }
  return formatted.length
}
