/**
 * Webhook events as the `webhooks` process sees them: fresh ones in the outbox of each partition, failed ones in the
 * waiting line of their payment. All that became of a batch is one script.
 */
import { newDelivery } from '../machines/webhook-delivery.js'
import { messageOf } from '../runtime/message-of.js'
import { type BlockingReads, createBlockingReads } from './blocking-reads.js'
import type { Redis } from './connections.js'
import { keys } from './keys.js'
import type { Lease } from './partition-leases.js'
import { defineScript } from './scripts.js'
import { encodeChange } from './webhook-event.js'
import {
  type Attempt,
  changeOf,
  decodeRecord,
  encodeAttempt,
  encodeRecord,
  eventOfEntry,
  type QueuedEvent,
  recordHead
} from './webhook-record.js'

const settleWebhooks = defineScript('settle_webhooks')
const readWaiting = defineScript('read_waiting_webhooks')

/** How long a read waits for something to do (ms). */
const BLOCK_MS = 200
/** Entries per partition and read. */
const READ_COUNT = 256
/** Attempts that are kept per merchant, about. */
const ATTEMPTS_KEPT = 1_000
const LOAD_COUNT = 1_000

/** The lease of the partition has another owner by now: this process must stop working on it. */
export class PartitionLost extends Error {}

export interface FreshEvent {
  readonly partition: number
  readonly merchantId: string
  readonly event: QueuedEvent
}

/** What became of an event. */
export interface Move {
  /** As it was before: where it is, and with how many attempts. */
  readonly before: QueuedEvent
  /** As it is now: delivered, waiting or undeliverable. Null: forgotten, and kept nowhere. */
  readonly after: QueuedEvent | null
  /** Null when it was moved without an attempt. */
  readonly attempt: Attempt | null
}

export interface WebhookQueue {
  /** Reads on from the cursors (partition to entry id), which it moves. An empty answer after a while without any. */
  readFresh(cursors: Map<number, string>): Promise<FreshEvent[]>
  /** Writes moves of one merchant down; says for each whether its payment has a waiting line. Throws `PartitionLost`. */
  settle(lease: Lease, merchantId: string, moves: readonly Move[]): Promise<boolean[]>
  /** The first events of lines that are due. Throws `PartitionLost`. */
  readWaiting(lease: Lease, merchantId: string, wish: WaitingWish): Promise<QueuedEvent[]>
  /** The payments with a waiting line. */
  waitingPayments(partition: number, merchantId: string): Promise<string[]>
  /** The merchants of a partition that have something due. */
  dueMerchants(partition: number, nowMs: number): Promise<string[]>
  /** How many entries the outboxes hold, and since when the oldest (ms; null: none). */
  outboxFigures(partitions: readonly number[]): Promise<{ length: number; oldestMs: number | null }>
  /** Ends the reading. */
  close(): void
}

export interface WaitingWish {
  readonly dueUntilMs: number
  readonly count: number
  /** Payments whose first event is known already. */
  readonly except: Iterable<string>
}

export interface QueueOptions {
  /** How long what was delivered is remembered. */
  readonly retentionMs: number
  /** The age of an event at which it is not kept as undeliverable any more; longer than all its attempts may take. */
  readonly undeliverableAgeMaxMs: number
  /** Undeliverable events that are kept per merchant; the oldest go first. */
  readonly undeliverableMax: number
  /** Undeliverable events were dropped because they are too many or too old. */
  readonly onDropped: (merchantId: string, count: number) => void
  /** Says what was wrong with an entry that was taken out of the outbox. */
  readonly onUnreadable: (entryId: string, reason: string) => void
  readonly now: () => number
}

/** `blocking` does nothing but read the outboxes. */
export function createWebhookQueue(redis: Redis, blocking: Redis, options: QueueOptions): WebhookQueue {
  const reads = createBlockingReads(blocking)
  const running = new Map<number, Promise<Found>>()
  return {
    readFresh: cursors => readFresh(redis, { reads, running }, cursors, options),
    close: () => reads.close(),
    settle: async ({ partition, holder }, merchantId, moves) => {
      const { retentionMs, undeliverableMax, undeliverableAgeMaxMs } = options
      const nowMs = options.now()
      const answer = await settleWebhooks(redis, placesOf(partition, merchantId), [
        holder,
        merchantId,
        Math.max(0, nowMs - retentionMs),
        ATTEMPTS_KEPT,
        undeliverableMax,
        Math.max(0, nowMs - undeliverableAgeMaxMs),
        undeliverableAgeMaxMs,
        ...moves.flatMap(encodeMove)
      ])
      const [dropped, ...hasLine] = unlessLost(answer, partition)
      if (typeof dropped === 'number' && dropped > 0) options.onDropped(merchantId, dropped)
      return hasLine.map(flag => flag === 1)
    },
    readWaiting: async ({ partition, holder }, merchantId, { dueUntilMs, count, except }) => {
      const answer = await readWaiting(
        redis,
        [
          keys.webhookLease(partition),
          keys.webhookDue(partition, merchantId),
          keys.webhookWaiting(partition, merchantId)
        ],
        [holder, dueUntilMs, count, ...except]
      )
      return unlessLost(answer, partition).map(head => decodeRecord(String(head), 'waiting'))
    },
    waitingPayments: async (partition, merchantId) => {
      const payments: string[] = []
      for (let page: string[] = [''], from = 0; page.length > 0; from += LOAD_COUNT) {
        page = await redis.zrange(keys.webhookDue(partition, merchantId), String(from), String(from + LOAD_COUNT - 1))
        payments.push(...page)
      }
      return payments
    },
    dueMerchants: (partition, nowMs) => redis.zrangebyscore(keys.webhookMerchants(partition), '-inf', nowMs),
    outboxFigures: async partitions => {
      const rows = await Promise.all(
        partitions.map(async partition => {
          const outbox = keys.outbox(partition)
          const [length, [oldest]] = await Promise.all([redis.xlen(outbox), redis.xrange(outbox, '-', '+', 'COUNT', 1)])
          return { length, oldestMs: oldest === undefined ? Number.POSITIVE_INFINITY : Number.parseInt(oldest[0], 10) }
        })
      )
      const oldestMs = Math.min(...rows.map(row => row.oldestMs))
      const length = rows.reduce((sum, row) => sum + row.length, 0)
      return { length, oldestMs: Number.isFinite(oldestMs) ? oldestMs : null }
    }
  }
}

