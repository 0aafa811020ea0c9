/** What the fields make of the keys that a buyer presses: pure texts, so that they can be tested without a browser. */
import { brandOf, type CardBrand } from '../../../machines/card-brands.js'

/** How one brand writes its numbers and codes. */
export interface BrandLayout {
  /** Digits of each group; a longer number goes on in the last one. */
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
  hipercard: { groups: [4, 4, 4, 4, 3], digitsMax: 19, cvvDigits: 3 }
}

/** The layout of the brand that a number, whole or begun, belongs to. */
export function layoutOf(digits: string): BrandLayout {
  const brand = brandOf(digits)
  return (brand === null ? undefined : LAYOUTS[brand]) ?? COMMON
}

/** The digits of a text, without all other characters. */
export function digitsOf(text: string): string {
  return text.replace(/\D/g, '')
}

/** A card number in the groups of its brand: `4024 0071 5376 0060`. Digits that no card has are dropped. */
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

/** An expiry as `MM / YY`, while it is typed and when a browser fills it in (`12/2031`, `2031-12`, `1231`). */
export function formatExpiry(text: string): string {
  const [, isoYear, isoMonth] = /^\s*(\d{4})-(\d{2})\s*$/.exec(text) ?? []
  if (isoYear !== undefined && isoMonth !== undefined) return `${isoMonth} / ${isoYear.slice(2)}`
  // The last space of `12 / ` was deleted: the slash, which the buyer did not type, goes with it.
  if (/^\d\d \/$/.test(text)) return text.slice(0, 2)
  const [, single, years] = /^\s*(\d)\s*\/\s*(\d*)/.exec(text) ?? []
  let digits = single === undefined ? digitsOf(text) : `0${single}${years}`
  if (/^[2-9]/.test(digits)) digits = `0${digits}`
  const year = digits.slice(2)
  // No card of 2020 is left: a year that begins with 20 may become one of four digits.
  const shortYear = year.length >= 4 ? year.slice(2, 4) : year.slice(0, year.startsWith('20') ? 3 : 2)
  if (digits.length < 2) return digits
  return digits.length === 2 && !/\/|^\s*[2-9]/.test(text) ? digits : `${digits.slice(0, 2)} / ${shortYear}`
}

/** Month and year of a typed expiry, as POST /v1/tokens takes them, or `null` while it is none. */
export function readExpiry(text: string): { month: string; year: string } | null {
  const [, month, year] = /^(0[1-9]|1[0-2])(\d{2})$/.exec(digitsOf(text)) ?? []
  return month === undefined || year === undefined ? null : { month, year: `20${year}` }
}

/** Where the caret belongs after formatting: behind as many digits as it was behind before. */
export function caretIn(formatted: string, digitsBefore: number): number {
  let digits = 0
  for (let place = 0; place < formatted.length; place++) {
    if (digits === digitsBefore) return place
    if (/\d/.test(formatted[place] ?? '')) digits++
  }
  return formatted.length
}
