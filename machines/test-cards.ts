/**
 * The published test cards of the test environment (docs/API.md#post-v1tokens lists them). The last digit decides the
 * outcome, on each of three bases: Visa, Mastercard, Elo. No other number is accepted there, so that a real card typed
 * by mistake is never kept.
 */

export interface TestCard {
  readonly number: string
  readonly brand: 'visa' | 'mastercard' | 'elo'
  /** What becomes of a payment with it. */
  readonly outcome: string
}

const APPROVED = 'approved'
const DECLINED = 'declined by the issuer'
const EXPIRED = 'declined, the card is expired'
const BLOCKED = 'declined, the card is blocked'
const CANCELLED = 'declined, the card is cancelled'
const UNANSWERED_DECLINED = 'no answer, in truth declined: unknown, then failed'
const UNANSWERED_APPROVED = 'no answer, in truth approved: unknown, then captured or pre_authorized'

export const testCards: readonly TestCard[] = [
  { number: '4024007153760060', brand: 'visa', outcome: APPROVED },
  { number: '4024007153760011', brand: 'visa', outcome: APPROVED },
  { number: '4024007153760052', brand: 'visa', outcome: DECLINED },
  { number: '4024007153760003', brand: 'visa', outcome: EXPIRED },
  { number: '4024007153760094', brand: 'visa', outcome: APPROVED },
  { number: '4024007153760045', brand: 'visa', outcome: BLOCKED },
  { number: '4024007153760086', brand: 'visa', outcome: UNANSWERED_DECLINED },
  { number: '4024007153760037', brand: 'visa', outcome: CANCELLED },
  { number: '4024007153760078', brand: 'visa', outcome: DECLINED },
  { number: '4024007153760029', brand: 'visa', outcome: UNANSWERED_APPROVED },
  { number: '5315281703921200', brand: 'mastercard', outcome: APPROVED },
  { number: '5315281703921291', brand: 'mastercard', outcome: APPROVED },
  { number: '5315281703921242', brand: 'mastercard', outcome: DECLINED },
  { number: '5315281703921283', brand: 'mastercard', outcome: EXPIRED },
  { number: '5315281703921234', brand: 'mastercard', outcome: APPROVED },
  { number: '5315281703921275', brand: 'mastercard', outcome: BLOCKED },
  { number: '5315281703921226', brand: 'mastercard', outcome: UNANSWERED_DECLINED },
  { number: '5315281703921267', brand: 'mastercard', outcome: CANCELLED },
  { number: '5315281703921218', brand: 'mastercard', outcome: DECLINED },
  { number: '5315281703921259', brand: 'mastercard', outcome: UNANSWERED_APPROVED },
  { number: '6362970000457070', brand: 'elo', outcome: APPROVED },
  { number: '6362970000457021', brand: 'elo', outcome: APPROVED },
  { number: '6362970000457062', brand: 'elo', outcome: DECLINED },
  { number: '6362970000457013', brand: 'elo', outcome: EXPIRED },
  { number: '6362970000457054', brand: 'elo', outcome: APPROVED },
  { number: '6362970000457005', brand: 'elo', outcome: BLOCKED },
  { number: '6362970000457096', brand: 'elo', outcome: UNANSWERED_DECLINED },
  { number: '6362970000457047', brand: 'elo', outcome: CANCELLED },
  { number: '6362970000457088', brand: 'elo', outcome: DECLINED },
  { number: '6362970000457039', brand: 'elo', outcome: UNANSWERED_APPROVED }
]

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
