/** `report daily|settlement`: sums and lines for accounting. */
import { Command } from 'commander'
import type { Payment } from '../../machines/model.js'
import { type MoneyMove, moneyMoves } from '../../machines/money-moves.js'
import type { OperatorConnection } from './connection.js'
import { csvLine, isoTime, listing } from './output.js'
import { addScanOptions, type ScanOptions, scanPayments } from './payment-scan.js'
import { parseDay, rangeOf, ZONE_OPTION } from './periods.js'
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

/** The sums of one group, as they are printed. */
interface DailyRow {
  readonly merchant_id: string
  readonly status: string
  readonly brand: string
  count: number
  amount_cents: number
  captured_cents: number
  refunded_cents: number
}

const DAILY_COLUMNS = [
  'merchant_id',
  'status',
  'brand',
  'count',
  'amount_cents',
  'captured_cents',
  'refunded_cents'
] as const satisfies readonly (keyof DailyRow)[]

async function daily(
  connection: OperatorConnection,
  options: DailyOptions,
  _: string,
  world: OperatorWorld
): Promise<Output> {
  const groups = new Map<string, DailyRow>()
  for await (const payment of scanPayments(connection, world, options, rangeOf(options.on, options.on, options.zone))) {
    add(groups, payment)
  }
  const rows = [...groups].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, row]) => row)
  const columns = Object.fromEntries(DAILY_COLUMNS.map(name => [name.toUpperCase().replace('_', ' '), name]))
  const { json, text } = listing(rows, row => row, columns, 'No payment was created on that day.')
  if (!options.csv) return { json, text }
  const lines = [DAILY_COLUMNS, ...rows.map(row => DAILY_COLUMNS.map(name => row[name]))]
  return { json, text: lines.map(csvLine).join('').trimEnd() }
}

function add(groups: Map<string, DailyRow>, { terms, progress }: Payment): void {
  const group = { merchant_id: terms.merchantId, status: progress.status, brand: terms.card.brand }
  const key = Object.values(group).join(' ')
  const sums = groups.get(key) ?? { ...group, count: 0, amount_cents: 0, captured_cents: 0, refunded_cents: 0 }
  groups.set(key, sums)
  sums.count++
  sums.amount_cents += terms.amountCents
  sums.captured_cents += progress.capturedCents
  sums.refunded_cents += progress.refundedCents
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
    occurred_at: isoTime(atMs),
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
