/** `webhook list|show|replay|discard|disable|enable` */
import { Command } from 'commander'
import { MerchantStore } from '../../redis/merchants/merchants.js'
import type { Attempt } from '../../redis/webhooks/webhook-event.js'
import {
  byTime,
  type LoggedEvent,
  type LoggedState,
  loggedStates as states,
  WebhookLog
} from '../../redis/webhooks/webhook-log.js'
import { UsageError } from '../command-line/usage-error.js'
import { oneOf, time, wholeNumber } from '../command-line/values.js'
import type { OperatorConnection } from './connection.js'
import { table } from './table.js'
import type { Output, VerbMaker } from './verb.js'
import { addSwitchVerbs, requireMerchant, switchedOffLines } from './webhook-switch.js'

const ATTEMPTS_SHOWN = 1_000
const LIST_DEFAULT = 50
/** Events that a list holds beyond its limit before it forgets the youngest: there may be millions. */
const LIST_SLACK = 10_000

export function webhookCommand(verb: VerbMaker): Command {
  const noun = new Command('webhook').description('Events on their way to merchants.')
  const event = ['event', 'id of the event'] as const
  verb<ListOptions>(
    noun.command('list'),
    { does: 'Events that are not delivered, oldest first; --state delivered shows what is.' },
    list
  )
    .option('--merchant <id>', 'only of this merchant')
    .option('--state <state>', states.join(', '), oneOf(states))
    .option('--since <time>', 'only what occurred since then (ISO 8601)', time)
    .option('--limit <n>', 'how many at the most', wholeNumber(1, 999_999), LIST_DEFAULT)
  verb(
    noun.command('show'),
    { does: 'One event with its attempts.', subject: event },
    async (connection, _, eventId) => {
      const event = await found(connection, eventId)
      return shown(event, await attemptsOf(connection, event))
    }
  )
  verb<ReplayOptions>(
    noun.command('replay'),
    {
      does: 'Send one event again, or all of a merchant since a time. Receivers know them by their event_id.',
      subject: event,
      isSubjectOptional: true,
      change: 'can_be_undone'
    },
    replay
  )
    .option('--merchant <id>', 'all events of this merchant')
    .option('--since <time>', 'with --merchant: since this time (ISO 8601)', time)
    .option('--undelivered', 'with --merchant: only those that were not delivered')
  verb<{ before?: number }>(
    noun.command('discard'),
    {
      does: 'Forget undeliverable events of a merchant. They can never be sent again; its payments are not touched.',
      subject: ['merchant', 'id of the merchant'],
      change: 'for_ever'
    },
    discard
  ).option('--before <time>', 'only what occurred before this time (ISO 8601)', time)
  addSwitchVerbs(noun, verb)
  return noun
}

interface ListOptions {
  merchant?: string
  state?: LoggedState
  since?: number
  limit: number
}

interface ReplayOptions {
  merchant?: string
  since?: number
  undelivered?: boolean
}

async function list(
  connection: OperatorConnection,
  { merchant, state, since = 0, limit }: ListOptions
): Promise<Output> {
  if (merchant !== undefined) await requireMerchant(connection, merchant)
  const eventLog = eventLogOf(connection)
  const found: LoggedEvent[] = []
  const lastAnswers = new Map<string, string>()
  const merchants = merchant === undefined ? await merchantIds(connection) : [merchant]
  // One more than is shown: an operator who repairs fifty events should know that there are more.
  const max = limit + 1
  for (const merchantId of merchants) {
    if (found.length >= max) break
    const events =
      state === 'delivered'
        ? await firstOf(eventLog.delivered(merchantId, since), max - found.length)
        : await oldestOf(undelivered(eventLog, merchantId, since, state), max - found.length)
    found.push(...events)
    if (events.some(event => event.state === 'undeliverable')) await noteAnswers(eventLog, merchantId, lastAnswers)
  }
  const wanted = found.slice(0, limit)
  const rows = wanted.map(event => [
    event.eventId,
    event.merchantId,
    event.state,
    event.change.status,
    iso(event.change.occurredAtMs),
    String(event.queued?.delivery.attempts ?? ''),
    event.state === 'waiting' && event.queued !== null ? iso(event.queued.delivery.nextAtMs) : '',
    lastWords(event.history) || (lastAnswers.get(event.eventId) ?? '')
  ])
  const header = ['EVENT', 'MERCHANT', 'STATE', 'STATUS', 'OCCURRED', 'ATTEMPTS', 'NEXT', 'LAST ANSWER']
  const listed = table(header, rows, 'There are no such events.')
  const more = found.length > limit ? [`There are more than these ${limit}: --limit, --merchant, --since.`] : []
  const text = [listed, ...more, ...(await switchedOffLines(connection, merchants))].join('\n')
  return { json: wanted.map(present), text }
}