/** What a read found in the outboxes of a group, and where it began. */
interface Found {
  readonly begun: ReadonlyMap<number, string>
  readonly streams: [stream: string, entries: [entryId: string, fields: string[]][]][]
}

async function readFresh(
  redis: Redis,
  { reads, running }: { reads: BlockingReads; running: Map<number, Promise<Found>> },
  cursors: Map<number, string>,
  { onUnreadable, now }: QueueOptions
): Promise<FreshEvent[]> {
  for (const group of reads.groups([...cursors.keys()])) {
    const name = group[0] ?? 0
    if (!running.has(name)) running.set(name, readOutboxes(reads, group, cursors))
  }
  // Groups that have nothing yet go on waiting, and are looked at the next time, those that waited longest first.
  const { name, begun, streams } = await Promise.race([...running].map(named(running)))
  running.delete(name)
  const partitions = [...begun.keys()]
  const outboxes = partitions.map(keys.outbox)
  const delivery = newDelivery(now())
  const fresh: FreshEvent[] = []
  const moved = new Map<number, string>()
  for (const [stream, entries] of streams) {
    const partition = partitions[outboxes.indexOf(stream)]
    if (partition === undefined) continue
    for (const [entryId, fields] of entries) {
      moved.set(partition, entryId)
      try {
        fresh.push({ partition, ...eventOfEntry(entryId, fields, delivery) })
      } catch (error) {
        const reason = messageOf(error)
        onUnreadable(entryId, reason)
        await bury(redis, partition, entryId, fields, reason)
      }
    }
  }
  // Only now, so that a failure above passes nothing over. A partition that was given away meanwhile, and perhaps taken
  // anew, is read from its beginning by its new holder: what was read for the old one does not count.
  for (const [partition, entryId] of moved) {
    if (cursors.get(partition) === begun.get(partition)) cursors.set(partition, entryId)
    else moved.delete(partition)
  }
  return fresh.filter(({ partition }) => moved.has(partition))
}

/** A running read under its name; one that failed is forgotten. */
function named(
  running: Map<number, Promise<Found>>
): (entry: [name: number, reading: Promise<Found>]) => Promise<Found & { name: number }> {
  return async ([name, reading]) => {
    try {
      return { name, ...(await reading) }
    } catch (error) {
      running.delete(name)
      throw error
    }
  }
}

async function readOutboxes(
  reads: BlockingReads,
  group: readonly number[],
  cursors: ReadonlyMap<number, string>
): Promise<Found> {
  const outboxes = group.map(keys.outbox)
  const begun = new Map(group.map(partition => [partition, cursors.get(partition) ?? '0']))
  const streams = await reads.read(outboxes[0] ?? '', blocking =>
    blocking.xread('COUNT', READ_COUNT, 'BLOCK', BLOCK_MS, 'STREAMS', ...outboxes, ...begun.values())
  )
  return { begun, streams: streams ?? [] }
}

/** What is no event never will be one: it is put where an operator finds it. */
async function bury(redis: Redis, partition: number, entryId: string, fields: string[], reason: string): Promise<void> {
  await redis
    .multi()
    .xadd(keys.deadLetters(partition), '*', ...fields, 'reason', reason, 'buried_at', String(Date.now()))
    .xdel(keys.outbox(partition), entryId)
    .exec()
}

/** All places where an event of a merchant may be, in the order of settle_webhooks.lua. */
function placesOf(partition: number, merchantId: string): string[] {
  return [
    keys.webhookLease(partition),
    keys.outbox(partition),
    keys.webhookWaiting(partition, merchantId),
    keys.webhookDue(partition, merchantId),
    keys.webhookMerchants(partition),
    keys.webhookUndeliverable(partition, merchantId),
    keys.webhookJournal(partition, merchantId),
    keys.webhookAttempts(partition, merchantId)
  ]
}

function encodeMove({ before, after, attempt }: Move): (string | number)[] {
  const place = [before.entryId ?? '', before.compact, before.entryId === null ? recordHead(before) : '']
  if (after === null) return ['forgotten', ...place, '', 0, '']
  const { state, nextAtMs } = after.delivery
  const change = changeOf(after)
  return [
    state,
    ...place,
    state === 'waiting' ? encodeRecord(after) : encodeChange(change),
    state === 'undeliverable' ? change.occurredAtMs : nextAtMs,
    attempt === null ? '' : encodeAttempt(after, attempt)
  ]
}

function unlessLost(answer: unknown, partition: number): unknown[] {
  if (Array.isArray(answer)) return answer
  throw new PartitionLost(`Partition ${partition} has another holder by now.`)
}
