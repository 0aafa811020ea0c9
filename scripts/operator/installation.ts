/** `installation show|accept-restored|change-acquirer` */
import type { Command } from 'commander'
import { forgetAcquirer } from '../../redis/installation/acquirer-record.js'
import { timeOf, UNVOUCHED, wentBackSentence } from '../../redis/installation/data-sentences.js'
import type { Missing } from '../../redis/installation/epochs.js'
import { acceptRestored, type PartitionStanding, standingsOf } from '../../redis/operator/restored-data.js'
import type { OperatorConnection } from './connection.js'
import type { Output, VerbMaker } from './verb.js'

export function installationCommand(program: Command, verb: VerbMaker): void {
  const noun = program.command('installation').description('The data of this installation.')
  verb(
    noun.command('show'),
    { does: 'Whether the data has all that was acknowledged, and what is missing when it came back older.' },
    show
  )
  verb(
    noun.command('accept-restored'),
    {
      does: 'Let money move again on data that came back older, such as a restored backup. Open payments are compared with the card network first.',
      change: 'for_ever'
    },
    accept
  )
  verb(
    noun.command('change-acquirer'),
    {
      does: 'Let the next `payments` that starts record another account or address of the acquirer. Stop all `payments` before.',
      change: 'for_ever'
    },
    async ({ redis }) => {
      if (!(await forgetAcquirer(redis))) throw new Error('No acquirer is recorded. Nothing was changed.')
      return {
        json: { forgotten: true },
        text: 'The next `payments` that starts records its own account and addresses.'
      }
    }
  )
}

async function show({ redis, config }: OperatorConnection): Promise<Output> {
  const standings = await standingsOf(redis, config.partitions)
  const missing = missingIn(standings)
  const unvouched = standings.reduce((sum, part) => sum + part.unvouched, 0)
  const isUnvouched = standings.some(({ vouch }) => vouch?.standing === 'unvouched')
  const standing = missing.length > 0 ? 'went_back' : isUnvouched ? 'unvouched' : 'vouched'
  const texts = {
    went_back: () => wentBackSentence(missing),
    unvouched: () => `${UNVOUCHED} To be compared: ${unvouched} payments.`,
    vouched: () => 'The data has all that was acknowledged, as far as anything remembers.'
  }
  return { json: { standing, ...summaryOf(missing), to_compare: unvouched }, text: texts[standing]() }
}

async function accept({ redis, config }: OperatorConnection): Promise<Output> {
  const standings = await standingsOf(redis, config.partitions)
  const missing = missingIn(standings)
  if (missing.length === 0) throw new Error('Nothing is missing in this data, so there is nothing to accept.')
  const back = standings.filter(({ vouch }) => vouch?.standing === 'went_back')
  for (const { partition } of back) await acceptRestored(redis, partition, config.environment)
  const summary = summaryOf(missing)
  const text = [
    `Accepted: ${summary.missing_commits} commits between ${summary.from} and ${summary.to} stay missing, in ${back.length} of ${config.partitions} partitions.`,
    'Money moves again, with care: open payments are compared with the card network now, and any other one before its next capture, cancellation or refund.',
    'Payments that were accepted in that time are not in this data. The service cannot see a merchant’s repeat of such a request: it is charged as a new one. So get the acquirer’s list of the sales that were made or changed in that time, and go through it as docs/OPERATIONS.md says (Redis, Restore).'
  ]
  return { json: { ...summary, partitions: back.map(({ partition }) => partition) }, text: text.join('\n') }
}

function missingIn(standings: readonly PartitionStanding[]): Missing[] {
  return standings.flatMap(({ vouch }) => vouch?.missing ?? [])
}

function summaryOf(missing: readonly Missing[]): { missing_commits: number; from: string | null; to: string | null } {
  if (missing.length === 0) return { missing_commits: 0, from: null, to: null }
  return { missing_commits: missing.reduce((sum, { commits }) => sum + commits, 0), ...timeOf(missing) }
}
