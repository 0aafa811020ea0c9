/** `dead-letter list|replay|discard` */
import { Command } from 'commander'
import {
  type DeadLetter,
  discardDeadLetter,
  listDeadLetters,
  replayDeadLetter
} from '../../redis/commands/dead-letters.js'
import { table } from './table.js'
import type { VerbMaker } from './verb.js'

export function deadLetterCommand(verb: VerbMaker): Command {
  const noun = new Command('dead-letter').description('Commands that failed again and again and were put aside.')
  const subject = ['letter', 'its first column in `dead-letter list`'] as const
  verb(noun.command('list'), { does: 'All of them, with the reason.' }, async ({ redis, config }) => {
    const letters = await listDeadLetters(redis, config.partitions)
    const rows = letters.map(letter => {
      const { command, reason, letterId } = letter
      return [letterId, timeOf(letter) ?? '', command?.paymentId ?? '-', command?.kind ?? '-', reason]
    })
    return {
      json: letters.map(present),
      text: table(['LETTER', 'PUT ASIDE', 'PAYMENT', 'COMMAND', 'REASON'], rows, 'There are no dead letters.')
    }
  })
  verb(
    noun.command('replay'),
    {
      does: 'Give one back to the workers. What it may have done is asked about, never done again.',
      subject,
      change: 'can_be_undone'
    },
    async ({ redis }, _, letterId) => {
      const letter = await replayDeadLetter(redis, letterId)
      return {
        json: present(letter),
        text: `The ${letter.command?.kind} of payment ${letter.command?.paymentId} is with the workers again.`
      }
    }
  )
  verb(
    noun.command('discard'),
    {
      does: 'Remove one that is not a command, and so can not be replayed. It is printed a last time.',
      subject,
      change: 'for_ever'
    },
    async ({ redis }, _, letterId) => {
      const letter = await discardDeadLetter(redis, letterId)
      return {
        json: present(letter),
        text: `Letter ${letter.letterId} is removed. It held ${JSON.stringify(letter.fields)}.`
      }
    }
  )
  return noun
}

function present(letter: DeadLetter): Record<string, unknown> {
  return {
    letter_id: letter.letterId,
    payment_id: letter.command?.paymentId ?? null,
    command: letter.command?.kind ?? null,
    reason: letter.reason,
    dead_lettered_at: timeOf(letter),
    // Of a command the payment says more.
    ...(letter.command === null ? { fields: letter.fields } : {})
  }
}

function timeOf({ deadLetteredAtMs }: DeadLetter): string | null {
  return Number.isFinite(deadLetteredAtMs) ? new Date(deadLetteredAtMs).toISOString() : null
}
