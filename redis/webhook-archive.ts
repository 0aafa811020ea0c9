/**
 * Webhook events as operators see them: where an event is, what was tried, and how it is sent again.
 *
 * What is not delivered is there in full. A delivered event is remembered in its short form for the days of
 * WEBHOOK_RETENTION_DAYS, and is made again from it and from its payment: the same event, to the byte. Sent again it
 * goes through the outbox, like a fresh one.
 */
import type { Redis } from './connections.js'
import { compactId, keys, partitionOf, partitionOfPayment } from './keys.js'
import { decodePayment } from './payment-record.js'
import { defineScript } from './scripts.js'
import { decodeChange, encodeEvent, eventIdOf, type StatusChange, timeOfEvent } from './webhook-event.js'
import { changeOf, decodeAttempt, decodeRecord, type LoggedAttempt, type QueuedEvent } from './webhook-record.js'

const replayWebhooks = defineScript('replay_webhooks')

const PAGE = 500

export type ArchiveState = 'waiting' | 'undeliverable' | 'delivered'

export interface ArchivedEvent {
  readonly merchantId: string
  readonly eventId: string
  readonly state: ArchiveState
  readonly change: StatusChange
  /** For what is not delivered: its attempts and the time of the next one. */
  readonly queued: QueuedEvent | null
}

export class WebhookArchive {
  readonly #redis: Redis
  readonly #partitions: number

  constructor(redis: Redis, partitions: number) {
    this.#redis = redis
    this.#partitions = partitions
  }

  /** What was not delivered to a merchant, oldest first. */
  async pending(merchantId: string): Promise<ArchivedEvent[]> {
    const partition = this.#partitionOf(merchantId)
    const [lines, given] = await Promise.all([
      this.#redis.hvals(keys.webhookWaiting(partition, merchantId)),
      this.#redis.hvals(keys.webhookUndeliverable(partition, merchantId))
    ])
    const waiting = lines.flatMap(line => line.split('\n')).map(record => decodeRecord(record, 'waiting'))
    const undeliverable = given.map(record => decodeRecord(record, 'undeliverable'))
    return [...waiting, ...undeliverable].map(queued => archived(merchantId, queued)).sort(byTime)
  }

  /** What was delivered since a time, in the order of delivery. */
  async *delivered(merchantId: string, sinceMs: number): AsyncGenerator<ArchivedEvent> {
    const journal = keys.webhookJournal(this.#partitionOf(merchantId), merchantId)
    for (let from = String(sinceMs); ; ) {
      const page = await this.#redis.xrange(journal, from, '+', 'COUNT', PAGE)
      for (const [, [, text = '']] of page) {
        const change = decodeChange(text)
        yield { merchantId, eventId: eventIdOf(change), state: 'delivered', change, queued: null }
      }
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
      const pending = (await this.pending(merchantId)).find(event => event.eventId === eventId)
      if (pending !== undefined) return pending
      // The test environment's time can be ahead of the journal's: then all of the journal is searched.
      for (const sinceMs of [timeOfEvent(eventId), 0]) {
        for await (const event of this.delivered(merchantId, sinceMs)) if (event.eventId === eventId) return event
      }
    }
    return null
  }

  /** Sends an event again; one that waits is due at once. Answers how many events. */
  async replay(event: ArchivedEvent): Promise<number> {
    if (event.state === 'waiting') return await this.#hurry(event)
    return await this.#putBack(event.merchantId, event.state, [event.change])
  }

  /** Sends again all that occurred since a time, in its order. Answers how many events. */
  async replaySince(merchantId: string, sinceMs: number, states: readonly ArchiveState[]): Promise<number> {
    const events = await this.pending(merchantId)
    if (states.includes('delivered')) for await (const event of this.delivered(merchantId, sinceMs)) events.push(event)
    const wanted = new Map<string, ArchivedEvent>()
    for (const event of events.sort(byTime)) {
      const isWanted = event.change.occurredAtMs >= sinceMs && states.includes(event.state)
      // An event that was replayed before is in the journal twice.
      if (isWanted && !wanted.has(event.eventId)) wanted.set(event.eventId, event)
    }
    const waiting = [...wanted.values()].filter(event => event.state === 'waiting')
    for (const event of waiting) await this.#hurry(event)
    // One list of all others, so that the events of a payment keep their order whatever became of them at first.
    const others = [...wanted.values()].filter(event => event.state !== 'waiting')
    const changes = others.map(event => event.change)
    return waiting.length + (await this.#putBack(merchantId, 'delivered', changes))
  }

  #partitionOf(merchantId: string): number {
    return partitionOf(merchantId, this.#partitions)
  }

  async #hurry({ merchantId, change }: ArchivedEvent): Promise<number> {
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
    const places = [keys.outbox(partition), keys.webhookUndeliverable(partition, merchantId)]
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

function byTime(one: ArchivedEvent, other: ArchivedEvent): number {
  return one.change.occurredAtMs - other.change.occurredAtMs || one.change.version - other.change.version
}

/** Event id, payment, version and body of each event, made again from its payment. */
async function entriesOf(redis: Redis, partition: number, changes: readonly StatusChange[]): Promise<string[][]> {
  if (changes.length === 0) return []
  const compacts = changes.map(({ paymentId }) => compactId(paymentId))
  const records = await redis.mget(compacts.map(compact => keys.payment(partition, compact)))
  return changes.flatMap((change, index) => {
    const [compact, record] = [compacts[index] ?? '', records[index]]
    if (!record) return []
    const { terms } = decodePayment(record, compact)
    return [[eventIdOf(change), compact, String(change.version), encodeEvent(change, terms)]]
  })
}
