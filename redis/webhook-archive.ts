/**
 * Webhook events as operators see them: where an event is, what was tried, and how it is sent again.
 *
 * What waits is there in full. What was delivered, or given up, is remembered in its short form for the days of
 * WEBHOOK_RETENTION_DAYS, and is made again from it and from its payment: the same event, to the byte. Sent again it
 * goes through the outbox, like a fresh one.
 *
 * An endpoint that was down for days may have left millions of events: nothing here asks Redis for all at once.
 */
import type { Redis } from './connections.js'
import { compactId, keys, partitionOf, partitionOfPayment } from './keys.js'
import { fieldsOf } from './pairs.js'
import { decodePayment } from './payment-record.js'
import { defineScript } from './scripts.js'
import { decodeChange, encodeChange, encodeEvent, eventIdOf, type StatusChange, timeOfEvent } from './webhook-event.js'
import { changeOf, decodeAttempt, decodeRecord, type LoggedAttempt, type QueuedEvent } from './webhook-record.js'

const replayWebhooks = defineScript('replay_webhooks')

/** Events that one command asks for or removes. */
const PAGE = 500
/** Lines that one step of a walk looks at; each may have several events. */
const SCAN_COUNT = 100

export type ArchiveState = 'waiting' | 'undeliverable' | 'delivered'

export interface ArchivedEvent {
  readonly merchantId: string
  readonly eventId: string
  readonly state: ArchiveState
  readonly change: StatusChange
  /** Of what waits, and of what an older version gave up: its attempts and the time of the next one. */
  readonly queued: QueuedEvent | null
}

export class WebhookArchive {
  readonly #redis: Redis
  readonly #partitions: number

  constructor(redis: Redis, partitions: number) {
    this.#redis = redis
    this.#partitions = partitions
  }

