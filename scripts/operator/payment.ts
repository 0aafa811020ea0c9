/** `payment show|history|attention|settle-attention|conclude`; `in-doubt` is in payment-doubt.ts */
import { Command } from 'commander'
import type { Payment, PaymentProgress } from '../../machines/model.js'
import { decide } from '../../machines/payment/decide.js'
import { partitionOfPayment, paymentKeyOf } from '../../redis/keys.js'
import { concludeOperation, listReviews, resolveReview, reviewReasonOf } from '../../redis/operator/review.js'
import { createPaymentStore } from '../../redis/payments/payments.js'
import { delay } from '../../runtime/delay.js'
import { isUuid } from '../../runtime/uuid.js'
import { UsageError } from '../command-line/usage-error.js'
import { type OperatorConnection, serviceNowMs } from './connection.js'
import { addInDoubt } from './payment-doubt.js'
import { addSearch } from './payment-search.js'
import { historyText, presentForOperators, showText } from './payment-text.js'
import { table } from './table.js'
import type { VerbMaker } from './verb.js'

/** A worker takes a payment off the list; with no worker running it takes until one starts. */
const SETTLE_WAIT_MS = 5_000
/** Longer than the question to the network that the worker of a payment in doubt may be waiting for. */
const CONCLUDE_WAIT_MS = 60_000
const POLL_MS = 50

export function paymentCommand(verb: VerbMaker): Command {
  const noun = new Command('payment').description('The life of a payment, and the payments that need a person.')
  for (const [name, does, text] of [
    ['show', 'A payment as it stands, then its life.', showText],
    ['history', 'The life of a payment, line by line.', historyText]
  ] as const) {
    verb(noun.command(name), { does, subject }, async (connection, _, given) => {
      const payment = await paymentOf(connection, idOf(given))
      const json = presentForOperators(payment)
      return { json: name === 'history' ? json['history'] : json, text: text(payment) }
    })
  }
  verb(noun.command('attention'), { does: 'Payments that need a person, and why.' }, async ({ redis, config }) => {
    const listed = await listReviews(redis, config.partitions)
    const rows = listed.map(({ paymentId, reason }) => [paymentId, reason, meaningOfReviewReason[reason]])
    return {
      json: listed.map(({ paymentId, reason }) => ({ payment_id: paymentId, reason })),
      text: table(['PAYMENT', 'REASON', 'MEANS'], rows, 'No payment needs a person.')
    }
  })
  verb(
    noun.command('settle-attention'),
    { does: 'Take a payment off that list after you have looked at it.', subject, change: 'can_be_undone' },
    async (connection, _, given) => {
      const id = idOf(given)
      await settle(connection, id)
      return { json: { payment_id: id, reviewReason: null }, text: `Payment ${id} is off the list.` }
    }
  )
  addSearch(noun, verb)
  addInDoubt(noun, verb)
  addConclusion(noun, verb)
  return noun
}

const subject = ['payment', 'id of the payment'] as const

function addConclusion(noun: Command, verb: VerbMaker): void {
  verb<{ booked?: boolean; notBooked?: boolean }>(
    noun.command('conclude').alias('conclude-refund'),
    {
      does: 'End an operation in doubt that the network does not tell of, as you have seen it at the acquirer.',
      subject,
      change: 'for_ever'
    },
    async (connection, { booked = false, notBooked = false }, given) => {
      const id = idOf(given)
      if (booked === notBooked) {
        throw new UsageError('say either --booked or --not-booked: the service cannot find out')
      }
      const { status, operation } = await conclude(connection, id, booked)
      return {
        json: { payment_id: id, status, operation: operation.state },
        text: `The ${operation.kind} of payment ${id} has ${operation.state}; the payment is ${status}.`
      }
    }
  )
    .option('--booked', 'the acquirer has booked the capture, cancellation or refund')
    .option('--not-booked', 'the acquirer has not booked it, and will not')
}

const meaningOfReviewReason = {
  unresolved_for_long: 'the network has not told the outcome for days; ask the acquirer',
  duplicate_sale: 'two sales stood under one order; the duplicate is voided, find out why',
  figures_differ: "our figures and the network's books differ; compare them",
  sale_after_failure: 'a sale turned up after the payment had failed; it is voided, find out why',
  notification_unconfirmed:
    'the record never showed what the network announced (a chargeback, a denied refund); ask the acquirer',
  poisoned: 'a command failed again and again; see `dead-letter list` and the log'
} as const

function idOf(given: string): string {
  const id = given.toLowerCase()
  if (!isUuid(id)) throw new UsageError(`"${id}" is not the id of a payment, which is a UUID`)
  return id
}

async function paymentOf({ redis, config }: OperatorConnection, id: string): Promise<Payment> {
  const partition = partitionOfPayment(id)
  const payment =
    partition < config.partitions ? await createPaymentStore(redis).load(partition, paymentKeyOf(id)) : null
  if (payment === null) throw new Error(`There is no payment ${id} in this installation.`)
  return payment
}

async function settle(connection: OperatorConnection, id: string): Promise<void> {
  await paymentOf(connection, id)
  if ((await reviewReasonOf(connection.redis, id)) === null) throw new Error(`Payment ${id} is not on the list.`)
  await resolveReview(connection.redis, id)
  const deadlineMs = performance.now() + SETTLE_WAIT_MS
  while ((await reviewReasonOf(connection.redis, id)) !== null) {
    if (performance.now() > deadlineMs) {
      throw new Error(`No worker took payment ${id} off the list within ${SETTLE_WAIT_MS} ms; one will when it runs.`)
    }
    await delay(POLL_MS)
  }
}

/** The payment after its operation has ended. */
async function conclude(connection: OperatorConnection, id: string, isBooked: boolean): Promise<PaymentProgress> {
  const payment = await paymentOf(connection, id)
  const { status, phase, operation } = payment.progress
  const isAuthorisation = status === 'unknown' || phase === 'watched'
  if (phase !== 'asking' && !isAuthorisation) throw new Error(`Payment ${id} is ${status}: nothing of it is in doubt.`)
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
  const deadlineMs = performance.now() + CONCLUDE_WAIT_MS
  for (;;) {
    const { progress: after } = await paymentOf(connection, id)
    if (after.status !== status || after.phase === 'settled') return after
    if (performance.now() > deadlineMs) {
      throw new Error(
        `No worker ended the ${operation.kind} of payment ${id} within ${CONCLUDE_WAIT_MS} ms; one will when it runs.`
      )
    }
    await delay(POLL_MS)
  }
}
