/**
 * The log of webhook events, for operators: where an event is, what was tried, and how it is sent again.
 *
 * Delivered and undeliverable events are kept for `RETENTION_DAYS`. An event that is sent again has the same bytes and
 * stands behind the others of its payment. It is due by the clock of Redis: that of an operator's machine may be wrong.
 *
 * An endpoint that was down for days may have left millions of events: nothing here asks Redis for all at once.
 */
import { isTestChange, type LoggedState, loggedStates, testTerms } from '../../machines/status-change.js'
import type { Redis } from '../connection/connections.js'
import { serverTimeMs } from '../connection/redis-clock.js'
import { fieldsOf } from '../connection/reply-fields.js'
import { keys, partitionOf, partitionOfPayment, paymentKeyOf } from '../keys.js'
import type { PaymentStore } from '../payments/payments.js'
import { defineNamedScript } from '../scripts.js'
import { readable } from '../stored-fields.js'
import { entryTimeMs } from '../streams.js'
import { decodeLineMember, encodeLineMember, type LineMember } from './delivery-entry.js'
import {
  byTime,
  decodeConcluded,
  decodeQueued,
  encodeWaiting,
  type LoggedEvent,
  loggedEvent,
  timeOfEvent
} from './webhook-event.js'

const replayWebhook = defineNamedScript<{
  keys: 'events' | 'deliveries' | 'undeliverable'
  given: ReturnType<typeof encodeWaiting> & { nowMs: number; listed: string | undefined }
}>('replay_webhook')

/** Events that one command asks for or removes. */
const PAGE = 500
const ALL = Number.POSITIVE_INFINITY
/** Waiting payments that `newest` reads besides as many as are asked for. */
const SPARE = 50

/**
 * What became of events that were to be sent again: `left` are as they were: too many events of their payment wait
 * already, the payment is gone, or they are not listed any more.
 */
export interface Replayed {
  readonly sent: number
  readonly left: number
}

/** What is put behind the events of a payment; of an undeliverable one also as what it is listed. */
type Appended = Pick<LoggedEvent, 'change'> & Partial<Pick<LoggedEvent, 'listed'>>

export class WebhookLog {
  readonly #redis: Redis
  readonly #partitions: number
  readonly #payments: Pick<PaymentStore, 'load'>

  /** `payments` has those that left Redis, too. */
  constructor(redis: Redis, partitions: number, payments: Pick<PaymentStore, 'load'>) {
    this.#redis = redis
    this.#partitions = partitions
    this.#payments = payments
  }

