/** `payment show|history|attention|settle-attention|conclude`; the other verbs have files of their own. */
import { Command } from 'commander'
import type { Payment } from '../../machines/model.js'
import { decide } from '../../machines/payment/decide.js'
import { concludeOperation, listReviews, resolveReview, reviewReasonOf } from '../../redis/operator/review.js'
import { UsageError } from '../command-line/usage-error.js'
import { type OperatorConnection, serviceNowMs } from './connection.js'
import { addInDoubt } from './payment-doubt.js'
import { addErasure } from './payment-erasure.js'
import { PAYMENT, paymentOf } from './payment-of.js'
import { addSearch } from './payment-search.js'
import { historyText, presentForOperators, showText } from './payment-text.js'
import { table } from './table.js'
import type { VerbMaker } from './verb.js'
import { untilDone } from './worker-wait.js'

/** A worker takes a payment off the list; with no worker running it takes until one starts. */
const SETTLE_WAIT_MS = 5_000
/** Longer than the query that the worker of a payment in doubt may be waiting for. */
const CONCLUDE_WAIT_MS = 60_000

export function paymentCommand(verb: VerbMaker): Command {
  const noun = new Command('payment').description('The life of a payment, and the payments that need manual review.')
  for (const [name, does, text] of [
    ['show', 'A payment as it stands, then its life.', showText],
    ['history', 'The life of a payment, line by line.', historyText]
  ] as const) {
    verb(noun.command(name), { does, subject: PAYMENT }, async (connection, _, given) => {
      const payment = await paymentOf(connection, given)
      const json = presentForOperators(payment)
      return { json: name === 'history' ? json['history'] : json, text: text(payment) }
    })
  }
  verb(noun.command('attention'), { does: 'Payments that need manual review, and why.' }, async ({ redis, config }) => {
    const listed = await listReviews(redis, config.partitions)
    const rows = listed.map(({ paymentId, reason }) => [paymentId, reason, meaningOfReviewReason[reason]])
    return {
      json: listed.map(({ paymentId, reason }) => ({ payment_id: paymentId, reason })),
      text: table(['PAYMENT', 'REASON', 'MEANS'], rows, 'No payment needs manual review.')
    }
  })
  verb(
    noun.command('settle-attention'),
    { does: 'Take a payment off that list after you have looked at it.', subject: PAYMENT, change: 'can_be_undone' },
    async (connection, _, given) => {
      const id = await settle(connection, given)
      return { json: { payment_id: id, reviewReason: null }, text: `Payment ${id} is off the list.` }
    }
  )
  addSearch(noun, verb)
  addInDoubt(noun, verb)
  addConclusion(noun, verb)
  addErasure(noun, verb)
  return noun
}

function addConclusion(noun: Command, verb: VerbMaker): void {
  verb<{ booked?: boolean; notBooked?: boolean }>(
    noun.command('conclude').alias('conclude-refund'),
    {
      does: 'End an operation in doubt that the network does not tell of, as you have seen it at the acquirer.',
      subject: PAYMENT,
      change: 'for_ever'
    },
    async (connection, { booked = false, notBooked = false }, given) => {
      if (booked === notBooked) {
        throw new UsageError('say either --booked or --not-booked: the service cannot find out')
      }
      const { terms, progress } = await conclude(connection, given, booked)
      const { status, operation } = progress
      return {
        json: { payment_id: terms.id, status, operation: operation.state },
        text: `The ${operation.kind} of payment ${terms.id} has ${operation.state}; the payment is ${status}.`
      }
    }
  )
    .option('--booked', 'the acquirer has booked the capture, cancellation or refund')
    .option('--not-booked', 'the acquirer has not booked it, and will not')
}

const meaningOfReviewReason = {
  unresolved_for_long: 'the network has not given the outcome for days; ask the acquirer',
  duplicate_sale: 'two sales stood under one order; the duplicate is voided, find out why',
  figures_differ: "our figures and the acquirer's record differ; compare them",
  sale_after_failure: 'a sale turned up after the payment had failed; it is voided, find out why',
  notification_unconfirmed:
    'the record never showed what the network reported (a chargeback, a denied refund); ask the acquirer',
  poisoned: 'a command failed again and again; see `dead-letter list` and the log'
} as const

async function settle(connection: OperatorConnection, given: string): Promise<string> {
  const { id } = (await paymentOf(connection, given)).terms
  const isListed = async (): Promise<boolean> => (await reviewReasonOf(connection.redis, id)) !== null
  if (!(await isListed())) throw new Error(`Payment ${id} is not on the list.`)
  await resolveReview(connection.redis, id)
  return await untilDone(`took payment ${id} off the list`, SETTLE_WAIT_MS, async () =>
    (await isListed()) ? null : id
  )
}

/** The payment after its operation has ended. */
async function conclude(connection: OperatorConnection, given: string, isBooked: boolean): Promise<Payment> {
  const payment = await paymentOf(connection, given)
  const { id } = payment.terms
  const { status, phase, operation } = payment.progress
  const isAuthorisation = status === 'unknown' || phase === 'watched'
  if (phase !== 'reconciling' && !isAuthorisation)
    throw new Error(`Payment ${id} is ${status}: nothing of it is in doubt.`)
  if (isAuthorisation && isBooked) {
    throw new Error(
      `The service knows no sale of payment ${id}, and could neither capture nor refund it. Have the acquirer void it, then say --not-booked.`
    )
  }
  // The chart decides; asked here as well, because a worker has no reply channel for its reason.
  const event = { type: 'OPERATION_CONCLUDED', isBooked, nowMs: await serviceNowMs(connection) } as const
  if (decide(payment, event, connection.config).kind === 'refused') {
    throw new Error(
      `The ${operation.kind} of payment ${id} may still arrive at the network. Look again when NOT_FOUND_HORIZON_MS is over.`
    )
  }
  await concludeOperation(connection.redis, id, isBooked)
  return await untilDone(`ended the ${operation.kind} of payment ${id}`, CONCLUDE_WAIT_MS, async () => {
    const after = await paymentOf(connection, id)
    return after.progress.status !== status || after.progress.phase === 'settled' ? after : null
  })
}