  /** What waits to be sent again, in no order. */
  async *waiting(merchantId: string): AsyncGenerator<ArchivedEvent> {
    const lines = keys.webhookWaiting(this.#partitionOf(merchantId), merchantId)
    for await (const [, line] of scanFields(this.#redis, lines)) {
      for (const record of line.split('\n')) yield archived(merchantId, decodeRecord(record, 'waiting'))
    }
  }

  /** What was given up of what occurred since a time: oldest first, behind what an older version gave up, in no order. */
  async *undeliverable(merchantId: string, sinceMs: number): AsyncGenerator<ArchivedEvent> {
    const partition = this.#partitionOf(merchantId)
    for await (const [, record] of scanFields(this.#redis, keys.webhookUndeliverableOld(partition, merchantId))) {
      const event = archived(merchantId, decodeRecord(record, 'undeliverable'))
      if (event.change.occurredAtMs >= sinceMs) yield event
    }
    const list = keys.webhookUndeliverable(partition, merchantId)
    for (let [fromMs, skip] = [sinceMs, 0]; ; ) {
      const page = await this.#redis.zrangebyscore(list, fromMs, '+inf', 'LIMIT', skip, PAGE)
      const changes = page.map(decodeChange)
      for (const change of changes) yield remembered(merchantId, 'undeliverable', change)
      const lastMs = changes[changes.length - 1]?.occurredAtMs
      if (lastMs === undefined || page.length < PAGE) return
      // Events of the same millisecond may fill more than a page.
      const seen = changes.filter(change => change.occurredAtMs === lastMs).length
      skip = lastMs === fromMs ? skip + seen : seen
      fromMs = lastMs
    }
  }

  /** What was delivered since a time, in the order of delivery. */
  async *delivered(merchantId: string, sinceMs: number): AsyncGenerator<ArchivedEvent> {
    const journal = keys.webhookJournal(this.#partitionOf(merchantId), merchantId)
    for (let from = String(sinceMs); ; ) {
      const page = await this.#redis.xrange(journal, from, '+', 'COUNT', PAGE)
      for (const [, [, text = '']] of page) yield remembered(merchantId, 'delivered', decodeChange(text))
      const last = page[page.length - 1]
      if (last === undefined || page.length < PAGE) return
      from = `(${last[0]}`
    }
  }

  /** The last attempts, newest first; about 1,000 are kept for each merchant. */
  async attempts(merchantId: string, count: number): Promise<LoggedAttempt[]> {
    const list = keys.webhookAttempts(this.#partitionOf(merchantId), merchantId)
    const rows = await this.#redis.xrevrange(list, '+', '-', 'COUNT', count)
    return rows.map(([, [, line = '']]) => decodeAttempt(line))
  }

  /** Searches the partition that the id names; null when the event is unknown or forgotten. */
  async find(eventId: string, merchantIds: readonly string[]): Promise<ArchivedEvent | null> {
    const partition = partitionOfPayment(eventId)
    for (const merchantId of merchantIds.filter(id => this.#partitionOf(id) === partition)) {
      const given = await this.#findUndeliverable(eventId, merchantId)
      if (given !== null) return given
      for await (const event of this.waiting(merchantId)) if (event.eventId === eventId) return event
      // The test environment's time can be ahead of the journal's: then all of the journal is searched.
      for (const sinceMs of [timeOfEvent(eventId), 0]) {
        for await (const event of this.delivered(merchantId, sinceMs)) if (event.eventId === eventId) return event
      }
    }
    return null
  }

  /** Sends an event again; one that waits is due at once. Answers how many events. */
  async replay(event: ArchivedEvent): Promise<number> {
    if (event.state === 'waiting') return await this.#hurry(event.merchantId, event.change)
    return await this.#putBack(event.merchantId, event.state, [event.change])
  }

  /** Sends again all that occurred since a time, in its order. Answers how many events. */
  async replaySince(merchantId: string, sinceMs: number, states: readonly ArchiveState[]): Promise<number> {
    const events: Pick<ArchivedEvent, 'eventId' | 'state' | 'change'>[] = []
    const note = ({ eventId, state, change }: ArchivedEvent): void => {
      if (change.occurredAtMs >= sinceMs) events.push({ eventId, state, change })
    }
    if (states.includes('waiting')) for await (const event of this.waiting(merchantId)) note(event)
    if (states.includes('undeliverable')) for await (const event of this.undeliverable(merchantId, sinceMs)) note(event)
    if (states.includes('delivered')) for await (const event of this.delivered(merchantId, sinceMs)) note(event)
    // An event that was replayed before is in the journal twice, or in the journal and waiting: then it only waits.
    const wanted = new Map<string, (typeof events)[number]>()
    for (const event of events.sort(byTime)) if (!wanted.has(event.eventId)) wanted.set(event.eventId, event)
    const waiting = [...wanted.values()].filter(event => event.state === 'waiting')
    for (const event of waiting) await this.#hurry(merchantId, event.change)
    // One list of all others, so that the events of a payment keep their order, delivered or not.
    const others = [...wanted.values()].filter(event => event.state !== 'waiting')
    const changes = others.map(event => event.change)
    return waiting.length + (await this.#putBack(merchantId, 'delivered', changes))
  }

  /** Forgets what was given up of what occurred before a time, or all of it. Answers how many events. */
  async discard(merchantId: string, beforeMs = Number.POSITIVE_INFINITY): Promise<number> {
    const partition = this.#partitionOf(merchantId)
    const [list, old] = [
      keys.webhookUndeliverable(partition, merchantId),
      keys.webhookUndeliverableOld(partition, merchantId)
    ]
    const until = Number.isFinite(beforeMs) ? `(${beforeMs}` : '+inf'
    let count = 0
    for (let page = ['']; page.length > 0; ) {
      page = await this.#redis.zrangebyscore(list, '-inf', until, 'LIMIT', 0, PAGE)
      if (page.length > 0) count += await this.#redis.zrem(list, ...page)
    }
    for await (const [eventId] of scanFields(this.#redis, old)) {
      if (timeOfEvent(eventId) < beforeMs) count += await this.#redis.hdel(old, eventId)
    }
    return count
  }

  async #findUndeliverable(eventId: string, merchantId: string): Promise<ArchivedEvent | null> {
    const partition = this.#partitionOf(merchantId)
    const atMs = timeOfEvent(eventId)
    const [record, changes] = await Promise.all([
      this.#redis.hget(keys.webhookUndeliverableOld(partition, merchantId), eventId),
      this.#redis.zrangebyscore(keys.webhookUndeliverable(partition, merchantId), atMs, atMs)
    ])
    if (record !== null) return archived(merchantId, decodeRecord(record, 'undeliverable'))
    const change = changes.map(decodeChange).find(one => eventIdOf(one) === eventId)
    return change === undefined ? null : remembered(merchantId, 'undeliverable', change)
  }

  #partitionOf(merchantId: string): number {
    return partitionOf(merchantId, this.#partitions)
  }

  async #hurry(merchantId: string, change: StatusChange): Promise<number> {
    const partition = this.#partitionOf(merchantId)
    const nowMs = Date.now()
    await this.#redis.zadd(keys.webhookDue(partition, merchantId), 'XX', nowMs, compactId(change.paymentId))
    await this.#redis.zadd(keys.webhookMerchants(partition), 'LT', nowMs, merchantId)
    return 1
  }

  async #putBack(
    merchantId: string,
    state: 'undeliverable' | 'delivered',
    changes: readonly StatusChange[]
  ): Promise<number> {
    const partition = this.#partitionOf(merchantId)
    const places = [
      keys.outbox(partition),
      keys.webhookUndeliverable(partition, merchantId),
      keys.webhookUndeliverableOld(partition, merchantId)
    ]
    let count = 0
    for (let start = 0; start < changes.length; start += PAGE) {
      const entries = await entriesOf(this.#redis, partition, changes.slice(start, start + PAGE))
      count += Number(await replayWebhooks(this.#redis, places, [merchantId, state, ...entries.flat()]))
    }
    return count
  }
}

function archived(merchantId: string, queued: QueuedEvent): ArchivedEvent {
  const state = queued.delivery.state === 'undeliverable' ? 'undeliverable' : 'waiting'
  return { merchantId, eventId: queued.eventId, state, change: changeOf(queued), queued }
}

function remembered(merchantId: string, state: 'undeliverable' | 'delivered', change: StatusChange): ArchivedEvent {
  return { merchantId, eventId: eventIdOf(change), state, change, queued: null }
}

/** Every field and value of a hash, in portions; what comes or goes meanwhile may be missing, or come twice. */
async function* scanFields(redis: Redis, key: string): AsyncGenerator<readonly [field: string, value: string]> {
  let cursor = '0'
  do {
    const [next, found] = await redis.hscan(key, cursor, 'COUNT', SCAN_COUNT)
    yield* fieldsOf(found)
    cursor = next
  } while (cursor !== '0')
}

/** In the order in which events occurred. */
export function byTime(one: Pick<ArchivedEvent, 'change'>, other: Pick<ArchivedEvent, 'change'>): number {
  return one.change.occurredAtMs - other.change.occurredAtMs || one.change.version - other.change.version
}

/** Event id, payment, version, body and short form of each event, made again from its payment. */
async function entriesOf(redis: Redis, partition: number, changes: readonly StatusChange[]): Promise<string[][]> {
  if (changes.length === 0) return []
  const compacts = changes.map(({ paymentId }) => compactId(paymentId))
  const records = await redis.mget(compacts.map(compact => keys.payment(partition, compact)))
  return changes.flatMap((change, index) => {
    const [compact, record] = [compacts[index] ?? '', records[index]]
    if (!record) return []
    const { terms } = decodePayment(record, compact)
    return [[eventIdOf(change), compact, String(change.version), encodeEvent(change, terms), encodeChange(change)]]
  })
}
