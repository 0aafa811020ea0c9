/**
 * Webhook events on their way. Those of a payment stand in a list, in their order; commit.lua appends them.
 *
 * A payment with events has one command in the stream of its partition, or stands in the list of retries, or is parked
 * because the circuit of its merchant's endpoint is open or its share of workers is used. Scripts move it atomically, so it is always
 * in exactly one of them.
 */
import type { DeliveryState } from '../../machines/webhook-delivery.js'
import { requeueCommand, requeueEntry, type WorkKind } from '../commands/command-stream.js'
import { encodeLetter } from '../commands/stored-letter.js'
import type { Redis } from '../connection/connections.js'
import { serverTimeMs } from '../connection/redis-clock.js'
import { keys, partitionNumbers, WEBHOOKS_GROUP } from '../keys.js'
import { defineScript } from '../scripts.js'
import { DamagedValue, readable } from '../stored-fields.js'
import { type DeliveryEntry, decodeDelivery, decodePlace, encodeDelivery, encodePlace } from './delivery-entry.js'
import { decodeEndpoint, type WebhookEndpoint } from './webhook-endpoints.js'
import { type Attempt, decodeQueued, encodeAttempt, type QueuedEvent } from './webhook-event.js'

const firstWebhook = defineScript('first_webhook')
const settleWebhook = defineScript('settle_webhook')
const releaseWebhooks = defineScript('release_webhooks')
const setAsideWebhook = defineScript('set_aside_webhook')

/** Attempts that are kept per merchant, about. */
const ATTEMPTS_KEPT = 1_000
/** Payments of one merchant that one round releases. */
const RELEASE_MAX = 100
/** Retries of a partition whose endpoints are looked at in one reading: what waits longest for a dead one is parked. */
const RETRIES_READ = 200
/** A probe without a result for this long (its worker died, or the event had been settled) is followed by another one (ms). */
const PROBE_PATIENCE_MS = 30_000

/** What `webhooks` does. A delivery may always be repeated, so a redelivered one is like any other. */
export const deliveryWork: WorkKind<DeliveryEntry> = {
  group: WEBHOOKS_GROUP,
  heartbeats: keys.webhookHeartbeats(),
  stream: keys.deliveries,
  decode: decodeDelivery,
  encodeRedelivered: encodeDelivery,
  isBegun: async () => true,
  release: (redis, entry) => requeueEntry(redis, deliveryWork, entry)
}

/** The first event of a payment, and where it goes. */
export interface FirstEvent {
  readonly event: QueuedEvent
  /** Null when the merchant has none. */
  readonly endpoint: WebhookEndpoint | null
  /** An operator has switched the webhooks of the merchant off. */
  readonly isOff: boolean
  /** The circuit of the endpoint is open: only probes are sent. */
  readonly isOpen: boolean
  /** Since when all attempts at the endpoint have failed (ms); null: the last one succeeded. */
  readonly failingSinceMs: number | null
}

/** The first event of a payment is damaged. */
export class DamagedEvent extends DamagedValue {
  readonly stored: string

  constructor(stored: string, reason: string) {
    super(reason)
    this.stored = stored
  }
}

/** What became of the first event of a payment. */
export interface Settlement {
  /** `parked`: not sent, until the endpoint takes more. `forgotten`: kept nowhere. */
  readonly state: DeliveryState | 'parked' | 'forgotten'
  /** Of `waiting`: when it is sent again; of `parked`: when it is given up, if the endpoint fails until then (ms). */
  readonly nextAtMs?: number
  /** Absent when it was not sent. */
  readonly attempt?: Attempt
  /** What it says about the endpoint: `well` closes the circuit. */
  readonly health?: 'well' | 'failed'
  /** How long the receiver asked to be left alone (ms). */
  readonly waitMs?: number
  /** Parked payments of the merchant to release now. */
  readonly releases?: number
}

