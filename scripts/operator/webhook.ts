/** `webhook list|show|replay` */
import { Command, InvalidArgumentError } from 'commander'
import { MerchantStore } from '../../redis/merchants.js'
import { type ArchivedEvent, type ArchiveState, WebhookArchive } from '../../redis/webhook-archive.js'
import type { Attempt, LoggedAttempt } from '../../redis/webhook-record.js'
import { type ActionMaker, type Output, subjectOf, UsageError } from './action.js'
import type { OperatorConnection } from './connection.js'
import { table } from './table.js'

const states = ['waiting', 'undeliverable', 'delivered'] as const
const ATTEMPTS_SHOWN = 1_000
const LIST_DEFAULT = 50

export function webhookCommand(action: ActionMaker): Command {
  const noun = new Command('webhook').description('Events on their way to merchants.')
  noun
    .command('list')
    .description('Events that are not delivered, oldest first; --state delivered shows what is.')
    .option('--merchant <id>', 'only of this merchant')
    .option('--state <state>', states.join(', '), parseState)
    .option('--since <time>', 'only what occurred since then (ISO 8601)', parseTime)
    .option('--limit <n>', 'how many at the most', parseCount, LIST_DEFAULT)
    .option('--json', 'print JSON')
    .action(action<ListOptions>(list))
  noun
    .command('show')
    .description('One event with its attempts.')
    .argument('[event]', 'id of the event')
    .option('--event <id>', 'the same, as an option')
    .option('--json', 'print JSON')
    .action(
      action<{ event?: string }>(async (connection, options, args) => {
        const event = await found(connection, subjectOf(args, options.event, 'event'))
        return shown(event, await attemptsOf(connection, event))
      })
    )
  noun
    .command('replay')
    .description('Send one event again, or all of a merchant since a time. Receivers know them by their event_id.')
    .argument('[event]', 'id of the event')
    .option('--merchant <id>', 'all events of this merchant')
    .option('--since <time>', 'with --merchant: since this time (ISO 8601)', parseTime)
    .option('--undelivered', 'with --merchant: only those that were not delivered')
    .option('--json', 'print JSON')
    .action(action<ReplayOptions>(replay))
  return noun
}

interface ListOptions {
  merchant?: string
  state?: ArchiveState
  since?: number
  limit: number
  [option: string]: unknown
}

interface ReplayOptions {
  merchant?: string
  since?: number
  undelivered?: boolean
  [option: string]: unknown
}

async function list(
  connection: OperatorConnection,
  { merchant, state, since = 0, limit }: ListOptions
): Promise<Output> {
  const archive = archiveOf(connection)
  const events: ArchivedEvent[] = []
  for (const merchantId of merchant === undefined ? await merchantIds(connection) : [merchant]) {
    if (state === 'delivered') events.push(...(await firstDelivered(archive, merchantId, since, limit)))
    else
      events.push(...(await archive.pending(merchantId)).filter(event => state === undefined || event.state === state))
  }
  const wanted = events.filter(event => event.change.occurredAtMs >= since).slice(0, limit)
  const rows = wanted.map(event => [
    event.eventId,
    event.merchantId,
    event.state,
    event.change.status,
    iso(event.change.occurredAtMs),
    String(event.queued?.delivery.attempts ?? ''),
    event.state === 'waiting' && event.queued !== null ? iso(event.queued.delivery.nextAtMs) : '',
    lastWords(event.queued?.history ?? [])
  ])
  const header = ['EVENT', 'MERCHANT', 'STATE', 'STATUS', 'OCCURRED', 'ATTEMPTS', 'NEXT', 'LAST ANSWER']
  return { json: wanted.map(present), text: table(header, rows, 'There are no such events.') }
}

async function firstDelivered(
  archive: WebhookArchive,
  merchantId: string,
  sinceMs: number,
  limit: number
): Promise<ArchivedEvent[]> {
  const events: ArchivedEvent[] = []
  for await (const event of archive.delivered(merchantId, sinceMs)) {
    events.push(event)
    if (events.length >= limit) break
  }
  return events
}

