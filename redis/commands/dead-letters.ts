/**
 * Commands that were taken out of circulation, with the reason; an operator reads them and puts them back. A letter has the
 * fields of the stream entry that it was, and `l` beside them.
 */
import type { Redis } from '../connection/connections.js'
import { fieldsOf } from '../connection/reply-fields.js'
import { keys, partitionNumbers, paymentIdOfKey } from '../keys.js'
import { defineNamedScript } from '../scripts.js'
import { decodeEntry, encodeEntry, entryIn, unownedEntry } from './command-entry.js'
import { decodeLetter, type Letter } from './stored-dead-letter.js'

const replayLetter = defineNamedScript<{
  keys: 'letters' | 'commands'
  given: { letter: string; fields: readonly string[] }
}>('replay_letter')

export interface DeadLetter extends Letter {
  /** `<partition>:<entry id>`: what an operator names it by. */
  readonly letterId: string
  /** Null when the entry was not readable as a command; it can be looked at and discarded, and not replayed. */
  readonly command: { readonly paymentId: string; readonly kind: string } | null
  /** All that is written in the letter. */
  readonly fields: Readonly<Record<string, string>>
}

/** All dead letters, oldest first in each partition. */
export async function listDeadLetters(redis: Redis, partitions: number): Promise<DeadLetter[]> {
  const lists = await Promise.all(
    partitionNumbers(partitions).map(async partition => {
      const entries = await redis.xrange(keys.deadLetters(partition), '-', '+')
      return entries.map(([entryId, pairs]) => letterOf(partition, entryId, pairs))
    })
  )
  return lists.flat()
}

/**
 * Puts a letter back into its stream, counted as begun before: a call that it may have sent is reconciled, not
 * repeated. Throws when there is no such letter, or when it is not a command.
 */
export async function replayDeadLetter(redis: Redis, letterId: string): Promise<DeadLetter> {
  const { letter } = await findLetter(redis, letterId)
  if (letter.command === null) {
    throw new Error(
      `The dead letter ${letterId} is not a command, so it can't be replayed. Look at it, then \`dead-letter discard ${letterId}\`.`
    )
  }
  if (!(await putBack(redis, letter))) {
    throw new Error(`The dead letter ${letterId} was replayed by another operator just now.`)
  }
  return letter
}

/** Which letters: all that fit what is given. */
export interface LetterFilter {
  readonly kind?: string
  /** A part of the reason. */
  readonly reason?: string
  readonly sinceMs?: number
}

/** Puts back all commands that fit, and tells how many; those that another operator put back meanwhile do not count. */
export async function replayDeadLetters(
  redis: Redis,
  partitions: number,
  { kind, reason = '', sinceMs = 0 }: LetterFilter
): Promise<number> {
  let count = 0
  for (const letter of await listDeadLetters(redis, partitions)) {
    const isWanted = letter.command !== null && (kind === undefined || kind === letter.command.kind)
    if (!isWanted || !letter.reason.includes(reason) || !(letter.deadLetteredAtMs >= sinceMs || sinceMs === 0)) continue
    if (await putBack(redis, letter)) count++
  }
  return count
}

/** False when the letter is gone. Throws when it is not a command. */
async function putBack(redis: Redis, letter: DeadLetter): Promise<boolean> {
  const { partition, entryId } = readLetterId(letter.letterId)
  const fields = Object.entries(letter.fields).flat()
  const entry = decodeEntry(unownedEntry(partition, entryId, fields))
  const moved = await replayLetter(
    redis,
    { letters: keys.deadLetters(partition), commands: keys.commands(partition) },
    { letter: entryId, fields: encodeEntry({ ...entry, deliveryCount: 1 }) }
  )
  return moved === 1
}

/**
 * Removes a letter that is not a command. Throws when there is no such letter, and when it is a command: replayed, that
 * one leaves as soon as its payment allows.
 */
export async function discardDeadLetter(redis: Redis, letterId: string): Promise<DeadLetter> {
  const { letter, partition, entryId } = await findLetter(redis, letterId)
  if (letter.command !== null) {
    throw new Error(
      `The dead letter ${letterId} is the ${letter.command.kind} of payment ${letter.command.paymentId}. Replay it: what has ended meanwhile is not done again.`
    )
  }
  await redis.xdel(keys.deadLetters(partition), entryId)
  return letter
}

async function findLetter(
  redis: Redis,
  letterId: string
): Promise<{ letter: DeadLetter; partition: number; entryId: string }> {
  const { partition, entryId } = readLetterId(letterId)
  const [found] = entryId === '' ? [] : await redis.xrange(keys.deadLetters(partition), entryId, entryId)
  if (found === undefined) throw new Error(`There is no dead letter ${letterId}. See \`dead-letter list\`.`)
  return { letter: letterOf(partition, entryId, found[1]), partition, entryId }
}

function readLetterId(letterId: string): { partition: number; entryId: string } {
  const [, digits = '', entryId = ''] = /^(\d+):(\d+-\d+)$/.exec(letterId) ?? []
  return { partition: Number(digits), entryId }
}

function letterOf(partition: number, entryId: string, pairs: readonly string[]): DeadLetter {
  const fields = fieldsOf(pairs)
  const entry = entryIn(partition, entryId, pairs)
  return {
    letterId: `${partition}:${entryId}`,
    ...decodeLetter(fields.get('l') ?? ''),
    command: entry && { paymentId: paymentIdOfKey(entry.paymentKey), kind: entry.command.kind },
    fields: Object.fromEntries(fields)
  }
}