async function* undelivered(
  eventLog: WebhookLog,
  merchantId: string,
  sinceMs: number,
  state: LoggedState | undefined
): AsyncGenerator<LoggedEvent> {
  if (state !== 'undeliverable') {
    for await (const event of eventLog.waiting(merchantId)) if (event.change.occurredAtMs >= sinceMs) yield event
  }
  if (state !== 'waiting') yield* eventLog.undeliverable(merchantId, sinceMs)
}

async function firstOf(events: AsyncIterable<LoggedEvent>, limit: number): Promise<LoggedEvent[]> {
  const first: LoggedEvent[] = []
  for await (const event of events) {
    first.push(event)
    if (first.length >= limit) break
  }
  return first
}

async function oldestOf(events: AsyncIterable<LoggedEvent>, limit: number): Promise<LoggedEvent[]> {
  const oldest: LoggedEvent[] = []
  for await (const event of events) {
    oldest.push(event)
    if (oldest.length >= limit + LIST_SLACK) oldest.sort(byTime).splice(limit)
  }
  return oldest.sort(byTime).slice(0, limit)
}

/** The last answers of receivers, by event, as far as they are remembered. */
async function noteAnswers(eventLog: WebhookLog, merchantId: string, answers: Map<string, string>): Promise<void> {
  for (const attempt of await eventLog.attempts(merchantId, ATTEMPTS_SHOWN)) {
    if (!answers.has(attempt.eventId)) answers.set(attempt.eventId, lastWords([attempt]))
  }
}

async function discard(
  connection: OperatorConnection,
  { before }: { before?: number },
  merchantId: string
): Promise<Output> {
  await requireMerchant(connection, merchantId)
  const count = await eventLogOf(connection).discard(merchantId, before)
  return {
    json: { merchant_id: merchantId, discarded: count },
    text: `${count} undeliverable event${count === 1 ? ' is' : 's are'} forgotten.`
  }
}

async function replay(
  connection: OperatorConnection,
  { merchant, since, undelivered = false }: ReplayOptions,
  eventId: string
): Promise<Output> {
  if (eventId !== '') return replayed(await eventLogOf(connection).replay(await found(connection, eventId)))
  if (merchant === undefined || (since === undefined && !undelivered)) {
    throw new UsageError('name an event, or a merchant with --since or --undelivered')
  }
  await requireMerchant(connection, merchant)
  const wanted = undelivered ? (['waiting', 'undeliverable'] as const) : states
  return replayed(await eventLogOf(connection).replaySince(merchant, since ?? 0, wanted))
}

function replayed(count: number): Output {
  return { json: { replayed: count }, text: `${count} event${count === 1 ? '' : 's'} will be sent again.` }
}

async function found(connection: OperatorConnection, eventId: string): Promise<LoggedEvent> {
  const event = await eventLogOf(connection).find(eventId, await merchantIds(connection))
  if (event !== null) return event
  const days = connection.config.webhookRetentionDays
  throw new Error(
    `There is no event ${eventId} that is waiting, or was delivered or given up in the last ${days} days. \`webhook list\` shows ids.`
  )
}

async function attemptsOf(connection: OperatorConnection, event: LoggedEvent): Promise<Attempt[]> {
  if (event.queued !== null) return [...event.history]
  const all: Attempt[] = await eventLogOf(connection).attempts(event.merchantId, ATTEMPTS_SHOWN)
  return all.filter(attempt => attempt.eventId === event.eventId).reverse()
}

function shown(event: LoggedEvent, attempts: readonly Attempt[]): Output {
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

function present({ eventId, merchantId, state, change, queued }: LoggedEvent): Record<string, unknown> {
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

function eventLogOf({ redis, config, payments }: OperatorConnection): WebhookLog {
  return new WebhookLog(redis, config.partitions, payments)
}

async function merchantIds({ redis, config }: OperatorConnection): Promise<string[]> {
  return (await new MerchantStore(redis, config.environment).listMerchants()).map(({ merchantId }) => merchantId)
}

function iso(ms: number): string {
  return new Date(ms).toISOString()
}
