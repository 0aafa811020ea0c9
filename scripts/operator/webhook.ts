/** `webhook list|show|replay|discard|disable|enable` */
import type { Command } from 'commander'
import { type LoggedState, loggedStates as states } from '../../machines/status-change.js'
import { type Attempt, RETENTION_DAYS, WAITING_MAX } from '../../machines/webhook-delivery.js'
import { unreplicated } from '../../redis/connection/writes.js'
import { createWebhookEndpointStore, type WebhookEndpointStore } from '../../redis/webhooks/webhook-endpoints.js'
import { byTime, type LoggedEvent } from '../../redis/webhooks/webhook-event.js'
import { type Replayed, WebhookLog } from '../../redis/webhooks/webhook-log.js'
import { UsageError } from '../command-line/usage-error.js'
import { oneOf, time, wholeNumber } from '../command-line/values.js'
import type { OperatorConnection } from './connection.js'
import { type Field, fieldLines, isoTime, jsonOf, listing } from './output.js'
import type { Output, VerbMaker } from './verb.js'

const LIST_DEFAULT = 50
/** Events that a list holds beyond its limit before it drops the youngest. Bounds memory: there may be millions. */
const LIST_SLACK = 10_000

export function webhookCommand(program: Command, verb: VerbMaker): void {
  const noun = program.command('webhook').description('Webhook events: waiting, delivered and undeliverable ones.')
  const event = ['event', 'id of the event'] as const
  verb<ListOptions>(
    noun.command('list'),
    { does: 'Events that are not delivered: merchant by merchant, oldest first. --state delivered lists the others.' },
    list
  )
    .option('--merchant <id>', 'only events of this merchant')
    .option('--state <state>', states.join(', '), oneOf(states))
    .option('--since <time>', 'only events since this time (ISO 8601)', time)
    .option('--limit <n>', 'at most so many', wholeNumber(1, 999_999), LIST_DEFAULT)
  verb(
    noun.command('show'),
    { does: 'One event with its attempts.', subject: event },
    async (connection, _, eventId) => {
      const event = await found(connection, eventId)
      return shown(event)
    }
  )
  verb<ReplayOptions>(
    noun.command('replay'),
    {
      does: 'Send one event again, or all of a merchant since a time. The event_id stays the same.',
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
      does: 'Delete undeliverable events of a merchant. They can never be sent again; its payments stay as they are.',
      subject: ['merchant', 'id of the merchant'],
      change: 'for_ever'
    },
    discard
  ).option('--before <time>', 'only events from before this time (ISO 8601)', time)
  addSwitchVerbs(noun, verb)
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
  const eventLog = eventLogOf(connection)
  const found: LoggedEvent[] = []
  const merchants = await merchantIds(connection, merchant)
  // One more than is shown, to know whether there are more.
  const max = limit + 1
  for (const merchantId of merchants) {
    if (found.length >= max) break
    const events =
      state === 'delivered'
        ? await firstOf(eventLog.delivered(merchantId, since), max - found.length)
        : await oldestOf(undelivered(eventLog, merchantId, since, state), max - found.length)
    found.push(...events)
  }
  const lastAnswer: Field<LoggedEvent> = ['last_answer', ({ attempts }) => lastAnswerIn(attempts)]
  const { json, text } = listing(found.slice(0, limit), [...EVENT_FIELDS, lastAnswer], 'There are no such events.')
  const more = found.length > limit ? [`There are more than these ${limit}: use --limit, --merchant or --since.`] : []
  return { json, text: [text, ...more, ...(await switchedOffLines(connection, merchants))].join('\n') }
}

