/** `dead-letter list|replay|discard` */
import type { Command } from 'commander'
import {
  type DeadLetter,
  discardDeadLetter,
  listDeadLetters,
  replayDeadLetter
} from '../../redis/commands/dead-letters.js'
import { type Field, isoTime, jsonOf, listing } from './output.js'
import type { VerbMaker } from './verb.js'

export function deadLetterCommand(program: Command, verb: VerbMaker): void {
  const noun = program.command('dead-letter').description('Commands without a result after five deliveries.')
  const subject = ['letter', 'id of the dead letter, see `dead-letter list`'] as const
  verb(noun.command('list'), { does: 'All of them, with the reason.' }, async ({ redis, config }) =>
    listing(await listDeadLetters(redis, config.partitions), FIELDS, 'There are no dead letters.')
  )
  verb(
    noun.command('replay'),
    {
      does: 'Give one back to the workers. A call that it may have sent is reconciled, never sent again.',
      subject,
      change: 'can_be_undone'
    },
    async ({ redis }, _, letterId) => {
      const letter = await replayDeadLetter(redis, letterId)
      return {
        json: jsonOf(FIELDS, letter),
        text: `The ${letter.command?.kind} of payment ${letter.command?.paymentId} is in the queue of the workers again.`
      }
    }
  )
  verb(
    noun.command('discard'),
    {
      does: 'Remove one that is not a command, which no worker can replay. Its content is printed.',
      subject,
      change: 'for_ever'
    },
    async ({ redis }, _, letterId) => {
      const letter = await discardDeadLetter(redis, letterId)
      return {
        json: jsonOf(FIELDS, letter),
        text: `Dead letter ${letter.letterId} is removed. Its content was ${JSON.stringify(letter.fields)}.`
      }
    }
  )
}

const FIELDS: readonly Field<DeadLetter>[] = [
  ['letter_id', 'LETTER', ({ letterId }) => letterId],
  ['dead_lettered_at', 'PUT ASIDE', ({ deadLetteredAtMs: ms }) => (Number.isFinite(ms) ? isoTime(ms) : null)],
  ['payment_id', 'PAYMENT', ({ command }) => command?.paymentId ?? null],
  ['command', 'COMMAND', ({ command }) => command?.kind ?? null],
  ['reason', 'REASON', ({ reason }) => reason],
  // The payment of a command shows more than its fields. Undefined is left out of JSON.
  ['fields', null, ({ command, fields }) => (command === null ? fields : undefined)]
]