async function replay(
  connection: OperatorConnection,
  options: ReplayOptions,
  args: readonly string[]
): Promise<Output> {
  const { merchant, since, undelivered = false } = options
  const [eventId] = args
  if (eventId !== undefined) return replayed(await archiveOf(connection).replay(await found(connection, eventId)))
  if (merchant === undefined || (since === undefined && !undelivered)) {
    throw new UsageError('name an event, or a merchant with --since or --undelivered')
  }
  const wanted = undelivered ? (['waiting', 'undeliverable'] as const) : states
  return replayed(await archiveOf(connection).replaySince(merchant, since ?? 0, wanted))
}

function replayed(count: number): Output {
  return { json: { replayed: count }, text: `${count} event${count === 1 ? '' : 's'} will be sent again.` }
}

async function found(connection: OperatorConnection, eventId: string): Promise<ArchivedEvent> {
  const event = await archiveOf(connection).find(eventId, await merchantIds(connection))
  if (event !== null) return event
  const days = connection.config.webhookRetentionDays
  throw new Error(
    `There is no event ${eventId} that is waiting, undeliverable, or was delivered in the last ${days} days. \`webhook list\` shows ids.`
  )
}

async function attemptsOf(connection: OperatorConnection, event: ArchivedEvent): Promise<Attempt[]> {
  if (event.queued !== null) return [...event.queued.history]
  const all: LoggedAttempt[] = await archiveOf(connection).attempts(event.merchantId, ATTEMPTS_SHOWN)
  return all.filter(attempt => attempt.eventId === event.eventId).reverse()
}

function shown(event: ArchivedEvent, attempts: readonly Attempt[]): Output {
  const lines = Object.entries(present(event)).map(([name, value]) => `${name.padEnd(18)} ${value ?? '-'}`)
  const rows = attempts.map(({ atMs, status, durationMs, note }) => [
    iso(atMs),
    status === null ? 'no answer' : String(status),
    `${durationMs} ms`,
    note
  ])
  const listed = table(['ATTEMPT', 'STATUS', 'TOOK', 'ANSWER'], rows, 'No attempt is remembered.')
  return {
    json: { ...present(event), attempts: attempts.map(presentAttempt) },
    text: `${lines.join('\n')}\n\n${listed}`
  }
}

function present({ eventId, merchantId, state, change, queued }: ArchivedEvent): Record<string, unknown> {
  return {
    event_id: eventId,
    merchant_id: merchantId,
    state,
    payment_id: change.paymentId,
    status: change.status,
    occurred_at: iso(change.occurredAtMs),
    attempts_made: queued?.delivery.attempts ?? null,
    next_attempt_at: state === 'waiting' && queued !== null ? iso(queued.delivery.nextAtMs) : null
  }
}

function presentAttempt({ atMs, status, durationMs, note }: Attempt): Record<string, unknown> {
  return { at: iso(atMs), http_status: status, duration_ms: durationMs, answer: note }
}

function lastWords(history: readonly Attempt[]): string {
  const last = history[history.length - 1]
  return last === undefined ? '' : `${last.status ?? 'no answer'} ${last.note}`.trim()
}

function archiveOf({ redis, config }: OperatorConnection): WebhookArchive {
  return new WebhookArchive(redis, config.partitions)
}

async function merchantIds({ redis, config }: OperatorConnection): Promise<string[]> {
  return (await new MerchantStore(redis, config.environment).listMerchants()).map(({ merchantId }) => merchantId)
}

function iso(ms: number): string {
  return new Date(ms).toISOString()
}

function parseState(text: string): ArchiveState {
  const state = states.find(known => known === text)
  if (state === undefined) throw new InvalidArgumentError(`Choose from ${states.join(', ')}.`)
  return state
}

function parseTime(text: string): number {
  const ms = Date.parse(text)
  if (Number.isNaN(ms)) throw new InvalidArgumentError('Give a time such as 2026-01-31T09:00:00Z.')
  return ms
}

function parseCount(text: string): number {
  if (!/^[1-9]\d{0,5}$/.test(text)) throw new InvalidArgumentError('Give a number from 1 to 999999.')
  return Number(text)
}
