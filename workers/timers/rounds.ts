/**
 * The two rounds of the timers: what is due becomes a command, and the commands of dead workers go back.
 *
 * Each round may run in any number of processes at once: every step is one script that does its work once.
 */
import { requeueCommand, requeueEntry } from '../../redis/command-stream.js'
import type { Redis } from '../../redis/connections.js'
import { FIRE_MAX, fireDueCommands } from '../../redis/due.js'
import { isRedisUnavailable } from '../../redis/errors.js'
import { orphanedCommands } from '../../redis/takeover.js'

/** Fires everything that is due. Returns the number of commands written. */
export async function fireRound(redis: Redis, partitions: number, nowMs: number): Promise<number> {
  let fired = 0
  await inEach(partitions, async partition => {
    let count: number
    do {
      count = await fireDueCommands(redis, partition, nowMs)
      fired += count
    } while (count === FIRE_MAX)
  })
  return fired
}

/**
 * Gives back what workers hold that are not among the living. `tookOver` is told the worker of each command, also when
 * the round fails later.
 */
export async function takeoverRound(
  redis: Redis,
  partitions: number,
  living: ReadonlySet<string>,
  tookOver: (worker: string) => void
): Promise<void> {
  await inEach(partitions, async partition => {
    for (const { consumer, entries, unreadable } of await orphanedCommands(redis, partition, living)) {
      for (const entry of entries) if (await requeueCommand(redis, entry)) tookOver(consumer)
      for (const entry of unreadable) if (await requeueEntry(redis, entry)) tookOver(consumer)
    }
  })
}

/** A partition with a fault of its own does not keep the others waiting; the round fails when they are done. */
async function inEach(partitions: number, work: (partition: number) => Promise<void>): Promise<void> {
  const faults: unknown[] = []
  for (let partition = 0; partition < partitions; partition++) {
    try {
      await work(partition)
    } catch (error) {
      if (isRedisUnavailable(error)) throw error
      faults.push(error)
    }
  }
  if (faults.length > 0) throw faults[0]
}
