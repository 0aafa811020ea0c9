/**
 * Why an issuer declined, and whether the same card may be tried again: one table for every place that shows a decline.
 *
 * Return codes mean different things by brand, and in the acquirer's test environment other things again: 57 is an expired
 * card there, and "not permitted for this card" in production. Source: the acquirer's list of return codes after the rules
 * of ABECS for all Brazilian brands, which call a decline reversible or not. docs/DECLINES.md is made from this table.
 */
import type { Environment, FailureCode } from './model.js'

export const declineReasons = [
  'insufficient_funds',
  'limit_exceeded',
  'expired_card',
  'blocked_card',
  'not_permitted',
  'do_not_honor',
  'suspected_fraud',
  'invalid_data',
  'issuer_unavailable',
  'technical_error',
  'other'
] as const

export type DeclineReason = (typeof declineReasons)[number]

/** What a return code of a declined authorisation means. */
export interface Decline {
  readonly reason: DeclineReason
  /** Whether the brand allows the same card to be tried again. */
  readonly mayRetry: boolean
  readonly means: string
}

/** The brands that have codes of their own, and the test environment, where all brands have the same ones. */
export const declineColumns = ['elo', 'visa', 'mastercard', 'amex', 'test'] as const

type Column = (typeof declineColumns)[number]

/** Reason, whether a retry is allowed, the codes in the order of `declineColumns`, and what the issuer says. */
const TABLE = `
insufficient_funds | yes | 51           | 51           | 51           | 116 121 A5   | 51 | too little money or limit
limit_exceeded     | yes | 61           | 61 N4        | 61           | -            | 61 | above the limit of one purchase
limit_exceeded     | yes | 65           | 65           | 65           | -            | -  | too many purchases
limit_exceeded     | yes | 38 75        | 75           | 75           | 106 A4       | -  | too many tries
limit_exceeded     | yes | BP171        | BP171        | BP171        | BP171        | -  | too many tries in a short time: wait an hour
expired_card       | no  | 54           | 54           | 54           | 101 BV 54    | 57 | the card is expired, or its expiry is wrong
blocked_card       | yes | 62           | 62           | -            | -            | -  | blocked for a while
blocked_card       | yes | 78           | 78           | -            | -            | 78 | blocked in the app of the bank, or a new card that is not unlocked
blocked_card       | no  | 41           | 41           | 41           | -            | -  | lost
blocked_card       | no  | 43           | 43           | 43           | -            | -  | stolen
blocked_card       | no  | 46           | 46           | 62           | -            | 77 | the account is closed, or the card is cancelled
blocked_card       | no  | -            | 04           | 04           | -            | -  | the issuer wants the card back
not_permitted      | no  | 57           | 57 58        | 58           | 200 FD       | 58 | not permitted for this card
not_permitted      | yes | 5C           | -            | 57           | -            | -  | not permitted for this card at present
not_permitted      | yes | AB AC        | 52 53 39     | -            | -            | -  | the card has another function: debit or credit
not_permitted      | no  | FM           | -            | -            | -            | -  | the card must be read by its chip
not_permitted      | no  | -            | 64 93        | -            | -            | -  | not permitted by law, or by the rules against money laundering
not_permitted      | no  | -            | R0 R1 R2 R3  | -            | -            | -  | the holder has stopped these payments
do_not_honor       | yes | 05           | 05           | 05           | 100 FA       | 05 | declined without a reason
do_not_honor       | yes | 04           | -            | -            | -            | -  | the issuer asks for another try
suspected_fraud    | yes | 59           | 59           | 63           | -            | 59 | a suspicion, or the holder did not announce a journey
suspected_fraud    | no  | -            | 07           | -            | -            | -  | a confirmed fraud
suspected_fraud    | no  | GT GK        | GT GK        | GT GK        | GT GK        | -  | too many cards were tried
invalid_data       | no  | 14 56        | 14           | 14 01        | -            | -  | there is no such card number
invalid_data       | no  | -            | 15           | 15           | -            | -  | the number has no issuer
invalid_data       | no  | 63           | N7           | -            | -            | -  | the security code is wrong or missing
invalid_data       | no  | -            | -            | -            | 122 8        | -  | the number or the security code is wrong
invalid_data       | no  | 12           | 06           | -            | 115 A2       | 70 | an error of the card
invalid_data       | no  | 13 23 64     | 13           | 12 13        | 110 JB       | -  | the amount or the installments are not allowed
invalid_data       | no  | EE           | EE           | EE           | EE           | -  | an installment is too small
invalid_data       | no  | EB           | EB           | EB           | EB           | -  | too many installments
invalid_data       | yes | 55 P6        | 55 86        | 55           | 117 A6       | -  | a wrong PIN
invalid_data       | no  | 82 83 P5     | 74 81 82 6P  | 88           | 180 A7       | -  | the PIN or the cryptogram cannot be used
invalid_data       | no  | 76 77        | -            | -            | -            | -  | an account is wrong
issuer_unavailable | yes | 91           | 91           | 91           | 912 A1       | 91 | the issuer does not answer
issuer_unavailable | yes | AA           | AA           | AA           | AA           | 99 | the issuer did not answer in time
issuer_unavailable | yes | 96           | 96           | 96           | 911 AE       | -  | a failure of a system
technical_error    | no  | 58           | 03           | 03           | 109 DA       | 03 | the merchant is not registered for it: ask the operator
technical_error    | no  | 19 30        | 12 19        | 30           | 181 A3       | -  | the acquirer or the form of its message: ask the operator
technical_error    | yes | 06           | -            | -            | -            | -  | the issuer asks to call the acquirer: ask the operator
technical_error    | no  | -            | 76 92 94     | 92 94        | -            | -  | the message found no way, or came twice
technical_error    | no  | -            | N3 N8        | -            | -            | -  | no cash, or another amount than was reserved
technical_error    | yes | -            | B1 B2 N0     | -            | -            | -  | not taken as it was sent
other              | yes | 60 67 70 89 98 999 AV BL BO DF DM DS EK | 60 67 70 89 98 999 AV BL BO DF DM DS EK | 60 67 70 89 98 999 AV BL BO DF DM DS EK | 60 67 70 89 98 999 AV BL BO DF DM DS EK | 60 | not told: the brand allows a few more tries
`

