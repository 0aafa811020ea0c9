/** `dead-letter list|replay|discard` */
import type { Command } from 'commander'
import {
  type DeadLetter,
  discardDeadLetter,
  listDeadLetters,
  replayDeadLetter,
  replayDeadLetters
} from '../../redis/commands/dead-letters.js'
import { commandKinds } from '../../redis/commands/stored-command.js'
import { UsageError } from '../command-line/usage-error.js'
import { oneLine, oneOf, time } from '../command-line/values.js'
import type { OperatorConnection } from './connection.js'
import { type Field, isoTime, jsonOf, listing } from './output.js'
import type { Output, VerbMaker } from './verb.js'

const REASON_LENGTH_MAX = 500

export function deadLetterCommand(program: Command, verb: VerbMaker): void {
  const noun = program.command('dead-letter').description('Commands without a result after five deliveries.')
  const subject = ['letter', 'id of the dead letter, see `dead-letter list`'] as const
  verb(noun.command('list'), { does: 'All of them, with the reason.' }, async ({ redis, config }) =>
    listing(await listDeadLetters(redis, config.partitions), FIELDS, 'There are no dead letters.')
  )
  verb<ReplayOptions>(
    noun.command('replay'),
    {
      does: 'Give one, or all that fit, back to the workers. A call that it may have sent is reconciled, never sent again.',
      subject,
      isSubjectOptional: true,
      change: 'can_be_undone'
    },
    replay
  )
    .option('--all', 'all that are commands')
    .option('--command <kind>', 'all of this command, such as capture or wake', oneOf(commandKinds))
    .option('--because <text>', 'all whose reason has this text', oneLine(REASON_LENGTH_MAX))
    .option('--since <time>', 'all that were put aside since this time (ISO 8601)', time)
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

interface ReplayOptions {
  readonly all?: boolean
  readonly command?: string
  readonly because?: string
  readonly since?: number
}

async function replay(
  { redis, config }: OperatorConnection,
  { all = false, command: kind, because: reason, since: sinceMs }: ReplayOptions,
  letterId: string
): Promise<Output> {
  const filters = [kind, reason, sinceMs].filter(given => given !== undefined)
  if ((letterId === '') === (filters.length === 0 && !all)) {
    throw new UsageError('name a dead letter, or give --all, --command, --because or --since. Nothing was changed.')
  }
  if (letterId !== '') {
    const letter = await replayDeadLetter(redis, letterId)
    return {
      json: jsonOf(FIELDS, letter),
      text: `The ${letter.command?.kind} of payment ${letter.command?.paymentId} is in the queue of the workers again.`
    }
  }
  const replayed = await replayDeadLetters(redis, config.partitions, {
    ...(kind !== undefined && { kind }),
    ...(reason !== undefined && { reason }),
    ...(sinceMs !== undefined && { sinceMs })
  })
  const left = (await listDeadLetters(redis, config.partitions)).length
  return {
    json: { replayed, left },
    text: `${replayed} command${replayed === 1 ? ' is' : 's are'} in the queue of the workers again. ${left} dead letters are left.`
  }
}

const FIELDS: readonly Field<DeadLetter>[] = [
  ['letter_id', ({ letterId }) => letterId],
  ['dead_lettered_at', ({ deadLetteredAtMs: ms }) => (Number.isFinite(ms) ? isoTime(ms) : null)],
  ['payment_id', ({ command }) => command?.paymentId ?? null],
  ['command', ({ command }) => command?.kind ?? null],
  ['reason', ({ reason }) => reason],
  // The payment of a command shows more than its fields. Undefined is left out of JSON.
  ['fields', ({ command, fields }) => (command === null ? fields : undefined), 'json']
]
