/**
 * The rounds of the timers: what is due becomes a command, and the commands of dead workers go back.
 *
 * Each round may run in any number of processes at once: every step is one script that does its work once.
 */

import type { StreamEntry } from '../../redis/commands/command-entry.js'
import { requeueCommand, requeueEntry } from '../../redis/commands/command-queue.js'
import { countDue, fireWakeUps, type PacedWakeUps } from '../../redis/commands/fire-wake-ups.js'
import { ensureGroups } from '../../redis/commands/read-commands.js'
import { orphanedCommands, strayEntries } from '../../redis/commands/takeover.js'
import type { WorkKind } from '../../redis/commands/work-kind.js'
import { mastersOf } from '../../redis/connection/cluster-nodes.js'
import type { Redis } from '../../redis/connection/connections.js'
import { isRedisUnavailable } from '../../redis/connection/redis-errors.js'
import { partitionNumbers } from '../../redis/keys.js'
import type { ReconcilePace } from '../../redis/reconciliation/reconcile-pace.js'
import { fireLines } from '../../redis/webhooks/webhook-lines.js'

/**
 * Fires as many wake-ups of a kind as the pace allows. Returns the number of commands written. Partitions share alike: one
 * with few gets all of them, and what it leaves goes to those with more.
 */
export async function wakeRound(
  redis: Redis,
  kind: PacedWakeUps,
  pace: ReconcilePace,
  partitions: number,
  nowMs: number
): Promise<number> {
  const numbers = partitionNumbers(partitions)
  // A partition that can't be counted is still tried: its fault is reported below, and the others continue.
  const counts = await Promise.all(numbers.map(partition => countDue(redis, kind, partition, nowMs).catch(() => 1)))
  const due = numbers
    .map((partition, index) => ({ partition, count: counts[index] ?? 0, order: Math.random() }))
    .filter(({ count }) => count > 0)
    .sort((a, b) => a.count - b.count || a.order - b.order)
  const wanted = due.reduce((sum, { count }) => sum + count, 0)
  const taken = wanted === 0 ? 0 : await pace.take(wanted * kind.calls)
  const granted = Math.floor(taken / kind.calls)
  // Not enough for one each: chance decides, or those with the most would get none.
  if (granted < due.length) due.sort((a, b) => a.order - b.order)
  let fired = 0
  try {
    await inEach(redis, [...due.entries()], async ([index, { partition }]) => {
      const max = Math.ceil((granted - fired) / (due.length - index))
      if (max > 0) fired += await fireWakeUps(redis, kind, { partition, nowMs, max })
    })
  } finally {
    const unused = taken - fired * kind.calls
    if (unused > 0) await pace.returnUnused(unused)
  }
  return fired
}

/**
 * Turns webhook events whose time has come into commands for `webhooks`. Returns how many. `nowMs` is real time, also where the
 * clock of the test environment was moved.
 */
export async function deliveryRound(redis: Redis, partitions: number, nowMs: number): Promise<number> {
  // At once: nothing is due in most of them, and that is one read each.
  const fired = await Promise.allSettled(
    partitionNumbers(partitions).map(partition => fireLines(redis, partition, nowMs))
  )
  const fault = fired.find(result => result.status === 'rejected')
  if (fault !== undefined) throw fault.reason
  return fired.reduce((sum, result) => sum + (result.status === 'fulfilled' ? result.value : 0), 0)
}

/**
 * Requeues the entries of dead workers. `tookOver` receives the worker of each command, also when the round fails
 * later. Those of another version are left to its timers: this one can't count the death.
 */
export async function takeoverRound<E extends StreamEntry>(
  redis: Redis,
  work: WorkKind<E>,
  partitions: number,
  living: ReadonlySet<string>,
  tookOver: (worker: string) => void
): Promise<void> {
  await inEach(redis, partitionNumbers(partitions), async partition => {
    for (const { consumer, entries, unreadable } of await orphanedCommands(redis, work, partition, living)) {
      const requeues = [
        ...entries.map(entry => () => giveBack(redis, work, entry)),
        ...unreadable.map(entry => () => requeueEntry(redis, work, entry))
      ]
      for (const requeue of requeues) if (await requeue()) tookOver(consumer)
    }
  })
}

/** A death counts for what was begun. */
async function giveBack<E extends StreamEntry>(redis: Redis, work: WorkKind<E>, entry: E): Promise<boolean> {
  const requeue = (await work.isBegun(redis, entry)) ? requeueCommand : requeueEntry
  return await requeue(redis, work, entry)
}

/**
 * Gives workers the entries that none of them would ever get, and makes a group again that is missing: the
 * stream was changed by hand. Returns how many entries were found.
 */
export async function sweepRound<E extends StreamEntry>(
  redis: Redis,
  work: WorkKind<E>,
  partitions: number
): Promise<number> {
  await ensureGroups(redis, partitions, work)
  let found = 0
  await inEach(redis, partitionNumbers(partitions), async partition => {
    for (const entry of await strayEntries(redis, work, partition)) {
      if (await requeueEntry(redis, work, entry)) found++
    }
  })
  return found
}

/**
 * A fault of one partition does not delay the others; the round fails after them. A single server that is unavailable
 * ends the round at once. In a Cluster the other masters are still tried.
 */
async function inEach<T>(redis: Redis, all: readonly T[], work: (one: T) => Promise<void>): Promise<void> {
  const faults: unknown[] = []
  const isOneServer = mastersOf(redis).length === 1
  for (const one of all) {
    try {
      await work(one)
    } catch (error) {
      if (isOneServer && isRedisUnavailable(error)) throw error
      faults.push(error)
    }
  }
  if (faults.length > 0) throw faults[0]
}
