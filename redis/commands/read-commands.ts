/** Reads command streams: what is new, and what a worker was given and does not know of. */
import { WrittenByOtherVersion } from '../../machines/written-by-other-version.js'
import { withCrashPoints } from '../../runtime/crash-points.js'
import { messageOf } from '../../runtime/message-of.js'
import type { Redis } from '../connection/connections.js'
import { partitionNumbers } from '../keys.js'
import type { StreamEntry } from './command-entry.js'
import type { WorkKind } from './work-kind.js'

/** How long a read waits for something to do: the price of a stop, since a read is never cut off (ms). */
const BLOCK_MS = 1_000

/** An entry that could not be read as a command. */
export interface UnreadableEntry extends StreamEntry {
  readonly reason: string
}

export interface ReadResult<E extends StreamEntry> {
  readonly entries: E[]
  /** Damaged, or none of ours. */
  readonly unreadable: UnreadableEntry[]
  /** Of another version, which can read them. */
  readonly foreign: UnreadableEntry[]
}

/** Creates the streams and their group where they are missing. Safe to call at any time. */
export async function ensureGroups<E extends StreamEntry>(
  redis: Redis,
  partitions: number,
  work: Pick<WorkKind<E>, 'stream' | 'group'>
): Promise<void> {
  await Promise.all(
    partitionNumbers(partitions).map(async partition => {
      try {
        await redis.xgroup('CREATE', work.stream(partition), work.group, '0', 'MKSTREAM')
      } catch (error) {
        if (!(error instanceof Error && error.message.startsWith('BUSYGROUP'))) throw error
      }
    })
  )
}

/**
 * Reads up to `count` new commands per stream for `consumer`; an empty answer after `blockMs` without any.
 * `blocking` is a connection that does nothing else.
 */
export async function readCommands<E extends StreamEntry>(
  blocking: Redis,
  work: WorkKind<E>,
  consumer: string,
  partitions: readonly number[],
  count: number,
  blockMs = BLOCK_MS
): Promise<ReadResult<E>> {
  const streams = partitions.map(work.stream)
  const news = partitions.map(() => '>')
  const group = ['GROUP', work.group, consumer] as const
  const reply = await withCrashPoints('read_commands', () =>
    blocking.xreadgroup(...group, 'COUNT', count, 'BLOCK', blockMs, 'STREAMS', ...streams, ...news)
  )
  const result: ReadResult<E> = { entries: [], unreadable: [], foreign: [] }
  for (const [stream, found] of reply ?? []) {
    const partition = partitions[streams.indexOf(stream)] ?? 0
    for (const [entryId, fields] of found) collectEntry(result, work, { partition, entryId, consumer }, fields ?? [])
  }
  return result
}

/** How many deliveries this process has had. */
let deliveries = 0

/** Puts an entry where it belongs: with the commands, or with what this version can't read as one. */
function collectEntry<E extends StreamEntry>(
  result: ReadResult<E>,
  work: WorkKind<E>,
  { partition, entryId, consumer }: { partition: number; entryId: string; consumer: string },
  fields: readonly string[]
): void {
  const entry: StreamEntry = { partition, entryId, fields, consumer, delivery: `${consumer} ${++deliveries}` }
  try {
    result.entries.push(work.decode(entry))
  } catch (error) {
    const list = error instanceof WrittenByOtherVersion ? result.foreign : result.unreadable
    list.push({ ...entry, reason: messageOf(error) })
  }
}

/** How long an entry must have been with a worker before it counts as one that never got there (ms). */
const LOST_AFTER_MS = 1_000
const LOST_MAX = 100

/**
 * Entries that the server has delivered to `consumer`, which does not know of them: the answer was lost with its
 * connection. No other worker takes them over, because their consumer is alive.
 */
export async function lostCommands<E extends StreamEntry>(
  redis: Redis,
  work: WorkKind<E>,
  consumer: string,
  partition: number,
  isKnown: (entryId: string) => boolean
): Promise<ReadResult<E>> {
  return await heldEntries(redis, work, partition, consumer, { idleMs: LOST_AFTER_MS, max: LOST_MAX, isKnown })
}

/**
 * At most `max` of the oldest entries that were delivered to `consumer` at least `idleMs` ago and that `isKnown` does not
 * know. An entry that has left its stream has ended: it is acknowledged.
 */
export async function heldEntries<E extends StreamEntry>(
  redis: Redis,
  work: WorkKind<E>,
  partition: number,
  consumer: string,
  { idleMs, max, isKnown = () => false }: { idleMs: number; max: number; isKnown?: (entryId: string) => boolean }
): Promise<ReadResult<E>> {
  const stream = work.stream(partition)
  const result: ReadResult<E> = { entries: [], unreadable: [], foreign: [] }
  const isFull = (): boolean => result.entries.length + result.unreadable.length >= max
  let [from, isLastPage] = ['-', false]
  while (!isLastPage && !isFull()) {
    const page = await redis.xpending(stream, work.group, 'IDLE', idleMs, from, '+', max, consumer)
    const ids = (page as [string, ...unknown[]][]).map(([entryId]) => entryId)
    isLastPage = ids.length < max
    from = `(${ids.at(-1)}`
    for (const entryId of ids) {
      if (isKnown(entryId) || isFull()) continue
      const [found] = await redis.xrange(stream, entryId, entryId)
      if (found !== undefined) collectEntry(result, work, { partition, entryId, consumer }, found[1])
      // Asked once more: it may have arrived, and ended, while the stream was read.
      else if (!isKnown(entryId)) await redis.xack(stream, work.group, entryId)
    }
  }
  return result
}
