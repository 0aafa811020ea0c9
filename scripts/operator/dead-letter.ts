/** `dead-letter list|replay|discard` */
import { Command } from 'commander'
import {
  type DeadLetter,
  discardDeadLetter,
  listDeadLetters,
  replayDeadLetter
} from '../../redis/commands/dead-letters.js'
import { type ActionMaker, subjectOf } from './action.js'
import { table } from './table.js'

export function deadLetterCommand(action: ActionMaker): Command {
  const noun = new Command('dead-letter').description('Commands that failed again and again and were put aside.')
  noun
    .command('list')
    .description('All of them, with the reason.')
    .option('--json', 'print JSON')
    .action(
      action(async ({ redis, config }) => {
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
    )
  noun
    .command('replay')
    .description('Give one back to the workers. What it may have done is asked about, never done again.')
    .argument('[letter]', 'its first column in `dead-letter list`')
    .option('--letter <id>', 'the same, as an option')
    .option('--json', 'print JSON')
    .action(
      action<{ letter?: string }>(async ({ redis }, options, args) => {
        const letter = await replayDeadLetter(redis, subjectOf(args, options.letter, 'letter'))
        return {
          json: present(letter),
          text: `The ${letter.command?.kind} of payment ${letter.command?.paymentId} is with the workers again.`
        }
      })
    )
  noun
    .command('discard')
    .description('Remove one that is not a command, and so can not be replayed. It is printed a last time.')
    .argument('[letter]', 'its first column in `dead-letter list`')
    .option('--letter <id>', 'the same, as an option')
    .option('--json', 'print JSON')
    .action(
      action<{ letter?: string }>(async ({ redis }, options, args) => {
        const letter = await discardDeadLetter(redis, subjectOf(args, options.letter, 'letter'))
        return {
          json: present(letter),
          text: `Letter ${letter.letterId} is removed. It held ${JSON.stringify(letter.fields)}.`
        }
      })
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
