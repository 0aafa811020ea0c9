/**
 * Webhook events on their way. Those of a payment stand in a list, in their order; commit.lua appends them.
 *
 * A payment with events has one command in the stream of its partition, or stands in the line of its merchant's endpoint: until its
 * next attempt is due, or until the endpoint takes more. Scripts move it atomically, so it is always in exactly one of them.
 */
import { DAY_MS } from '../../machines/durations.js'
import { type Attempt, type Conclusion, type Failing, RETENTION_DAYS, spanMs } from '../../machines/webhook-delivery.js'
import { requeueCommand, requeueEntry } from '../commands/command-queue.js'
import { encodeLetter } from '../commands/stored-dead-letter.js'
import type { WorkKind } from '../commands/work-kind.js'
import type { Redis } from '../connection/connections.js'
import { keys, WEBHOOKS_GROUP } from '../keys.js'
import { defineNamedScript } from '../scripts.js'
import { DamagedValue } from '../stored-fields.js'
import { type DeliveryEntry, decodeDelivery, encodeDelivery, encodeLineMember } from './delivery-entry.js'
import { decodeEndpoint, type WebhookEndpoint } from './webhook-endpoints.js'
import { decodeQueued, encodeConcluded, encodeFailed, type QueuedEvent } from './webhook-event.js'
import { decodeFailing, encodeFailing } from './webhook-lines.js'

const concludeWebhook = defineNamedScript<{
  keys: keyof ReturnType<typeof keysOf>
  given: ReturnType<typeof givenOf>
}>('conclude_webhook')

const RETENTION_MS = RETENTION_DAYS * DAY_MS

/** What `webhooks` does. A delivery may always be repeated, so a redelivered one is like any other. */
export const deliveryWork: WorkKind<DeliveryEntry> = {
  group: WEBHOOKS_GROUP,
  heartbeats: keys.webhookHeartbeats(),
  stream: keys.deliveries,
  decode: decodeDelivery,
  encodeRedelivered: encodeDelivery,
  isBegun: async () => true,
  release: async (redis, entry) => void (await requeueEntry(redis, deliveryWork, entry))
}

/** The first event of a payment, and where it goes. */
export type FirstEvent = ReadableFirst | DamagedFirst

export interface ReadableFirst extends StoredFirst {
  readonly kind: 'readable'
  readonly event: QueuedEvent
}

interface DamagedFirst extends StoredFirst {
  readonly kind: 'damaged'
  /** What is wrong with it. */
  readonly reason: string
}

interface StoredFirst {
  /** As it is stored. */
  readonly stored: string
  /** Null when the merchant has none. */
  readonly endpoint: WebhookEndpoint | null
  readonly failing: Failing | null
  /** As it is stored; null: the endpoint works. */
  readonly failingStored: string | null
}

/** Methods reject while the durable Redis is unavailable; each may be repeated. */
export interface WebhookQueue {
  /** Null when nothing waits any more. Rejects for an event of another version. */
  first(entry: DeliveryEntry): Promise<FirstEvent | null>
  /**
   * Ends the command and writes what `decide` concludes about the endpoint as it is at that moment. Null when another worker has
   * the command by now, and nothing was written. At most `room` others of the line go on.
   */
  conclude(entry: DeliveryEntry, first: FirstEvent, result: Result): Promise<Conclusion | null>
  /** Ends a command of a payment without events. */
  end(entry: DeliveryEntry): Promise<void>
  /** Puts the command back into the stream. */
  requeue(entry: DeliveryEntry): Promise<void>
}

export interface Result {
  readonly decide: (failing: Failing | null) => Conclusion
  /** Null when nothing was sent. */
  readonly attempt: Attempt | null
  readonly room: number
}

export interface QueueOptions {
  /** Gaps between attempts. */
  readonly delaysMs: readonly number[]
  /** Undeliverable events that are kept per merchant; the oldest go first. */
  readonly undeliverableMax: number
  /** Undeliverable events were dropped because they are too many or too old. */
  readonly onDropped: (merchantId: string, count: number) => void
  readonly now: () => number
}

