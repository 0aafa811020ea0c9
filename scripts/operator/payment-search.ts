/** `payment search`: finds a payment by what a merchant, a buyer or the acquirer knows of it. */
import type { Command } from 'commander'
import type { Payment } from '../../machines/model.js'
import { UsageError } from '../command-line/usage-error.js'
import { oneLine, wholeNumber } from '../command-line/values.js'
import type { OperatorConnection } from './connection.js'
import { type Field, isoTime, listing } from './output.js'
import { addScanOptions, type ScanOptions, scanPayments } from './payment-scan.js'
import { parseDay, rangeOf, ZONE_OPTION } from './periods.js'
import type { OperatorWorld, Output, VerbMaker } from './verb.js'

const FOUND_DEFAULT = 100
const FOUND_MAX = 10_000
/** The latest time that an id can have. */
const ID_TIME_MAX_MS = 2 ** 48 - 1
/** Longer than any reference, number or name. */
const VALUE_LENGTH_MAX = 255

interface SearchOptions extends ScanOptions {
  readonly reference?: string
  readonly number?: string
  readonly last4?: string
  readonly amount?: number
  readonly limit: number
  readonly on?: number
  readonly zone: string
}

const EXAMPLES = `
An external reference has an index. All other searches read every payment of the day: --merchant makes them faster.

Examples:
  npm run --silent operator -- payment search order-4711
  npm run --silent operator -- payment search --number 123456 --on 2026-01-31 --zone America/Sao_Paulo
  npm run --silent operator -- payment search --last4 0060 --amount 12900 --on 2026-01-31 --merchant m_2f7k0c9x1q`

export function addSearch(noun: Command, verb: VerbMaker): void {
  const value = oneLine(VALUE_LENGTH_MAX)
  const command = verb<SearchOptions>(
    noun.command('search'),
    {
      does: 'Payments with an external reference; or those of one day with a number of the acquirer, the last digits of a card or an amount.',
      subject: ['reference', 'external reference of the merchant'],
      isSubjectOptional: true
    },
    search
  )
    .option('--number <number>', 'NSU or TID of the acquirer, with --on', value)
    .option('--last4 <digits>', 'last four digits of the card, with --on', value)
    .option('--amount <cents>', 'amount of the payment, with --on', wholeNumber(1))
    .option('--limit <n>', 'payments that are listed, at most', wholeNumber(1, FOUND_MAX), FOUND_DEFAULT)
    .option('--on <day>', 'day on which the payment was created', parseDay)
    .option(...ZONE_OPTION)
  addScanOptions(command).addHelpText('after', EXAMPLES)
}

async function search(
  connection: OperatorConnection,
  options: SearchOptions,
  reference: string,
  world: OperatorWorld
): Promise<Output> {
  const { number, last4, amount, limit, on, zone } = options
  if ([number, last4, amount].every(given => given === undefined) && reference === '') {
    throw new UsageError('give something to search for: an external reference, --number, --last4 or --amount')
  }
  if (reference === '' && on === undefined) {
    throw new UsageError('give the day on which the payment was created: --on 2026-01-31')
  }
  const range = on === undefined ? { fromMs: 0, toMs: ID_TIME_MAX_MS } : rangeOf(on, on, zone)
  const isWanted = ({ terms, progress: { references } }: Payment): boolean =>
    // Acquirers print both numbers, without saying which is which.
    (number === undefined || [references.nsu, references.tid].includes(number)) &&
    (last4 === undefined || terms.card.last4 === last4) &&
    (amount === undefined || terms.amountCents === amount)
  const found: Payment[] = []
  for await (const payment of scanPayments(connection, world, options, {
    ...range,
    externalReference: reference || null
  })) {
    if (isWanted(payment)) found.push(payment)
    if (found.length > limit) break
  }
  return listed(found, limit)
}

function listed(found: readonly Payment[], limit: number): Output {
  const { json, text } = listing(found.slice(0, limit), FIELDS, 'There is no such payment.')
  const more = found.length > limit ? `\nThere are more than these ${limit}: add --limit, or another option.` : ''
  return { json, text: `${text}${more}` }
}

const FIELDS: readonly Field<Payment>[] = [
  ['payment_id', ({ terms }) => terms.id],
  ['merchant_id', ({ terms }) => terms.merchantId],
  ['created_at', ({ terms }) => isoTime(terms.createdAtMs)],
  ['status', ({ progress }) => progress.status],
  ['amount_cents', ({ terms }) => terms.amountCents],
  ['card', ({ terms }) => `${terms.card.brand} ${terms.card.last4}`],
  ['nsu', ({ progress }) => progress.references.nsu],
  ['tid', ({ progress }) => progress.references.tid],
  ['external_reference', ({ terms }) => terms.externalReference]
]