async function* undelivered(
  eventLog: WebhookLog,
  merchantId: string,
  sinceMs: number,
  state: LoggedState | undefined
): AsyncGenerator<LoggedEvent> {
  if (state !== 'undeliverable') {
    for (const events of [eventLog.beingSent(merchantId), eventLog.waiting(merchantId)])
      for await (const event of events) if (event.change.occurredAtMs >= sinceMs) yield event
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

async function discard(
  connection: OperatorConnection,
  { before }: { before?: number },
  merchantId: string
): Promise<Output> {
  await connection.merchants.requireMerchant(merchantId)
  const count = await eventLogOf(connection).discard(merchantId, before)
  return {
    json: { merchant_id: merchantId, discarded: count },
    text: `${count} undeliverable event${count === 1 ? ' is' : 's are'} deleted.`
  }
}

async function replay(
  connection: OperatorConnection,
  { merchant, since, undelivered = false }: ReplayOptions,
  eventId: string
): Promise<Output> {
  if (eventId !== '') return replayed(await eventLogOf(connection).replay(await found(connection, eventId)))
  if (merchant === undefined || (since === undefined && !undelivered)) {
    throw new UsageError('name an event, or a merchant with --since or --undelivered. Nothing was changed.')
  }
  await connection.merchants.requireMerchant(merchant)
  const wanted = undelivered ? (['waiting', 'undeliverable'] as const) : states
  return replayed(await eventLogOf(connection).replaySince(merchant, since ?? 0, wanted))
}

function replayed({ sent, left }: Replayed): Output {
  const lines = [`${sent} event${sent === 1 ? '' : 's'} will be sent again.`]
  if (left > 0) {
    lines.push(
      `${left} stay as they are: ${WAITING_MAX} events of their payment wait already, or the payment is gone. Repeat this when those have arrived.`
    )
  }
  return { json: { replayed: sent, left }, text: lines.join('\n') }
}

async function found(connection: OperatorConnection, eventId: string): Promise<LoggedEvent> {
  const event = await eventLogOf(connection).find(eventId, await merchantIds(connection))
  if (event !== null) return event
  throw new Error(
    `There is no event ${eventId}: none that is waiting, and none that was delivered or given up in the last ${RETENTION_DAYS} days. \`webhook list\` shows ids.`
  )
}

function shown(event: LoggedEvent): Output {
  const fields = jsonOf(EVENT_FIELDS, event)
  const { json, text } = listing(event.attempts, ATTEMPT_FIELDS, 'No attempt is recorded.')
  return { json: { ...fields, attempts: json }, text: `${fieldLines(fields)}\n\n${text}` }
}

const EVENT_FIELDS: readonly Field<LoggedEvent>[] = [
  ['event_id', ({ eventId }) => eventId],
  ['merchant_id', ({ merchantId }) => merchantId],
  ['state', ({ state }) => state],
  ['payment_id', ({ change }) => change.paymentId, 'json'],
  ['status', ({ change }) => change.status],
  ['occurred_at', ({ change }) => isoTime(change.occurredAtMs)],
  ['attempts_made', ({ state, attempts }) => (state === 'waiting' ? attempts.length : null)],
  ['next_attempt_at', ({ nextAttemptAtMs }) => isoTime(nextAttemptAtMs)]
]

const ATTEMPT_FIELDS: readonly Field<Attempt>[] = [
  ['at', ({ atMs }) => isoTime(atMs)],
  ['http_status', ({ status }) => status],
  ['duration_ms', ({ durationMs }) => durationMs],
  ['answer', ({ note }) => note]
]

function lastAnswerIn(attempts: readonly Attempt[]): string | null {
  const last = attempts.at(-1)
  return last === undefined ? null : `${last.status ?? 'no answer'} ${last.note}`.trim()
}

function eventLogOf({ redis, config, payments }: OperatorConnection): WebhookLog {
  return new WebhookLog(redis, config.partitions, payments)
}

/** All merchants, or the one that was given; rejects when it does not exist. */
async function merchantIds({ merchants }: OperatorConnection, given?: string): Promise<string[]> {
  const wanted = given === undefined ? await merchants.listMerchants() : [await merchants.requireMerchant(given)]
  return wanted.map(({ merchantId }) => merchantId)
}

/** `disable` and `enable`, for the endpoint that its merchant has abandoned. */
function addSwitchVerbs(noun: Command, verb: VerbMaker): void {
  const subject = ['merchant', 'id of the merchant'] as const
  verb(
    noun.command('disable'),
    {
      does: 'Neither send nor keep the events of a merchant, until it registers its endpoint again.',
      subject,
      change: 'for_ever'
    },
    async (connection, _, merchantId) => {
      await connection.merchants.requireMerchant(merchantId)
      if (!(await endpointsOf(connection).switchOff(merchantId, Date.now()))) throw withoutEndpoint(merchantId)
      return {
        json: { merchant_id: merchantId, webhooks_enabled: false },
        text: `Webhooks of ${merchantId} are switched off. Events are neither sent nor kept until the merchant registers its endpoint again (PUT /v1/webhook-endpoint). Waiting events are dropped when they are due, within 29 hours. Undeliverable events stay until they expire, or until \`webhook discard ${merchantId}\`.`
      }
    }
  )
  verb(
    noun.command('enable'),
    { does: 'Undo `webhook disable`: send what happens from now on.', subject, change: 'can_be_undone' },
    async (connection, _, merchantId) => {
      await connection.merchants.requireMerchant(merchantId)
      if (!(await endpointsOf(connection).switchOn(merchantId))) throw withoutEndpoint(merchantId)
      return {
        json: { merchant_id: merchantId, webhooks_enabled: true },
        text: `Webhooks of ${merchantId} are switched on.`
      }
    }
  )
}

function withoutEndpoint(merchantId: string): Error {
  return new Error(`Merchant ${merchantId} has no webhook endpoint, so it has no events. Nothing was changed.`)
}

/** A line for each of these merchants whose webhooks are switched off. */
async function switchedOffLines(connection: OperatorConnection, merchantIds: readonly string[]): Promise<string[]> {
  const lines: string[] = []
  for (const merchantId of merchantIds) {
    const endpoint = await endpointsOf(connection).find(merchantId)
    if (endpoint === null || endpoint.offSinceMs === null) continue
    lines.push(`Webhooks of ${merchantId} are switched off since ${isoTime(endpoint.offSinceMs)} (webhook enable).`)
  }
  return lines
}

function endpointsOf({ redis, config }: OperatorConnection): WebhookEndpointStore {
  return createWebhookEndpointStore(unreplicated(redis), config.partitions)
}