/** Methods reject while the durable Redis is unavailable; each may be repeated. */
export interface WebhookQueue {
  /** Null when nothing waits any more. Rejects with `DamagedEvent`, and for an event of another version. */
  first(entry: DeliveryEntry): Promise<FirstEvent | null>
  /** Ends the command. False when another worker has it by now, and nothing was written. */
  settle(entry: DeliveryEntry, event: QueuedEvent, settlement: Settlement): Promise<boolean>
  /** Makes a damaged event a dead letter, and ends the command. False when another worker has it by now. */
  setAside(entry: DeliveryEntry, event: DamagedEvent): Promise<boolean>
  /** Ends a command of a payment without events. */
  end(entry: DeliveryEntry): Promise<void>
  /** Puts the command back into the stream. */
  requeue(entry: DeliveryEntry): Promise<void>
}

export interface QueueOptions {
  /** The longest that all attempts of an event take. */
  readonly spanMs: number
  /** How long what was delivered is remembered. */
  readonly retentionMs: number
  /** Undeliverable events that are kept per merchant; the oldest go first. */
  readonly undeliverableMax: number
  /** Undeliverable events were dropped because they are too many or too old. */
  readonly onDropped: (merchantId: string, count: number) => void
  readonly now: () => number
}

export function createWebhookQueue(redis: Redis, options: QueueOptions): WebhookQueue {
  const { retentionMs, undeliverableMax, onDropped, now } = options
  const spanMs = Math.ceil(options.spanMs)
  // Counted from the last attempt that an event may get: a short retention must not drop it at once.
  const undeliverableMs = retentionMs + spanMs
  return {
    first: entry => firstOf(redis, entry),
    // In this order: `lostCommands` acknowledges an entry that was deleted and not acknowledged.
    end: async ({ partition, entryId }) => {
      await redis.xdel(keys.deliveries(partition), entryId)
      await redis.xack(keys.deliveries(partition), WEBHOOKS_GROUP, entryId)
    },
    requeue: async entry => void (await requeueCommand(redis, deliveryWork, entry)),
    setAside: async (entry, { stored, message }) => {
      const { partition, paymentKey } = entry
      const places = [
        keys.deliveries(partition),
        keys.webhookEvents(partition, paymentKey),
        keys.webhookTries(partition, paymentKey),
        keys.deadLetters(partition)
      ]
      const letter = encodeLetter({ reason: message, deadLetteredAtMs: now() })
      const values = [WEBHOOKS_GROUP, entry.entryId, stored, encodePlace(entry), ...letter]
      return (await setAsideWebhook(redis, places, values)) === 1
    },
    settle: async (entry, { stored, short, delivery: { attempts }, change }, settlement) => {
      const { state, nextAtMs = 0, attempt, health = '', waitMs = 0, releases = 0 } = settlement
      const nowMs = now()
      const dropped = await settleWebhook(redis, placesOf(entry), [
        WEBHOOKS_GROUP,
        entry.entryId,
        encodePlace(entry),
        entry.merchantId,
        stored,
        attempts,
        state,
        attempt === undefined ? '' : encodeAttempt(attempt),
        state === 'waiting' || state === 'parked' ? nextAtMs : change.occurredAtMs,
        nowMs,
        health,
        entry.kind === 'probe' ? 1 : 0,
        waitMs,
        releases,
        Math.max(0, nowMs - retentionMs),
        ATTEMPTS_KEPT,
        undeliverableMax,
        Math.max(0, nowMs - undeliverableMs),
        undeliverableMs,
        short
      ])
      if (Number(dropped) > 0) onDropped(entry.merchantId, Number(dropped))
      return dropped !== -1
    }
  }
}

/** Releases parked payments of a partition for whose merchants it is time. Returns how many commands were written. */
export async function releaseParked(redis: Redis, partition: number, nowMs: number): Promise<number> {
  const merchants = await redis.zrangebyscore(keys.webhookReleases(partition), '-inf', nowMs)
  const counts = await Promise.all(
    merchants.map(merchantId => {
      const places = [
        keys.webhookReleases(partition),
        keys.webhookParked(partition, merchantId),
        keys.webhookCircuit(partition, merchantId),
        keys.deliveries(partition)
      ]
      return releaseWebhooks(redis, places, [merchantId, nowMs, RELEASE_MAX, PROBE_PATIENCE_MS])
    })
  )
  return sum(counts.map(Number))
}

