/**
 * The command streams: one per partition and kind of work, one consumer group; any worker with a free slot gets the next
 * entry.
 *
 * An entry leaves its stream only in the script that stores its result. Until then it belongs to the worker that read
 * it; a worker that is silent for too long loses its entries to the others (takeover.ts).
 */
import type { CommandResult } from '../../machines/commands.js'
import { WrittenByOtherVersion } from '../../machines/written-by-other-version.js'
import { withCrashPoints } from '../../runtime/crash-points.js'
import { messageOf } from '../../runtime/message-of.js'
import type { Redis } from '../connection/connections.js'
import { keys, PAYMENTS_GROUP, partitionNumbers } from '../keys.js'
import { encodeResult } from '../payments/idempotency.js'
import { defineNamedScript } from '../scripts.js'
import { type CommandEntry, decodeEntry, encodeEntry, ownerOf, type StreamEntry } from './command-entry.js'
import { commandsOf } from './commands-in-stream.js'
import { encodeLetter } from './stored-letter.js'

const requeue = defineNamedScript<{
  keys: 'commands'
  given: ReturnType<typeof ownerOf> & { fields: readonly string[] }
}>('requeue')
const releaseScript = defineNamedScript<{
  keys: 'commands' | 'begun'
  given: ReturnType<typeof ownerOf> & { fields: readonly string[]; member: string; delivery: string | undefined }
}>('release_command')
type Letter = ReturnType<typeof ownerOf> & { fields: readonly string[] }
const deadLetterEntryScript = defineNamedScript<{ keys: 'commands' | 'letters'; given: Letter }>('dead_letter_entry')
const deadLetterScript = defineNamedScript<{
  keys: 'commands' | 'letters' | 'due' | 'reconcile' | 'idempotency'
  given: Letter & {
    member: string
    wakeAtMs: number | undefined
    isDamaged: boolean
    result: string | undefined
  }
}>('dead_letter')

/** How long a read waits for something to do: the price of a stop, since a read is never cut off (ms). */
const BLOCK_MS = 1_000

/** A kind of work: where its commands are, who takes them, and how they are read. */
export interface WorkKind<E extends StreamEntry> {
  /** Name of the consumer group. */
  readonly group: string
  /** Key of the heartbeats of its workers. */
  readonly heartbeats: string
  /** Key of the stream of a partition. */
  stream(partition: number): string
  /** Throws `WrittenByOtherVersion` for what is left to a worker of that version; for any other error it is a dead letter. */
  decode(place: StreamEntry): E
  /** The fields of a command that was begun in vain. */
  encodeRedelivered(entry: E): string[]
  /** Whether a worker that died may have begun it. */
  isBegun(redis: Redis, entry: E): Promise<boolean>
  /** Gives a command back for which this worker has sent nothing. */
  release(redis: Redis, entry: E): Promise<void>
}

/** What `payments` does. */
export const paymentWork: WorkKind<CommandEntry> = {
  group: PAYMENTS_GROUP,
  heartbeats: keys.heartbeats(),
  stream: keys.commands,
  decode: decodeEntry,
  encodeRedelivered: entry => encodeEntry({ ...entry, deliveryCount: entry.deliveryCount + 1 }),
  isBegun: async (redis, { command, partition, paymentKey }) =>
    command.kind !== 'create' || (await redis.hget(keys.begun(partition), paymentKey)) !== null,
  release: releaseUnsent
}

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
  const place: StreamEntry = { partition, entryId, fields, consumer, delivery: `${consumer} ${++deliveries}` }
  try {
    result.entries.push(work.decode(place))
  } catch (error) {
    const list = error instanceof WrittenByOtherVersion ? result.foreign : result.unreadable
    list.push({ ...place, reason: messageOf(error) })
  }
}

/** Puts a command back that was begun in vain. False when it is no longer with its consumer. */
export async function requeueCommand<E extends StreamEntry>(
  redis: Redis,
  work: WorkKind<E>,
  entry: E
): Promise<boolean> {
  return await requeueEntry(redis, work, { ...entry, fields: work.encodeRedelivered(entry) })
}

