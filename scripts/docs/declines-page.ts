/** docs/DECLINES.md: what the codes of declined authorisations mean, from the table of machines/declines.ts. */
import { type DeclineReason, declineColumns, declineReasons, declineRows } from '../../machines/declines.js'
import { table } from './table.js'

/** What a shop does, by reason. */
const advice: Readonly<Record<DeclineReason, string>> = {
  insufficient_funds: 'offer another card, or fewer cents; the same card may work on another day',
  limit_exceeded: 'offer another card; the same card may work on another day',
  expired_card: 'let the buyer type a valid card',
  blocked_card: 'offer another card; the buyer can ask the bank. Do not say that a card is lost or stolen',
  not_permitted: 'offer another card',
  do_not_honor: 'offer another card, or let the buyer ask the bank and try again',
  suspected_fraud: 'offer another card, or let the buyer confirm the purchase to the bank',
  invalid_data: 'let the buyer type the card again, if the amount and the installments are right',
  issuer_unavailable: 'try again in some minutes',
  technical_error: 'tell the operator',
  other: 'offer another card'
}

const COLUMN_NAMES: Readonly<Record<(typeof declineColumns)[number], string>> = {
  elo: 'Elo',
  visa: 'Visa',
  mastercard: 'Mastercard, Hipercard',
  amex: 'Amex',
  test: 'test environment'
}

/** The page. `notification` says that it is made. */
export function declinesPage(notification: string): string {
  const codes = declineRows.map(({ reason, mayRetry, means, codes }) => [
    `\`${reason}\``,
    mayRetry ? 'yes' : 'no',
    means,
    ...declineColumns.map(column => codes[column].map(code => `\`${code}\``).join(' '))
  ])
  return [
    '# Declines',
    notification,
    'Why an issuer declined, in `provider.decline_reason` of a payment, and in `provider.may_retry` whether the brand allows ' +
      'the same card to be tried again (source: `machines/declines.ts`, after the rules of ABECS for Brazil, which call a ' +
      'decline reversible or not). A retry is a new payment with a new `Idempotency-Key`.',
    table(
      ['`decline_reason`', 'What to do'],
      declineReasons.map(reason => [`\`${reason}\``, advice[reason]])
    ),
    '**With `may_retry` false do not try this card again** with the same data: brands charge for it, and block merchants who ' +
      'do it often. With true, Visa allows 15 tries in 30 days for the same card and amount, and the others count in ' +
      'similar ways: a few tries on different days are enough.',
    '## Codes',
    '`provider.declined_code` is the code as the network wrote it; zeros in front make no difference. A code that is not in the ' +
      'column of its brand is `other`, with `may_retry` false. Of Diners, Discover and JCB only the codes count that Elo, Visa and ' +
      'Mastercard have in common. In the test environment all brands have the codes of its column.',
    table(
      ['`decline_reason`', '`may_retry`', 'The issuer says', ...declineColumns.map(column => COLUMN_NAMES[column])],
      codes
    )
  ].join('\n\n')
}
