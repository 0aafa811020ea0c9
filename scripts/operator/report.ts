/** `report daily|settlement`: sums and lines for accounting. */
import { Command } from 'commander'
import type { Payment } from '../../machines/model.js'
import { type MoneyMove, moneyMoves } from '../../machines/money-moves.js'
import type { OperatorConnection } from './connection.js'
import { csvLine } from './csv.js'
import { parseDay, rangeOf, ZONE_OPTION } from './day.js'
import { addScanOptions, type ScanOptions, scanPayments } from './payment-scan.js'
import { table } from './table.js'
import type { OperatorWorld, Output, VerbMaker } from './verb.js'

interface DailyOptions extends ScanOptions {
  readonly on: number
  readonly zone: string
  readonly csv?: boolean
}

interface SettlementOptions extends ScanOptions {
  readonly from: number
  readonly to: number
  readonly createdFrom?: number
  readonly zone: string
}

const EXAMPLES = `
Example:
  npm run --silent operator -- report settlement --from 2026-01-01 --to 2026-01-31 --zone America/Sao_Paulo > january.csv`

export function reportCommand(verb: VerbMaker): Command {
  const noun = new Command('report').description('Sums and lines for accounting, read at a bounded rate.')
  const dailyVerb = verb<DailyOptions>(
    noun.command('daily'),
    { does: 'Payments that were created on a day, as they stand now: count and sums by merchant, status and brand.' },
    daily
  )
    .requiredOption('--on <day>', 'the day, such as 2026-01-31', parseDay)
    .option(...ZONE_OPTION)
    .option('--csv', 'print CSV')
  addScanOptions(dailyVerb)
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
  return noun
}

interface Sums {
  count: number
  amountCents: number
  capturedCents: number
  refundedCents: number
}

async function daily(
  connection: OperatorConnection,
  options: DailyOptions,
  _: string,
  world: OperatorWorld
): Promise<Output> {
  const groups = new Map<string, Sums>()
  for await (const payment of scanPayments(connection, world, options, rangeOf(options.on, options.on, options.zone))) {
    add(groups, payment)
  }
  const rows = [...groups].sort(([a], [b]) => (a < b ? -1 : 1)).map(([group, sums]) => ({ group, ...sums }))
  const cells = rows.map(({ group, count, amountCents, capturedCents, refundedCents }) => {
    return [...group.split(' '), ...[count, amountCents, capturedCents, refundedCents].map(String)]
  })
  const header = ['merchant_id', 'status', 'brand', 'count', 'amount_cents', 'captured_cents', 'refunded_cents']
  const json = cells.map(row =>
    Object.fromEntries(header.map((name, at) => [name, at < 3 ? row[at] : Number(row[at])]))
  )
  if (options.csv) return { json, text: [header, ...cells].map(csvLine).join('').trimEnd() }
  const title = header.map(name => name.toUpperCase().replace('_', ' '))
  return { json, text: table(title, cells, 'No payment was created on that day.') }
}

function add(groups: Map<string, Sums>, { terms, progress }: Payment): void {
  const group = `${terms.merchantId} ${progress.status} ${terms.card.brand}`
  const sums = groups.get(group) ?? { count: 0, amountCents: 0, capturedCents: 0, refundedCents: 0 }
  groups.set(group, sums)
  sums.count++
  sums.amountCents += terms.amountCents
  sums.capturedCents += progress.capturedCents
  sums.refundedCents += progress.refundedCents
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
  async function* rows(): AsyncGenerator<SettlementRow> {
    for await (const payment of scanPayments(connection, world, options, { fromMs: createdFromMs, toMs })) {
      for (const move of moneyMoves(payment)) {
        if (move.atMs >= fromMs && move.atMs < toMs) yield rowOf(payment, move)
      }
    }
  }
  return { json: jsonLines(rows()), text: csvLines(rows()) }
}

async function* csvLines(rows: AsyncIterable<SettlementRow>): AsyncGenerator<string> {
  yield csvLine(SETTLEMENT_COLUMNS)
  for await (const row of rows) yield csvLine(SETTLEMENT_COLUMNS.map(column => row[column]))
}

async function* jsonLines(rows: AsyncIterable<SettlementRow>): AsyncGenerator<string> {
  for await (const row of rows) yield `${JSON.stringify(row)}\n`
}

const SETTLEMENT_COLUMNS = [
  'type',
  'occurred_at',
  'amount_cents',
  'currency',
  'merchant_id',
  'payment_id',
  'external_reference',
  'idempotency_key',
  'installments',
  'brand',
  'last4',
  'nsu',
  'tid',
  'authorization_code'
] as const
type SettlementRow = Record<(typeof SETTLEMENT_COLUMNS)[number], string | number | null>

function rowOf({ terms, progress }: Payment, { type, atMs, amountCents, idempotencyKey }: MoneyMove): SettlementRow {
  const { nsu, tid, authorizationCode } = progress.references
  return {
    type,
    occurred_at: new Date(atMs).toISOString(),
    amount_cents: amountCents,
    currency: terms.currency,
    merchant_id: terms.merchantId,
    payment_id: terms.id,
    external_reference: terms.externalReference,
    idempotency_key: idempotencyKey,
    installments: terms.installments,
    brand: terms.card.brand,
    last4: terms.card.last4,
    nsu,
    tid,
    authorization_code: authorizationCode
  }
}
