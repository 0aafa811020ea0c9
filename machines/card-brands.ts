/**
 * Which brand a card number belongs to, whether it can be a card number at all, and until when a card is good.
 *
 * The first range that fits wins, so the order matters: Elo and Hipercard have ranges inside those of Visa, Aura, Discover
 * and Diners.
 */

export const cardBrands = [
  'visa',
  'mastercard',
  'elo',
  'amex',
  'hipercard',
  'hiper',
  'aura',
  'diners',
  'discover',
  'jcb'
] as const

export type CardBrand = (typeof cardBrands)[number]

/** Issuer prefixes: one prefix, or the first and last of a range of equally long prefixes. */
type Prefixes = string | readonly [string, string]

const brandPrefixes: readonly (readonly [CardBrand, readonly Prefixes[]])[] = [
  [
    'elo',
    [
      '401178',
      '401179',
      '431274',
      '438935',
      '451416',
      '457393',
      ['457631', '457632'],
      '504175',
      ['506699', '506778'],
      ['509000', '509999'],
      '627780',
      '636297',
      '636368',
      ['650031', '650033'],
      ['650035', '650051'],
      ['650405', '650439'],
      ['650485', '650538'],
      ['650541', '650598'],
      ['650700', '650718'],
      ['650720', '650727'],
      ['650901', '650978'],
      ['651652', '651679'],
      ['655000', '655019'],
      ['655021', '655058']
    ]
  ],
  ['hipercard', ['606282', '384100', '384140', '384160']],
  ['hiper', ['637095', '637568', '637599', '637609', '637612']],
  ['amex', ['34', '37']],
  ['diners', [['300', '305'], '3095', '36', '38', '39']],
  ['jcb', [['3528', '3589']]],
  ['discover', ['6011', ['644', '649'], '65']],
  [
    'mastercard',
    [
      ['51', '55'],
      ['2221', '2720']
    ]
  ],
  ['aura', ['50']],
  ['visa', ['4']]
]

const numberLengths: Readonly<Record<CardBrand, readonly number[]>> = {
  visa: [13, 16, 19],
  mastercard: [16],
  elo: [16],
  amex: [15],
  hipercard: [13, 16, 19],
  hiper: [16],
  aura: [16, 19],
  diners: [14, 16, 19],
  discover: [16, 17, 18, 19],
  jcb: [16, 17, 18, 19]
}

/** The brand of a card number (digits only), or `null` when it is none that the card network takes. */
export function brandOf(number: string): CardBrand | null {
  const found = brandPrefixes.find(([, prefixes]) => prefixes.some(prefix => startsWith(number, prefix)))
  return found?.[0] ?? null
}

/** How many digits the numbers of a brand have, the fewest first. */
export function lengthsOf(brand: CardBrand): readonly number[] {
  return numberLengths[brand]
}

/** Whether a text is 12 to 19 digits with a right check digit (ISO/IEC 7812). */
export function isLuhnValid(number: string): boolean {
  if (!/^\d{12,19}$/.test(number)) return false
  let sum = 0
  for (let place = 0; place < number.length; place++) {
    const digit = Number(number[number.length - 1 - place])
    const weighted = place % 2 === 0 ? digit : digit * 2
    sum += weighted > 9 ? weighted - 9 : weighted
  }
  return sum % 10 === 0
}

const HALF_DAY_MS = 12 * 3_600_000

/**
 * A card is good until its month has ended everywhere on Earth, the last place being twelve hours behind UTC.
 *
 * @param year four digits
 * @param month "01".."12"
 */
export function isExpired(year: string, month: string, nowMs: number): boolean {
  return `${year}-${month}` < new Date(nowMs - HALF_DAY_MS).toISOString().slice(0, 7)
}

function startsWith(number: string, prefix: Prefixes): boolean {
  const [first, last] = typeof prefix === 'string' ? [prefix, prefix] : prefix
  const start = number.slice(0, first.length)
  return start.length === first.length && start >= first && start <= last
}

/** The fewest digits of a card number. */
export const NUMBER_DIGITS_MIN = 12

/** Whether a text may hold a card number, however it is written: digits of any script, with anything between them. */
export function mayHoldNumber(text: string): boolean {
  return (text.match(/\p{Nd}/gu) ?? []).length >= NUMBER_DIGITS_MIN
}
