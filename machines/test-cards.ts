/**
 * The published test cards of the test environment (docs/API.md#post-v1tokens lists them). The last digit decides the
 * outcome, on each of three bases: Visa, Mastercard, Elo. No other number is accepted there, so that a real card typed
 * by mistake is never kept.
 */

export interface TestCard {
  readonly number: string
  readonly brand: 'visa' | 'mastercard' | 'elo'
  /** The outcome of a payment with it. */
  readonly outcome: string
}

const brands = ['visa', 'mastercard', 'elo'] as const

/** Each row: the outcome, and its number of each brand. */
const ROWS = [
  ['approved', '4024007153760060', '5315281703921200', '6362970000457070'],
  ['approved', '4024007153760011', '5315281703921291', '6362970000457021'],
  ['declined by the issuer', '4024007153760052', '5315281703921242', '6362970000457062'],
  ['declined, the card is expired', '4024007153760003', '5315281703921283', '6362970000457013'],
  ['approved', '4024007153760094', '5315281703921234', '6362970000457054'],
  ['declined, the card is blocked', '4024007153760045', '5315281703921275', '6362970000457005'],
  ['no answer, in truth declined: unknown, then failed', '4024007153760086', '5315281703921226', '6362970000457096'],
  ['declined, the card is cancelled', '4024007153760037', '5315281703921267', '6362970000457047'],
  ['declined by the issuer', '4024007153760078', '5315281703921218', '6362970000457088'],
  [
    'no answer, in truth approved: unknown, then captured or pre_authorized',
    '4024007153760029',
    '5315281703921259',
    '6362970000457039'
  ]
] as const

export const testCards: readonly TestCard[] = brands.flatMap((brand, column) =>
  ROWS.map(([outcome, ...numbers]) => ({ number: numbers[column] ?? '', brand, outcome }))
)

const numbers: ReadonlySet<string> = new Set(testCards.map(card => card.number))

/** Whether a card number (digits only) is one of the published test cards. */
export function isTestCard(number: string): boolean {
  return numbers.has(number)
}

/**
 * Amounts (cents) of a create with an approved card that the simulator declines, by the code of the decline
 * (machines/declines.ts): the reasons that no card has. docs/TESTING.md lists them.
 */
export const declinedAmounts: Readonly<Record<number, string>> = {
  1003: '03',
  1051: '51',
  1058: '58',
  1059: '59',
  1060: '60',
  1061: '61',
  1091: '91'
}

/** A create of this amount (cents) is refused like one that meets an open circuit: unsent (docs/TESTING.md). */
export const UNAVAILABLE_CENTS = 1_503