/** Puts an entry back with these fields. False when it is no longer with its consumer. */
export async function requeueEntry<E extends StreamEntry>(
  redis: Redis,
  work: WorkKind<E>,
  entry: StreamEntry
): Promise<boolean> {
  const given = { ...ownerOf(work.group, entry), fields: entry.fields }
  return (await requeue(redis, { commands: work.stream(entry.partition) }, given)) === 1
}

/** Releases a command of this worker, which knows that nothing was sent for this delivery: its mark is taken back. */
async function releaseUnsent(redis: Redis, entry: CommandEntry): Promise<void> {
  const { partition, fields, paymentKey, delivery } = entry
  const named = { commands: keys.commands(partition), begun: keys.begun(partition) }
  const owner = ownerOf(PAYMENTS_GROUP, entry)
  await releaseScript(redis, named, { ...owner, fields, member: paymentKey, delivery: delivery ?? undefined })
}

/** Why a command is taken out of circulation, and what must not be lost with it. */
export interface DeadLetterDetails {
  readonly reason: string
  readonly nowMs: number
  /** When the payment must be looked at again (ms); null: as its wake-up says; never: its record is damaged. */
  readonly wakeAtMs: number | null | 'never'
  /** The result of a merchant's request that was not even begun. */
  readonly result: CommandResult | null
}

/** Takes a command out of circulation, with the reason for the operator. False when it is no longer with its consumer. */
export async function deadLetterCommand(
  redis: Redis,
  entry: CommandEntry,
  { reason, nowMs, wakeAtMs, result }: DeadLetterDetails
): Promise<boolean> {
  const { partition, paymentKey, idempotencyRecordId } = entry
  const letter = letterOf(paymentWork, { ...entry, fields: encodeEntry(entry) }, reason, nowMs)
  const named = {
    ...letter.keys,
    due: keys.due(partition),
    reconcile: keys.reconcile(partition),
    idempotency: keys.idempotency(partition, idempotencyRecordId)
  }
  const isDamaged = wakeAtMs === 'never'
  const moved = await deadLetterScript(redis, named, {
    ...letter.given,
    member: paymentKey,
    wakeAtMs: wakeAtMs === null || isDamaged ? undefined : wakeAtMs,
    isDamaged,
    result: encodeResult(result)
  })
  return moved === 1
}

/** Takes an entry that is not a command out of circulation. */
export async function deadLetterEntry<E extends StreamEntry>(
  redis: Redis,
  work: WorkKind<E>,
  entry: UnreadableEntry,
  nowMs: number
): Promise<boolean> {
  const letter = letterOf(work, entry, entry.reason, nowMs)
  return (await deadLetterEntryScript(redis, letter.keys, letter.given)) === 1
}

function letterOf<E extends StreamEntry>(work: WorkKind<E>, entry: StreamEntry, reason: string, nowMs: number) {
  const letter = encodeLetter({ reason, deadLetteredAtMs: nowMs })
  return {
    keys: { commands: work.stream(entry.partition), letters: keys.deadLetters(entry.partition) },
    given: { ...ownerOf(work.group, entry), fields: [...entry.fields, ...letter] }
  }
}

/** Where a worker puts commands that it can't end. A command that is no longer with this worker stays where it is. */
export interface CommandQueue {
  requeue(entry: CommandEntry): Promise<void>
  /** Gives back a command for which this worker has sent nothing. */
  release(entry: CommandEntry): Promise<void>
  /** All commands of the payment that have no result yet, this one among them. */
  commandsOf(entry: CommandEntry): Promise<readonly CommandEntry[]>
  deadLetter(entry: CommandEntry, details: DeadLetterDetails): Promise<void>
}

export function createCommandQueue(redis: Redis): CommandQueue {
  return {
    requeue: async entry => void (await requeueCommand(redis, paymentWork, entry)),
    release: entry => releaseUnsent(redis, entry),
    commandsOf: entry => commandsOf(redis, entry),
    deadLetter: async (entry, details) => void (await deadLetterCommand(redis, entry, details))
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
