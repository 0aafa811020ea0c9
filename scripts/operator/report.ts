/** `report settlement`: every movement of money, for accounting. */
import type { Command } from 'commander'
import type { Payment } from '../../machines/model.js'
import { type MoneyMove, moneyMoves } from '../../machines/money-moves.js'
import type { OperatorConnection } from './connection.js'
import { csvHeader, csvLine, type Field, isoTime, jsonOf } from './output.js'
import { addScanOptions, type ScanOptions, scanPayments } from './payment-scan.js'
import { parseDay, rangeOf, ZONE_OPTION } from './periods.js'
import type { OperatorWorld, Output, VerbMaker } from './verb.js'

interface SettlementOptions extends ScanOptions {
  readonly from: number
  readonly to: number
  readonly createdFrom?: number
  readonly zone: string
}

const EXAMPLES = `
Example:
  npm run --silent operator -- report settlement --from 2026-01-01 --to 2026-01-31 --zone America/Sao_Paulo > january.csv`

export function reportCommand(program: Command, verb: VerbMaker): void {
  const noun = program.command('report').description('Lines for accounting, read at a bounded rate.')
  const settlementVerb = verb<SettlementOptions>(
    noun.command('settlement'),
    {
      does: 'Captures, refunds and chargebacks from one day to another, one line of CSV each; with --json a line of JSON.'
    },
    settlement
  )
    .requiredOption('--from <day>', 'first day', parseDay)
    .requiredOption('--to <day>', 'last day', parseDay)
    .option('--created-from <day>', 'leave out payments that were created before; none unless given', parseDay)
    .option(...ZONE_OPTION)
  addScanOptions(settlementVerb).addHelpText('after', EXAMPLES)
}

async function settlement(
  connection: OperatorConnection,
  options: SettlementOptions,
  _: string,
  world: OperatorWorld
): Promise<Output> {
  const { from, to, createdFrom, zone } = options
  const { fromMs, toMs } = rangeOf(from, to, zone)
  const createdFromMs = createdFrom === undefined ? 0 : rangeOf(createdFrom, Math.max(createdFrom, to), zone).fromMs
  async function* moves(): AsyncGenerator<PaymentMove> {
    for await (const payment of scanPayments(connection, world, options, { fromMs: createdFromMs, toMs })) {
      for (const move of moneyMoves(payment)) {
        if (move.atMs >= fromMs && move.atMs < toMs) yield { ...payment, move }
      }
    }
  }
  return { json: jsonLines(moves()), text: csvLines(moves()) }
}

/** The header comes with the first line: what fails before has no lines that look like a report. */
async function* csvLines(moves: AsyncIterable<PaymentMove>): AsyncGenerator<string> {
  let isEmpty = true
  for await (const move of moves) {
    yield `${isEmpty ? csvHeader(SETTLEMENT_FIELDS) : ''}${csvLine(SETTLEMENT_FIELDS, move)}`
    isEmpty = false
  }
  if (isEmpty) yield csvHeader(SETTLEMENT_FIELDS)
}

async function* jsonLines(moves: AsyncIterable<PaymentMove>): AsyncGenerator<string> {
  for await (const move of moves) yield `${JSON.stringify(jsonOf(SETTLEMENT_FIELDS, move))}\n`
}

type PaymentMove = Pick<Payment, 'terms' | 'progress'> & { readonly move: MoneyMove }

const SETTLEMENT_FIELDS: readonly Field<PaymentMove>[] = [
  ['type', ({ move }) => move.type],
  ['occurred_at', ({ move }) => isoTime(move.atMs)],
  ['amount_cents', ({ move }) => move.amountCents],
  ['currency', ({ terms }) => terms.currency],
  ['merchant_id', ({ terms }) => terms.merchantId],
  ['payment_id', ({ terms }) => terms.id],
  ['external_reference', ({ terms }) => terms.externalReference],
  ['idempotency_key', ({ move }) => move.idempotencyKey],
  ['installments', ({ terms }) => terms.installments],
  ['brand', ({ terms }) => terms.card.brand],
  ['last4', ({ terms }) => terms.card.last4],
  ['nsu', ({ progress }) => progress.references.nsu],
  ['tid', ({ progress }) => progress.references.tid],
  ['authorization_code', ({ progress }) => progress.references.authorizationCode]
]
