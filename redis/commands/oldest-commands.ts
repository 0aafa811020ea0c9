/** The commands that have waited longest for their result, and who has them: for the operator who looks for what hangs. */

import type { Redis } from '../connection/connections.js'
import { serverTimeMs } from '../connection/redis-clock.js'
import { keys, PAYMENTS_GROUP, partitionNumbers } from '../keys.js'
import { entryTimeMs } from '../streams.js'
import { type CommandEntry, entryIn } from './command-entry.js'

export interface WaitingCommand {
  readonly partition: number
  readonly entryId: string
  /** Since it came into the stream, by the clock of Redis (ms). */
  readonly ageMs: number
  /** `host.pid.life` of the worker that has it; null when no worker has. */
  readonly worker: string | null
  /** Null when the entry is not readable as a command. */
  readonly command: CommandEntry | null
}

/** At most `limit` commands without a result, oldest first. */
export async function listOldestCommands(redis: Redis, partitions: number, limit: number): Promise<WaitingCommand[]> {
  const nowMs = await serverTimeMs(redis)
  const lists = await Promise.all(
    partitionNumbers(partitions).map(async partition => {
      const entries = await redis.xrange(keys.commands(partition), '-', '+', 'COUNT', limit)
      return entries.map(([entryId, fields]) => ({
        partition,
        entryId,
        ageMs: Math.max(0, nowMs - entryTimeMs(entryId)),
        command: entryIn(partition, entryId, fields)
      }))
    })
  )
  const oldest = lists
    .flat()
    .sort((a, b) => b.ageMs - a.ageMs)
    .slice(0, limit)
  return await Promise.all(
    oldest.map(async found => ({ ...found, worker: await workerOf(redis, found.partition, found.entryId) }))
  )
}

/** A stream that no worker has ever read has no group, and its entries have no worker. */
async function workerOf(redis: Redis, partition: number, entryId: string): Promise<string | null> {
  const pending = (await redis
    .xpending(keys.commands(partition), PAYMENTS_GROUP, entryId, entryId, 1)
    .catch(() => [])) as unknown[][]
  return pending[0] === undefined ? null : String(pending[0][1])
}