  /**
   * What waits for a retry or for its endpoint, and what stands behind it: payment by payment, those that are due last first, of equal
   * ones the newest. While the line changes, some may be missing, or come twice. Of a long line `max` payments are read.
   */
  async *waiting(merchantId: string, max = ALL): AsyncGenerator<LoggedEvent> {
    const line = keys.webhookLine(this.#partitionOf(merchantId), merchantId)
    const read = async (skip: number): Promise<[string, string][]> => {
      const page = await this.#redis.zrevrange(line, skip, Math.min(skip + PAGE, max) - 1, 'WITHSCORES')
      return [...fieldsOf(page)]
    }
    for await (const [member, dueMs] of inPages(read)) {
      for (const found of readable(member, decodeLineMember)) yield* this.#waitingOf(found, Number(dueMs))
    }
  }

  /** What is being sent, or waits for a `webhooks` process, and what stands behind it. To send it again now does nothing. */
  async *beingSent(merchantId: string): AsyncGenerator<LoggedEvent> {
    const stream = keys.deliveries(this.#partitionOf(merchantId))
    const read = (_: number, last?: StoredEntry) => this.#redis.xrange(stream, after(last, '-'), '+', 'COUNT', PAGE)
    for await (const [, fields] of inPages(read)) {
      for (const found of readable(fieldsOf(fields).get('e') ?? '', decodeLineMember))
        if (found.merchantId === merchantId) yield* this.#waitingOf(found, null)
    }
  }

  /** What was given up of what occurred since a time, and until another one, oldest first. */
  async *undeliverable(merchantId: string, sinceMs: number, untilMs = ALL): AsyncGenerator<LoggedEvent> {
    const list = keys.webhookUndeliverable(this.#partitionOf(merchantId), merchantId)
    const until = untilMs === ALL ? '+inf' : untilMs
    const read = (skip: number) => this.#redis.zrangebyscore(list, sinceMs, until, 'LIMIT', skip, PAGE)
    for await (const text of inPages(read)) yield* undeliverableIn(merchantId, text)
  }

  /** What was delivered since a time, in the order of delivery, or the last first. */
  async *delivered(merchantId: string, sinceMs: number, isReversed = false): AsyncGenerator<LoggedEvent> {
    const journal = keys.webhookJournal(this.#partitionOf(merchantId), merchantId)
    const read = (_: number, last?: StoredEntry) =>
      isReversed
        ? this.#redis.xrevrange(journal, after(last, '+'), sinceMs, 'COUNT', PAGE)
        : this.#redis.xrange(journal, after(last, sinceMs), '+', 'COUNT', PAGE)
    for await (const entry of inPages(read)) yield* deliveredIn(merchantId, entry)
  }

  /**
   * The last events in any state, the ones that were sent last first. One that is being sent at this moment is in no list.
   * Of many that wait, only those that are due last are considered.
   */
  async newest(merchantId: string, count: number): Promise<LoggedEvent[]> {
    const partition = this.#partitionOf(merchantId)
    const [sent, given] = await Promise.all([
      this.#redis.xrevrange(keys.webhookJournal(partition, merchantId), '+', '-', 'COUNT', count),
      this.#redis.zrevrange(keys.webhookUndeliverable(partition, merchantId), 0, count - 1)
    ])
    const found = given.flatMap(text => undeliverableIn(merchantId, text))
    found.push(...sent.flatMap(entry => deliveredIn(merchantId, entry)))
    for await (const event of this.waiting(merchantId, count + SPARE)) found.push(event)
    // Not by the time of the change: an expiry ahead of its time bears the time of its window's end.
    return once(found.sort((one, other) => other.atMs - one.atMs)).slice(0, count)
  }

  /**
   * Searches the partition that the id names; null when the event is unknown or forgotten; rejects once `signal` aborts. `max`
   * bounds what is read of each list, for callers that a merchant can make search: an event that `max` others follow is not
   * found then, and none that is being sent.
   */
  async find(
    eventId: string,
    merchantIds: readonly string[],
    { max = ALL, signal }: { readonly max?: number; readonly signal?: AbortSignal } = {}
  ): Promise<LoggedEvent | null> {
    const atMs = timeOfEvent(eventId)
    const merchants = merchantIds.filter(id => this.#partitionOf(id) === partitionOfPayment(eventId))
    const lists = merchants.flatMap(merchantId => [
      this.undeliverable(merchantId, atMs, atMs),
      this.waiting(merchantId, max),
      this.delivered(merchantId, atMs),
      // The test environment's time can be ahead of the journal's: then the event is among the last ones.
      this.delivered(merchantId, 0, true),
      ...(max === ALL ? [this.beingSent(merchantId)] : [])
    ])
    for (const list of lists) {
      let count = 0
      for await (const event of list) {
        signal?.throwIfAborted()
        if (event.eventId === eventId) return event
        if (++count >= max) break
      }
    }
    return null
  }

  /** Sends an event again; one that waits is due at once. */
  async replay(event: LoggedEvent): Promise<Replayed> {
    return await this.#sendAgain(event.merchantId, [event])
  }

  /** Sends again all that occurred since a time, in its order. */
  async replaySince(merchantId: string, sinceMs: number, states: readonly LoggedState[]): Promise<Replayed> {
    const lists = {
      waiting: this.waiting(merchantId),
      undeliverable: this.undeliverable(merchantId, sinceMs),
      delivered: this.delivered(merchantId, sinceMs)
    }
    const events: LoggedEvent[] = []
    // In this order: one that was replayed before is in the journal as well, and counts as what it is now.
    for (const state of loggedStates.filter(one => states.includes(one))) {
      for await (const event of lists[state]) if (event.change.occurredAtMs >= sinceMs) events.push(event)
    }
    return await this.#sendAgain(merchantId, once(events.sort(byTime)))
  }

  /** Forgets what was given up of what occurred before a time, or all of it. Answers how many events. */
  async discard(merchantId: string, beforeMs?: number): Promise<number> {
    const list = keys.webhookUndeliverable(this.#partitionOf(merchantId), merchantId)
    const until = beforeMs === undefined ? '+inf' : `(${beforeMs}`
    let count = 0
    for (let page = ['']; page.length > 0; ) {
      page = await this.#redis.zrangebyscore(list, '-inf', until, 'LIMIT', 0, PAGE)
      if (page.length > 0) count += await this.#redis.zrem(list, ...page)
    }
    return count
  }

  /**
   * Puts events behind those of their payments that wait. Left are those of payments for which there is no room
   * (append_event.lua), and undeliverable ones that are not listed any more.
   */
  async append(merchantId: string, events: readonly Appended[], nowMs: number): Promise<Replayed> {
    const partition = this.#partitionOf(merchantId)
    const common = {
      deliveries: keys.deliveries(partition),
      undeliverable: keys.webhookUndeliverable(partition, merchantId)
    }
    let sent = 0
    for (let start = 0; start < events.length; start += PAGE) {
      const page = events.slice(start, start + PAGE)
      const loading = page.map(async ({ change }) =>
        isTestChange(change) ? testTerms : (await this.#payments.load(partition, paymentKeyOf(change.paymentId)))?.terms
      )
      // All are loaded first: the events of a payment keep their order.
      const loaded = await Promise.all(loading)
      const answers = page.map(({ change, listed }, index) => {
        const terms = loaded[index]
        if (terms === undefined) return 0
        const paymentKey = paymentKeyOf(change.paymentId)
        const event = encodeWaiting(change, terms, { paymentKey, merchantId })
        const scriptKeys = { ...common, events: keys.webhookEvents(partition, paymentKey) }
        return replayWebhook(this.#redis, scriptKeys, { ...event, nowMs, listed: listed ?? undefined })
      })
      for (const answer of await Promise.all(answers)) sent += Number(answer)
    }
    return { sent, left: events.length - sent }
  }

  /** Delivered and undeliverable events go in one list, so that the events of a payment keep their order. */
  async #sendAgain(merchantId: string, events: readonly LoggedEvent[]): Promise<Replayed> {
    const partition = this.#partitionOf(merchantId)
    const nowMs = await serverTimeMs(this.#redis)
    const waiting = events.filter(({ state }) => state === 'waiting')
    // An endpoint that is paused is not asked more often for it.
    for (const { change } of waiting) {
      const member = encodeLineMember({ paymentKey: paymentKeyOf(change.paymentId), merchantId })
      await this.#redis.zadd(keys.webhookLine(partition, merchantId), 'XX', 'LT', nowMs, member)
      await this.#redis.zadd(keys.webhookLines(partition), 'XX', 'LT', nowMs, merchantId)
    }
    const others = events.filter(({ state }) => state !== 'waiting')
    const { sent, left } = await this.append(merchantId, others, nowMs)
    return { sent: waiting.length + sent, left }
  }

  /** The events of a payment that waits. `dueMs` null: they are being sent. */
  async *#waitingOf({ paymentKey, merchantId }: LineMember, dueMs: number | null): AsyncGenerator<LoggedEvent> {
    const list = keys.webhookEvents(this.#partitionOf(merchantId), paymentKey)
    for (const stored of await this.#redis.lrange(list, 0, -1)) {
      for (const { change, attempts, sinceMs } of readable(stored, decodeQueued))
        yield loggedEvent(merchantId, 'waiting', change, { sinceMs, attempts, nextAttemptAtMs: dueMs })
    }
  }

  #partitionOf(merchantId: string): number {
    return partitionOf(merchantId, this.#partitions)
  }
}

/** An entry of a stream. */
type StoredEntry = [id: string, fields: string[]]

/** Where the page behind an entry begins; the first one begins at `start`. */
function after(entry: StoredEntry | undefined, start: string | number): string | number {
  return entry === undefined ? start : `(${entry[0]}`
}

/** All that a list has, page by page. `read` gets the number of items before the page, and the last of them. */
async function* inPages<Item>(read: (skip: number, last?: Item) => Promise<Item[]>): AsyncGenerator<Item> {
  let page: Item[] = []
  for (let skip = 0; skip === 0 || page.length === PAGE; skip += PAGE) {
    page = await read(skip, page.at(-1))
    yield* page
  }
}

/** None when this version can't read it. */
function undeliverableIn(merchantId: string, listed: string): LoggedEvent[] {
  return readable(listed, decodeConcluded).map(({ change, attempts }) =>
    loggedEvent(merchantId, 'undeliverable', change, { attempts, listed })
  )
}

/** None when this version can't read it. */
function deliveredIn(merchantId: string, [id, [, text = '']]: StoredEntry): LoggedEvent[] {
  return readable(text, decodeConcluded).map(({ change, attempts }) =>
    loggedEvent(merchantId, 'delivered', change, { attempts, sinceMs: entryTimeMs(id) })
  )
}

/** Each event once, as it comes first: one that was replayed may be in several lists, and in the journal twice. */
function once(events: readonly LoggedEvent[]): LoggedEvent[] {
  const seen = new Set<string>()
  return events.filter(({ eventId }) => !seen.has(eventId) && seen.add(eventId))
}
