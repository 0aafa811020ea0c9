/**
 * The log of webhook events, for operators: where an event is, what was tried, and how it is sent again.
 *
 * Delivered and undeliverable events are kept for `RETENTION_DAYS`. An event that is sent again has the same bytes and
 * stands behind the others of its payment. It is due by the clock of Redis: that of an operator's machine may be wrong.
 *
 * An endpoint that was down for days may have left millions of events: nothing here asks Redis for all at once.
 */
import { isTestChange, type LoggedState, type StatusChange, testTerms } from '../../machines/status-change.js'
import type { Redis } from '../connection/connections.js'
import { serverTimeMs } from '../connection/redis-clock.js'
import { fieldsOf } from '../connection/reply-fields.js'
import { unreplicated } from '../connection/writes.js'
import { keys, partitionOf, partitionOfPayment, paymentKeyOf } from '../keys.js'
import { createPaymentStore, type PaymentStore } from '../payments/payments.js'
import { defineNamedScript } from '../scripts.js'
import { readable } from '../stored-fields.js'
import { decodePlace, encodePlace } from './delivery-entry.js'
import { byTime, type LoggedEvent, loggedEvent } from './logged-event.js'
import { decodeConcluded, decodeQueued, encodeWaiting, timeOfEvent } from './webhook-event.js'

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
type Appended = Pick<LoggedEvent, 'change'> & Partial<Pick<LoggedEvent, 'state' | 'listed'>>

export class WebhookLog {
  readonly #redis: Redis
  readonly #partitions: number
  readonly #payments: Pick<PaymentStore, 'load'>

  /** `payments` has those that left Redis, too. */
  constructor(
    redis: Redis,
    partitions: number,
    payments: Pick<PaymentStore, 'load'> = createPaymentStore(unreplicated(redis))
  ) {
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
    for (let skip = 0; skip < max; skip += PAGE) {
      const page = await this.#redis.zrevrange(line, skip, Math.min(skip + PAGE, max) - 1, 'WITHSCORES')
      const places = [...fieldsOf(page)]
      for (const [place, dueMs] of places) yield* this.#waitingOf(place, Number(dueMs))
      if (places.length < PAGE) return
    }
  }