export function createWebhookQueue(redis: Redis, options: QueueOptions): WebhookQueue {
  return {
    first: entry => firstOf(redis, entry),
    // In this order: `lostCommands` acknowledges an entry that was deleted and not acknowledged.
    end: async ({ partition, entryId }) => {
      await redis.xdel(keys.deliveries(partition), entryId)
      await redis.xack(keys.deliveries(partition), WEBHOOKS_GROUP, entryId)
    },
    requeue: async entry => void (await requeueCommand(redis, deliveryWork, entry)),
    async conclude(entry, read, result) {
      for (let first = read; ; ) {
        const conclusion = result.decide(first.failing)
        const given = givenOf(entry, first, conclusion, result, options)
        const answer = await concludeWebhook(redis, keysOf(entry), given)
        if (answer === -1) return null
        if (typeof answer === 'number') {
          if (answer > 0) options.onDropped(entry.merchantId, answer)
          return conclusion
        }
        // Another worker has had an outcome with this endpoint meanwhile.
        const failingStored = String(answer) || null
        first = { ...first, failingStored, failing: decodeFailing(failingStored) }
      }
    }
  }
}

/** Not in one step: what is concluded is compared with all that it was concluded from, but the endpoint. */
async function firstOf(redis: Redis, { partition, paymentKey, merchantId }: DeliveryEntry): Promise<FirstEvent | null> {
  const [stored, endpoint, failingStored] = await Promise.all([
    redis.lindex(keys.webhookEvents(partition, paymentKey), 0),
    redis.get(keys.webhookEndpoint(partition, merchantId)),
    redis.get(keys.webhookFailing(partition, merchantId))
  ])
  if (stored === null) return null
  const failing = decodeFailing(failingStored)
  const first = { stored, endpoint: decodeEndpoint(endpoint), failing, failingStored }
  try {
    return { ...first, kind: 'readable', event: decodeQueued(stored) }
  } catch (error) {
    if (!(error instanceof DamagedValue)) throw error
    return { ...first, kind: 'damaged', reason: error.message }
  }
}

function keysOf({ partition, paymentKey, merchantId }: DeliveryEntry) {
  return {
    deliveries: keys.deliveries(partition),
    events: keys.webhookEvents(partition, paymentKey),
    line: keys.webhookLine(partition, merchantId),
    lines: keys.webhookLines(partition),
    failing: keys.webhookFailing(partition, merchantId),
    journal: keys.webhookJournal(partition, merchantId),
    undeliverable: keys.webhookUndeliverable(partition, merchantId),
    letters: keys.deadLetters(partition)
  }
}

/** All attempts tell how an event was delivered; of one that was given up the last one, because there may be many. */
function recordOf({ change, attempts }: QueuedEvent, last: Attempt | null, isDelivered: boolean): string {
  const all = last === null ? attempts : [...attempts, last]
  return encodeConcluded({ change, attempts: isDelivered ? all : all.slice(-1) })
}

function givenOf(
  entry: DeliveryEntry,
  first: FirstEvent,
  { event: result, dueMs, failing, lineDueMs, follow }: Conclusion,
  { attempt, room }: Result,
  { delaysMs, undeliverableMax, now }: QueueOptions
) {
  const nowMs = now()
  // Counted from the last attempt that an event may get: a short retention must not drop it at once.
  const undeliverableMs = RETENTION_MS + spanMs(delaysMs)
  return {
    group: WEBHOOKS_GROUP,
    entry: entry.entryId,
    lineMember: encodeLineMember(entry),
    merchant: entry.merchantId,
    event: first.stored,
    before: first.failingStored ?? undefined,
    failing: encodeFailing(failing),
    result,
    dueMs,
    journalFromMs: Math.max(0, nowMs - RETENTION_MS),
    undeliverableMax,
    undeliverableFromMs: Math.max(0, nowMs - undeliverableMs),
    undeliverableMs,
    lineDueMs,
    follow: follow && Math.min(follow.max, room),
    followDueByMs: follow?.dueByMs,
    ...(first.kind === 'damaged'
      ? { letter: encodeLetter({ reason: first.reason, deadLetteredAtMs: nowMs }) }
      : {
          retry: attempt === null ? undefined : encodeFailed(first.event, attempt),
          record: recordOf(first.event, attempt, result === 'delivered'),
          occurredMs: first.event.change.occurredAtMs
        })
  }
}
