/** Where entries go that a worker does not end: back into their stream, or to the dead letters. */
import type { CommandResult } from '../../machines/commands.js'
import type { Redis } from '../connection/connections.js'
import { keys } from '../keys.js'
import { encodeResult } from '../payments/idempotency.js'
import { defineNamedScript } from '../scripts.js'
import { type CommandEntry, encodeEntry, ownerOf, type StreamEntry } from './command-entry.js'
import { commandsOf } from './commands-in-stream.js'
import type { UnreadableEntry } from './read-commands.js'
import { encodeLetter } from './stored-dead-letter.js'
import { paymentWork, type WorkKind } from './work-kind.js'

/** An entry that is moved; `fields` are those of the new one. */
type Moved = ReturnType<typeof ownerOf> & { fields: readonly string[] }

const requeue = defineNamedScript<{ keys: 'commands'; given: Moved }>('requeue')
const deadLetterEntryScript = defineNamedScript<{ keys: 'commands' | 'letters'; given: Moved }>('dead_letter_entry')
const deadLetterScript = defineNamedScript<{
  keys: 'commands' | 'letters' | 'due' | 'reconcile' | 'idempotency'
  given: Moved & {
    member: string
    wakeAtMs: number | undefined
    isDamaged: boolean
    result: string | undefined
  }
}>('dead_letter')

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
  /** Puts a command back that was begun in vain, so many times by now. */
  requeue(entry: CommandEntry, deliveryCount: number): Promise<void>
  /** Gives back a command for which this worker has sent nothing. */
  release(entry: CommandEntry): Promise<void>
  /** All commands of the payment that have no result yet, this one among them. */
  commandsOf(entry: CommandEntry): Promise<readonly CommandEntry[]>
  deadLetter(entry: CommandEntry, details: DeadLetterDetails): Promise<void>
}

export function createCommandQueue(redis: Redis): CommandQueue {
  return {
    requeue: async (entry, deliveryCount) => {
      await requeueEntry(redis, paymentWork, { ...entry, fields: encodeEntry({ ...entry, deliveryCount }) })
    },
    release: entry => paymentWork.release(redis, entry),
    commandsOf: entry => commandsOf(redis, entry),
    deadLetter: async (entry, details) => void (await deadLetterCommand(redis, entry, details))
  }
}