  /** What is being sent, or waits for a `webhooks` process, and what stands behind it. To send it again now does nothing. */
  async *beingSent(merchantId: string): AsyncGenerator<LoggedEvent> {
    const stream = keys.deliveries(this.#partitionOf(merchantId))
    for (let from = '-'; ; ) {
      const page = await this.#redis.xrange(stream, from, '+', 'COUNT', PAGE)
      for (const [, fields] of page) {
        const place = fieldsOf(fields).get('e') ?? ''
        if (readable(place, decodePlace)[0]?.merchantId === merchantId) yield* this.#waitingOf(place, null)
      }
      const last = page.at(-1)
      if (last === undefined || page.length < PAGE) return
      from = `(${last[0]}`
    }
  }

  /** What was given up of what occurred since a time, oldest first. */
  async *undeliverable(merchantId: string, sinceMs: number): AsyncGenerator<LoggedEvent> {
    const list = keys.webhookUndeliverable(this.#partitionOf(merchantId), merchantId)
    for (let skip = 0; ; skip += PAGE) {
      const page = await this.#redis.zrangebyscore(list, sinceMs, '+inf', 'LIMIT', skip, PAGE)
      for (const text of page) yield* this.#readable(text, merchantId, 'undeliverable')
      if (page.length < PAGE) return
    }
  }

  /** What was delivered since a time, in the order of delivery, or the last first. */
  async *delivered(merchantId: string, sinceMs: number, isReversed = false): AsyncGenerator<LoggedEvent> {
    const journal = keys.webhookJournal(this.#partitionOf(merchantId), merchantId)
    for (let from = isReversed ? '+' : String(sinceMs); ; ) {
      const page = isReversed
        ? await this.#redis.xrevrange(journal, from, sinceMs, 'COUNT', PAGE)
        : await this.#redis.xrange(journal, from, '+', 'COUNT', PAGE)
      for (const [id, [, text = '']] of page)
        yield* this.#readable(text, merchantId, 'delivered', Number.parseInt(id, 10))
      const last = page[page.length - 1]
      if (last === undefined || page.length < PAGE) return
      from = `(${last[0]}`
    }
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
    const found = given.flatMap(text => this.#readable(text, merchantId, 'undeliverable'))
    for (const [id, [, text = '']] of sent)
      found.push(...this.#readable(text, merchantId, 'delivered', Number.parseInt(id, 10)))
    for await (const event of this.waiting(merchantId, count + SPARE)) found.push(event)
    // Not by the time of the change: an expiry ahead of its time bears the time of its window's end.
    found.sort((one, other) => other.atMs - one.atMs)
    // An event that was replayed is in the journal twice, or waits again.
    const once = new Map<string, LoggedEvent>()
    for (const event of found) if (!once.has(event.eventId)) once.set(event.eventId, event)
    return [...once.values()].slice(0, count)
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
    const partition = partitionOfPayment(eventId)
    const atMs = timeOfEvent(eventId)
    for (const merchantId of merchantIds.filter(id => this.#partitionOf(id) === partition)) {
      const list = keys.webhookUndeliverable(partition, merchantId)
      const given = await this.#redis.zrangebyscore(list, atMs, atMs)
      const listed = given.flatMap(text => this.#readable(text, merchantId, 'undeliverable'))
      for (const event of listed) if (event.eventId === eventId) return event
      // The test environment's time can be ahead of the journal's: then the event is among the last ones.
      const [since, last] = [this.delivered(merchantId, atMs), this.delivered(merchantId, 0, true)]
      const sent = max === ALL ? [this.beingSent(merchantId)] : []
      for (const list of [this.waiting(merchantId, max), since, last, ...sent]) {
        const found = await findIn(list, eventId, max, signal)
        if (found !== null) return found
      }
    }
    return null
  }

  /** Sends an event again; one that waits is due at once. */
  async replay(event: LoggedEvent): Promise<Replayed> {
    const { merchantId, state, change } = event
    if (state === 'waiting') {
      await this.#hurry(merchantId, change)
      return { sent: 1, left: 0 }
    }
    return await this.append(merchantId, [event], await serverTimeMs(this.#redis))
  }

  /** Sends again all that occurred since a time, in its order. */
  async replaySince(merchantId: string, sinceMs: number, states: readonly LoggedState[]): Promise<Replayed> {
    const events: LoggedEvent[] = []
    const note = (event: LoggedEvent): void => {
      if (event.change.occurredAtMs >= sinceMs) events.push(event)
    }
    if (states.includes('waiting')) for await (const event of this.waiting(merchantId)) note(event)
    if (states.includes('undeliverable')) for await (const event of this.undeliverable(merchantId, sinceMs)) note(event)
    if (states.includes('delivered')) for await (const event of this.delivered(merchantId, sinceMs)) note(event)
    // An event that was replayed before is in the journal twice, or in the journal and waiting: then it only waits.
    const wanted = new Map<string, LoggedEvent>()
    for (const event of events.sort(byTime)) if (!wanted.has(event.eventId)) wanted.set(event.eventId, event)
    const waiting = [...wanted.values()].filter(event => event.state === 'waiting')
    for (const event of waiting) await this.#hurry(merchantId, event.change)
    // One list of all others, so that the events of a payment keep their order, the delivered and the undeliverable ones.
    const others = [...wanted.values()].filter(event => event.state !== 'waiting')
    const { sent, left } = await this.append(merchantId, others, await serverTimeMs(this.#redis))
    return { sent: waiting.length + sent, left }
  }

  /** Forgets what was given up of what occurred before a time, or all of it. Answers how many events. */
  async discard(merchantId: string, beforeMs = Number.POSITIVE_INFINITY): Promise<number> {
    const list = keys.webhookUndeliverable(this.#partitionOf(merchantId), merchantId)
    const until = Number.isFinite(beforeMs) ? `(${beforeMs}` : '+inf'
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
    const undeliverable = keys.webhookUndeliverable(partition, merchantId)
    let sent = 0
    for (let start = 0; start < events.length; start += PAGE) {
      const page = events.slice(start, start + PAGE)
      const loading = page.map(async ({ change }) => {
        if (isTestChange(change)) return testTerms
        const payment = await this.#payments.load(partition, paymentKeyOf(change.paymentId))
        return payment?.terms
      })
      // All are loaded first: the events of a payment keep their order.
      const loaded = await Promise.all(loading)
      const answers = page.map(({ change, state, listed }, index) => {
        const paymentKey = paymentKeyOf(change.paymentId)
        const terms = loaded[index]
        if (terms === undefined) return 0
        const event = encodeWaiting(change, terms, { paymentKey, merchantId })
        return replayWebhook(
          this.#redis,
          { events: keys.webhookEvents(partition, paymentKey), deliveries: keys.deliveries(partition), undeliverable },
          { ...event, nowMs, listed: (state === 'undeliverable' && listed) || undefined }
        )
      })
      for (const answer of await Promise.all(answers)) sent += Number(answer)
    }
    return { sent, left: events.length - sent }
  }

  #partitionOf(merchantId: string): number {
    return partitionOf(merchantId, this.#partitions)
  }

  /** None when this version can't read it. `concludedMs`: when it was, if that is known. */
  #readable(text: string, merchantId: string, state: LoggedState, concludedMs?: number): LoggedEvent[] {
    return readable(text, decodeConcluded).map(({ change, attempts }) => {
      const event = loggedEvent(merchantId, state, change)
      return { ...event, attempts, atMs: attempts.at(-1)?.atMs ?? concludedMs ?? event.atMs, listed: text }
    })
  }

  /** An endpoint that rests is not asked more often for it. */
  async #hurry(merchantId: string, { paymentId }: StatusChange): Promise<void> {
    const partition = this.#partitionOf(merchantId)
    const nowMs = await serverTimeMs(this.#redis)
    const place = encodePlace({ paymentKey: paymentKeyOf(paymentId), merchantId })
    await this.#redis.zadd(keys.webhookLine(partition, merchantId), 'XX', 'LT', nowMs, place)
    await this.#redis.zadd(keys.webhookLines(partition), 'XX', 'LT', nowMs, merchantId)
  }

  /** The events of a payment that stands in the line as `place`, or whose command has it. `dueMs` null: they are being sent. */
  async *#waitingOf(place: string, dueMs: number | null): AsyncGenerator<LoggedEvent> {
    const [found] = readable(place, decodePlace)
    if (found === undefined) return
    const { paymentKey, merchantId } = found
    const partition = this.#partitionOf(merchantId)
    for (const stored of await this.#redis.lrange(keys.webhookEvents(partition, paymentKey), 0, -1)) {
      for (const { change, attempts, sinceMs } of readable(stored, decodeQueued)) {
        const atMs = attempts.at(-1)?.atMs ?? sinceMs
        yield { ...loggedEvent(merchantId, 'waiting', change), attempts, atMs, nextAttemptAtMs: dueMs }
      }
    }
  }
}

async function findIn(
  list: AsyncIterable<LoggedEvent>,
  eventId: string,
  max: number,
  signal?: AbortSignal
): Promise<LoggedEvent | null> {
  let count = 0
  for await (const event of list) {
    signal?.throwIfAborted()
    if (event.eventId === eventId) return event
    if (++count >= max) break
  }
  return null
}