/** All partitions at one moment. */
export interface DeliveryBacklog {
  /** Payments whose first event is being sent, or about to be. */
  commands: number
  /** Age of the oldest of them, by the clock of Redis (ms). */
  oldestAgeMs: number
  /** Payments whose events wait for a retry, or for the endpoint of their merchant. */
  waiting: number
  /** For how long the endpoint that has failed longest has failed; 0 when none fails for which events wait (ms). */
  failingMs: number
}

export async function deliveryBacklog(redis: Redis, partitions: number): Promise<DeliveryBacklog> {
  const backlog: DeliveryBacklog = { commands: 0, oldestAgeMs: 0, waiting: 0, failingMs: 0 }
  const nowMs = await serverTimeMs(redis)
  const read = async (partition: number): Promise<void> => {
    const stream = keys.deliveries(partition)
    const [commands, [oldest], retries, merchants, next] = await Promise.all([
      redis.xlen(stream),
      redis.xrange(stream, '-', '+', 'COUNT', 1),
      redis.zcard(keys.webhookDue(partition)),
      redis.zrange(keys.webhookReleases(partition), '0', '-1'),
      redis.zrange(keys.webhookDue(partition), '0', String(RETRIES_READ - 1))
    ])
    const parked = await Promise.all(merchants.map(id => redis.zcard(keys.webhookParked(partition, id))))
    const waitedFor = new Set([
      ...merchants,
      ...next.flatMap(place => readable(place, decodePlace).map(found => found.merchantId))
    ])
    const failing = [...waitedFor].map(id => redis.hget(keys.webhookCircuit(partition, id), 'since'))
    const sinceMs = (await Promise.all(failing)).map(since => Number(since ?? nowMs))
    backlog.commands += commands
    backlog.waiting += retries + sum(parked)
    backlog.failingMs = Math.max(backlog.failingMs, ...sinceMs.map(since => nowMs - since))
    if (oldest !== undefined) {
      backlog.oldestAgeMs = Math.max(backlog.oldestAgeMs, nowMs - Number.parseInt(oldest[0], 10))
    }
  }
  await Promise.all(partitionNumbers(partitions).map(read))
  return backlog
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((all, one) => all + one, 0)
}

async function firstOf(redis: Redis, { partition, paymentKey, merchantId }: DeliveryEntry): Promise<FirstEvent | null> {
  const places = [
    keys.webhookEvents(partition, paymentKey),
    keys.webhookTries(partition, paymentKey),
    keys.webhookEndpoint(partition, merchantId),
    keys.webhooksOff(partition, merchantId),
    keys.webhookCircuit(partition, merchantId)
  ]
  const [stored, tries, endpoint, isOff, untilMs, failingSinceMs] = (await firstWebhook(redis, places, [])) as [
    stored: string | null,
    tries: number,
    endpoint: string | null,
    isOff: 0 | 1,
    untilMs: string | null,
    failingSinceMs: string | null
  ]
  if (stored === null) return null
  return {
    event: queuedOf(stored, tries),
    endpoint: decodeEndpoint(endpoint),
    isOff: isOff === 1,
    isOpen: untilMs !== null,
    failingSinceMs: failingSinceMs === null ? null : Number(failingSinceMs)
  }
}

function queuedOf(stored: string, attempts: number): QueuedEvent {
  try {
    return decodeQueued(stored, attempts, null)
  } catch (error) {
    throw error instanceof DamagedValue ? new DamagedEvent(stored, error.message) : error
  }
}

/** KEYS of settle_webhook.lua. */
function placesOf({ partition, paymentKey, merchantId }: DeliveryEntry): string[] {
  return [
    keys.deliveries(partition),
    keys.webhookEvents(partition, paymentKey),
    keys.webhookTries(partition, paymentKey),
    keys.webhookDue(partition),
    keys.webhookParked(partition, merchantId),
    keys.webhookReleases(partition),
    keys.webhookCircuit(partition, merchantId),
    keys.webhookJournal(partition, merchantId),
    keys.webhookAttempts(partition, merchantId),
    keys.webhookUndeliverable(partition, merchantId)
  ]
}
