/**
 * Heartbeats of the workers, and the takeover of a dead worker's commands.
 *
 * A heartbeat is written by the clock of Redis, so that the clocks of machines don't matter. Taking over the entries of
 * a worker is safe even if it was only suspended: a payment that was begun is reconciled, never sent again; a webhook may
 * be sent twice. The resumed worker writes nothing: the version has changed, or the entry is not its own.
 *
 * Entries are written anew (requeue.lua). XAUTOCLAIM gives them to one consumer, and its delivery count also grows when
 * a worker reads its own entries.
 */

import { DAY_MS } from '../../machines/durations.js'
import type { Redis } from '../connection/connections.js'
import { serverTimeMs } from '../connection/redis-clock.js'
import { fieldsOf } from '../connection/reply-fields.js'
import { keys } from '../keys.js'
import { defineNamedScript } from '../scripts.js'
import { lastDeliveredIn } from './backlog.js'
import { type StreamEntry, unownedEntry } from './command-entry.js'
import { heldEntries, type ReadResult } from './read-commands.js'
import type { WorkKind } from './work-kind.js'

const beatScript = defineNamedScript<{
  keys: 'heartbeats'
  given: { consumer: string; forgetAfterMs: number }
}>('beat')
const dropConsumer = defineNamedScript<{ keys: 'stream'; given: { group: string; consumer: string } }>('drop_consumer')

/** Entries that one call takes from one consumer; the next call takes more. */
const TAKE_MAX = 200

/** Far above every silence that counts as death (`TAKEOVER_AFTER_MS`): a forgotten worker was dead long before. */
const FORGET_AFTER_MS = DAY_MS

/** Says that a worker is alive. `heartbeats`: the list of the workers' kind. Answers the time of Redis (ms). */
export async function writeHeartbeat(redis: Redis, consumer: string, heartbeats = keys.heartbeats()): Promise<number> {
  return Number(await beatScript(redis, { heartbeats }, { consumer, forgetAfterMs: FORGET_AFTER_MS }))
}

/** For a graceful stop: other workers take over the remaining entries at once. */
export async function removeHeartbeat(redis: Redis, consumer: string, heartbeats = keys.heartbeats()): Promise<void> {
  await redis.zrem(heartbeats, consumer)
}

/** The consumers that were active within `silenceMs`: any other one that holds entries is dead. */
export async function livingConsumers(
  redis: Redis,
  silenceMs: number,
  heartbeats = keys.heartbeats()
): Promise<ReadonlySet<string>> {
  return await livingAt(redis, await serverTimeMs(redis), silenceMs, heartbeats)
}

/** Both kinds of workers. Rejects while Redis refuses writes, so that an outage is not mistaken for dead workers. */
export async function watchWorkers(
  redis: Redis,
  silenceMs: number
): Promise<{ readonly payments: ReadonlySet<string>; readonly webhooks: ReadonlySet<string> }> {
  const nowMs = await writeHeartbeat(redis, 'timers', keys.timersHeartbeats())
  const [payments, webhooks] = await Promise.all([
    livingAt(redis, nowMs, silenceMs, keys.heartbeats()),
    livingAt(redis, nowMs, silenceMs, keys.webhookHeartbeats())
  ])
  return { payments, webhooks }
}

/**
 * A heartbeat more than `silenceMs` ahead was written before the clock was set back: living workers have written another one
 * since, or will.
 */
async function livingAt(
  redis: Redis,
  nowMs: number,
  silenceMs: number,
  heartbeats: string
): Promise<ReadonlySet<string>> {
  return new Set(await redis.zrangebyscore(heartbeats, `(${nowMs - silenceMs}`, nowMs + silenceMs))
}

/** What one dead consumer holds of a partition. */
export interface Orphans<E extends StreamEntry> extends ReadResult<E> {
  readonly consumer: string
}

/**
 * The entries of one partition that belong to dead consumers, those included that are no commands. Consumers that are
 * dead and empty are removed.
 */
export async function orphanedCommands<E extends StreamEntry>(
  redis: Redis,
  work: WorkKind<E>,
  partition: number,
  living: ReadonlySet<string>
): Promise<Orphans<E>[]> {
  const stream = work.stream(partition)
  const orphans: Orphans<E>[] = []
  for (const consumer of await consumersOf(redis, stream, work.group)) {
    if (living.has(consumer.name)) continue
    if (consumer.pending > 0) {
      const held = await heldEntries(redis, work, partition, consumer.name, { idleMs: 0, max: TAKE_MAX })
      orphans.push({ consumer: consumer.name, ...held })
    } else if (consumer.idleMs > REMOVE_AFTER_IDLE_MS) {
      await dropConsumer(redis, { stream }, { group: work.group, consumer: consumer.name })
    }
  }
  return orphans
}

/** Entries of a stream that one sweep looks at: those that workers have. */
const SWEEP_MAX = 1_000

/**
 * Entries of one partition that were delivered, and have no owner: their consumer was deleted, or the group was set
 * forward. No worker would ever get them. Some may be delivered or end meanwhile: requeue.lua looks again.
 */
export async function strayEntries<E extends StreamEntry>(
  redis: Redis,
  { stream: streamOf, group }: WorkKind<E>,
  partition: number
): Promise<StreamEntry[]> {
  const stream = streamOf(partition)
  const lastId = lastDeliveredIn(await redis.xinfo('GROUPS', stream), group)
  if (lastId === undefined) throw new Error(`NOGROUP The stream ${stream} has no group ${group}.`)
  const entries = await redis.xrange(stream, '-', lastId, 'COUNT', SWEEP_MAX)
  if (entries.length === 0) return []
  const page = await redis.xpending(stream, group, '-', '+', 10 * SWEEP_MAX)
  const held = new Set((page as [string, ...unknown[]][]).map(([entryId]) => entryId))
  return entries
    .filter(([entryId]) => !held.has(entryId))
    .map(([entryId, fields]) => unownedEntry(partition, entryId, fields))
}

/** Long enough that a new consumer without a heartbeat yet is not removed. */
const REMOVE_AFTER_IDLE_MS = 60_000

async function consumersOf(
  redis: Redis,
  stream: string,
  group: string
): Promise<{ name: string; pending: number; idleMs: number }[]> {
  const rows = (await redis.xinfo('CONSUMERS', stream, group)) as unknown[][]
  return rows.map(row => {
    const fields = fieldsOf(row)
    return {
      name: String(fields.get('name')),
      pending: Number(fields.get('pending')),
      idleMs: Number(fields.get('idle'))
    }
  })
}
