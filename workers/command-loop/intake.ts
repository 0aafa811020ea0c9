/** Takes the entries that Redis delivers to a worker. */
import type { StreamEntry } from '../../redis/commands/command-entry.js'
import { deadLetterEntry, requeueEntry } from '../../redis/commands/command-queue.js'
import type { ReadResult } from '../../redis/commands/read-commands.js'
import type { WorkKind } from '../../redis/commands/work-kind.js'
import type { Redis } from '../../redis/connection/connections.js'
import { delay } from '../../runtime/delay.js'
import { type Logger, warnRateLimited } from '../../runtime/log.js'
import { returnEntry } from './return-entry.js'
import type { Slots } from './slots.js'

/**
 * How the handling of a command ended.
 * - `done`: it has ended, is in its stream again, or is with another worker; what a worker holds that stops is taken over
 * - `left`: this worker can't do it now, and has sent nothing for it: the entry goes back unchanged, after a pause without a slot
 */
export type HandlingOutcome = 'done' | 'left'

const FOREIGN = 'a command was left to workers of another version'

export interface IntakeOptions<E extends StreamEntry> {
  readonly redis: Redis
  readonly work: WorkKind<E>
  readonly handle: (entry: E, stopping: AbortSignal) => Promise<HandlingOutcome>
  /** Whether an entry may end the worker: it runs while nothing else does, so that no other one is to blame for its death. */
  readonly isSuspect?: (entry: E) => boolean
  /** How long an entry that is left pauses. */
  readonly leaveMs?: number
  readonly log: Logger
}

export interface Intake<E extends StreamEntry> {
  take(read: ReadResult<E>): Promise<void>
  /** Takes entries whose delivery never reached the worker. */
  takeLost(read: ReadResult<E>): Promise<void>
  isKnown(partition: number, entryId: string): boolean
  /** Resolves when no entry pauses before it goes back. A stop ends the pauses. */
  allLeft(): Promise<unknown>
}

/** How long an entry that is left pauses here: without other workers it comes back to this one (ms). */
const LEAVE_MS = 1_000
/** Longer for each that pauses already: a stream full of them costs a hundred moves a second at most (ms). */
const LEAVE_MORE_MS = 10

/** Passes each command to `options.handle`, in a slot. */
export function createIntake<E extends StreamEntry>(
  options: IntakeOptions<E>,
  slots: Slots,
  stopping: AbortSignal
): Intake<E> {
  // One that has ended may come again, with an answer that seemed lost: it has no owner then, so nothing is done.
  const running = new Set<string>()
  const nameOf = (partition: number, entryId: string): string => `${partition} ${entryId}`
  const isKnown = (partition: number, entryId: string): boolean => running.has(nameOf(partition, entryId))
  const leaving = new Set<Promise<void>>()
  const leave = <L extends StreamEntry>(entry: L, giveBack: (entry: L) => Promise<unknown>): void => {
    const name = nameOf(entry.partition, entry.entryId)
    running.add(name)
    const left = giveBackLater(entry, () => giveBack(entry), options, leaving.size, stopping).finally(() => {
      running.delete(name)
      leaving.delete(left)
    })
    leaving.add(left)
  }
  const handle = (entry: E): void => {
    const name = nameOf(entry.partition, entry.entryId)
    running.add(name)
    const work = async (): Promise<void> => {
      const outcome = await options.handle(entry, stopping).finally(() => running.delete(name))
      if (outcome === 'left') leave(entry, left => options.work.release(options.redis, left))
    }
    if (options.isSuspect?.(entry) === true) slots.runAlone(work)
    else slots.run(work)
  }
  const take = async ({ entries, unreadable, foreign }: ReadResult<E>): Promise<void> => {
    for (const entry of entries) if (!isKnown(entry.partition, entry.entryId)) handle(entry)
    for (const entry of foreign) {
      const { partition, entryId, reason } = entry
      if (isKnown(partition, entryId)) continue
      warnRateLimited(options.log, { partition, entry_id: entryId, reason }, FOREIGN)
      leave(entry, left => requeueEntry(options.redis, options.work, left))
    }
    for (const entry of unreadable) {
      const { partition, entryId, reason } = entry
      options.log.error(
        { partition, entry_id: entryId, reason },
        'a command could not be read, moving it to the dead letters: see dead-letter list'
      )
      await deadLetterEntry(options.redis, options.work, entry, Date.now())
    }
  }
  return {
    isKnown,
    take,
    allLeft: () => Promise.all(leaving),
    takeLost: async read => {
      const entries = read.entries.filter(entry => !isKnown(entry.partition, entry.entryId))
      if (entries.length > 0)
        warnRateLimited(
          options.log,
          { entries: entries.length },
          'commands were delivered and did not arrive, they are taken now'
        )
      await take({ ...read, entries })
    }
  }
}

/** Gives an entry back unchanged after a pause. `others`: how many pause already. */
async function giveBackLater<E extends StreamEntry>(
  entry: StreamEntry,
  giveBack: () => Promise<unknown>,
  { leaveMs = LEAVE_MS, log }: IntakeOptions<E>,
  others: number,
  stopping: AbortSignal
): Promise<void> {
  await delay(leaveMs + others * LEAVE_MORE_MS, stopping)
  const ids = { partition: String(entry.partition), entry_id: entry.entryId }
  await returnEntry(giveBack, { log, ids, stopping })
}
