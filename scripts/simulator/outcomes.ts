/**
 * The outcome of a card or an amount in the test environment (docs/API.md#post-v1tokens, and more cards and amounts), in
 * the acquirer's sandbox codes. The acquirer's own sandbox always answers; lost answers are our extension.
 */
import { isExpired } from '../../machines/card-brands.js'
import { declinedAmounts } from '../../machines/test-cards.js'
import type { SaleOrder } from './sale-order.js'

export interface CardOutcome {
  readonly isApproved: boolean
  /** true: booked, then the connection is cut instead of an answer. */
  readonly isAnswerLost: boolean
  /** Of a denial; an approval has the code of its kind (`4` authorised, `6` captured). */
  readonly returnCode: string
  readonly returnMessage: string
}

const APPROVED: CardOutcome = {
  isApproved: true,
  isAnswerLost: false,
  returnCode: '4',
  returnMessage: 'Operation Successful'
}

const EXPIRED = denied('57', 'Card Expired')

const outcomeByLastDigit: Readonly<Record<string, CardOutcome>> = {
  '2': denied('05', 'Not Authorized'),
  '3': EXPIRED,
  '5': denied('78', 'Blocked Card'),
  '6': { ...denied('99', 'Timeout'), isAnswerLost: true },
  '7': denied('77', 'Card Canceled'),
  '8': denied('70', 'Problems with Creditcard'),
  '9': { ...APPROVED, isAnswerLost: true }
}

/**
 * The outcome of a sale, decided by the last digit of the card number; of an approved card, by its expiry (MM/YYYY) and the
 * amount.
 */
export function outcomeOfSale(
  { cardNumber, expirationDate, amount }: Pick<SaleOrder, 'cardNumber' | 'expirationDate' | 'amount'>,
  nowMs: number
): CardOutcome {
  const outcome = outcomeByLastDigit[cardNumber.slice(-1)]
  if (outcome !== undefined) return outcome
  const [month = '', year = ''] = expirationDate.split('/')
  if (isExpired(year, month, nowMs)) return EXPIRED
  const code = declinedAmounts[amount]
  return code === undefined ? APPROVED : denied(code, 'Not Authorized')
}

/** Amounts in cents with a fault, as the amount of the capture or void, not of the sale. */
export const misbehavingAmounts = {
  captureRejected: 991,
  voidRejected: 992,
  captureAnswerLost: 993,
  refundAnswerLost: 994,
  /** Refused with a code that no list of the acquirer has. */
  refusedWithoutProof: 995,
  /** The whole is captured, or refunded, although a part was asked for. */
  wholeForPart: 996
} as const

/** The amount of a sale of which the issuer authorises only so much (cents). */
export const partialApproval = { askedCents: 1_700, approvedCents: 1_000 } as const

function denied(returnCode: string, returnMessage: string): CardOutcome {
  return { isApproved: false, isAnswerLost: false, returnCode, returnMessage }
}