/** The meaning of a code that is in no row. */
const UNKNOWN_DECLINE: Decline = { reason: 'other', mayRetry: false, means: 'no reason given' }

/** A row of the table with its codes by column. */
export interface DeclineRow extends Decline {
  readonly codes: Readonly<Record<Column, readonly string[]>>
}

export const declineRows: readonly DeclineRow[] = TABLE.trim().split('\n').map(readRow)

function readRow(line: string): DeclineRow {
  const [name = '', retry = '', ...cells] = line.split('|').map(cell => cell.trim())
  const reason = declineReasons.find(known => known === name)
  const means = cells.pop()
  if (reason === undefined || means === undefined) throw new Error(`This is no row of declines: ${line}`)
  const codes = declineColumns.map((column, at) => [column, cells[at] === '-' ? [] : (cells[at]?.split(' ') ?? [])])
  return { reason, mayRetry: retry === 'yes', means, codes: Object.fromEntries(codes) }
}

const byCode: ReadonlyMap<string, Decline> = new Map(
  declineRows.flatMap(row =>
    declineColumns.flatMap(column => row.codes[column].map(code => [nameOf(column, code), row] as const))
  )
)

/**
 * What a declined authorisation means, whether the network answered at once or when it was asked.
 *
 * @param brand our brand name in lower case, as in `AuthoriseRequest`
 * @param code the return code as the network wrote it
 */
export function declineOf(brand: string, code: string, environment: Environment): Decline {
  if (environment === 'test') return byCode.get(nameOf('test', code)) ?? UNKNOWN_DECLINE
  const column = COLUMN_BY_BRAND[brand]
  return (column === undefined ? agreedOn(code) : byCode.get(nameOf(column, code))) ?? UNKNOWN_DECLINE
}

const COLUMN_BY_BRAND: Readonly<Record<string, Column>> = {
  elo: 'elo',
  visa: 'visa',
  mastercard: 'mastercard',
  hipercard: 'mastercard',
  hiper: 'mastercard',
  amex: 'amex'
}

/** For a brand without its own codes in the list: what Elo, Visa and Mastercard agree on. */
function agreedOn(code: string): Decline | undefined {
  const [elo, visa, mastercard] = (['elo', 'visa', 'mastercard'] as const).map(column =>
    byCode.get(nameOf(column, code))
  )
  return elo === visa && visa === mastercard ? elo : undefined
}

/** The same code is written as `3`, `03` and `003`, and `BP 900` with and without the space. */
export function plainCode(code: string): string {
  return code
    .replaceAll(' ', '')
    .toUpperCase()
    .replace(/^0+(?=.)/, '')
}

function nameOf(column: Column, code: string): string {
  return `${column} ${plainCode(code)}`
}

/** What a payment ends with that the issuer declined for this reason. */
export function failureOfDecline({ reason }: Pick<Decline, 'reason'>): 'card_declined' | 'card_expired' {
  return reason === 'expired_card' ? 'card_expired' : 'card_declined'
}

/** Whether an issuer declined. */
export function isDecline(code: FailureCode | null): boolean {
  return code === 'card_declined' || code === 'card_expired'
}
