/**
 * `payment settle-attention|conclude|erase-buyer`. Operators write no payment: they send a command, and wait until a worker
 * has executed it.
 */
import type { Command } from 'commander'
import type { Payment, PaymentProgress } from '../../machines/model.js'
import { decide } from '../../machines/payment/decide.js'
import { canEraseBuyer, isBuyerErased } from '../../machines/payment/erasure.js'
import { vouchedPolicy } from '../../machines/payment/policy.js'
import { listDeadLetters } from '../../redis/commands/dead-letters.js'
import { concludeOperation, requestErasure, resolveReview, reviewReasonOf } from '../../redis/operator/review.js'
import { delay } from '../../runtime/delay.js'
import { UsageError } from '../command-line/usage-error.js'
import { type OperatorConnection, PAYMENT, paymentOf, serviceNowMs } from './connection.js'
import { isoTime } from './output.js'
import type { Output, VerbMaker } from './verb.js'

/** A payment is locked while a worker queries the network about it. */
const QUERY_WAIT_MS = 60_000
const POLL_MS = 50

export function addPaymentChanges(noun: Command, verb: VerbMaker): void {
  verb(
    noun.command('settle-attention'),
    {
      does: 'Take a payment off the list of manual review, after you have looked at it. What is in doubt is queried, and may be listed again.',
      subject: PAYMENT,
      change: 'can_be_undone'
    },
    (connection, _, id) => settle(connection, id)
  )
  verb<ConcludeOptions>(
    noun.command('conclude').alias('conclude-refund'),
    {
      does: 'End an operation in doubt whose outcome the network does not report, by what the acquirer says of it.',
      subject: PAYMENT,
      change: 'for_ever'
    },
    conclude
  )
    .option('--booked', 'the acquirer has booked it as requested')
    .option('--not-booked', 'the acquirer has not booked it. Nothing more is sent, from now on')
  verb(
    noun.command('erase-buyer'),
    {
      does: 'Erase name, e-mail address and metadata of a payment (LGPD). Amounts, times and references stay, for accounting.',
      subject: PAYMENT,
      change: 'for_ever'
    },
    (connection, _, id) => erase(connection, id)
  )
}

async function settle(connection: OperatorConnection, given: string): Promise<Output> {
  const before = await paymentOf(connection, given)
  const { id } = before.terms
  if ((await reviewReasonOf(connection.redis, id)) === null) {
    throw new Error(
      `Payment ${id} is not listed for manual review. Nothing was changed. \`payment attention\` shows the list.`
    )
  }
  // What is in doubt is queried at once, and the answer is a change of its own.
  const isQueried = before.progress.reconciliation !== null && before.progress.phase !== 'sending'
  const changes = isQueried ? 2 : 1
  await resolveReview(connection.redis, id)
  const { progress } = await untilDone(`taken payment ${id} off the list`, async () => {
    const after = await paymentOf(connection, id)
    return after.version >= before.version + changes ? after : null
  })
  return { json: { payment_id: id, review_reason: progress.reviewReason }, text: settledText(id, progress) }
}

function settledText(id: string, { reviewReason, reconciliation, operation }: PaymentProgress): string {
  if (reconciliation === null) {
    return `Payment ${id} is ${reviewReason === null ? 'off the list' : `listed again: ${reviewReason}`}.`
  }
  const place = reviewReason === null ? 'off the list' : `listed again (${reviewReason})`
  return `The network was queried. The ${operation.kind} of payment ${id} is still in doubt, and the payment is ${place}. Next query: ${isoTime(reconciliation.nextAtMs)}. \`payment conclude\` ends it.`
}

interface ConcludeOptions {
  readonly booked?: boolean
  readonly notBooked?: boolean
}

async function conclude(
  connection: OperatorConnection,
  { booked = false, notBooked = false }: ConcludeOptions,
  given: string
): Promise<Output> {
  if (booked === notBooked) {
    throw new UsageError('give either --booked or --not-booked, as the acquirer says. Nothing was changed.')
  }
  const payment = await paymentOf(connection, given)
  const { id } = payment.terms
  await requireConcludable(connection, payment, booked)
  await concludeOperation(connection.redis, id, booked)
  const { progress } = await untilDone(`taken the conclusion about payment ${id}`, async () => {
    const after = await paymentOf(connection, id)
    const { reconciliation } = after.progress
    return reconciliation === null || reconciliation.concluded !== null ? after : null
  })
  const { operation, reconciliation, status, phase } = progress
  const atMs = reconciliation === null ? null : reconciliation.sinceMs + connection.config.notFoundHorizonMs
  const isRelease = phase === 'releasing' || phase === 'released'
  const what = isRelease ? 'release of the hold' : operation.kind
  const end = isRelease ? 'ended' : operation.state
  return {
    json: { payment_id: id, status, operation: operation.state, effective_at: isoTime(atMs) },
    text:
      atMs === null
        ? `The ${what} of payment ${id} has ${end}; the payment is ${status}.`
        : `Noted. Nothing more is sent for the ${what} of payment ${id}. It ends as ${booked ? 'booked' : 'not booked'} at ${isoTime(atMs)}, when no request of it can arrive any more, unless the acquirer's record decides before.`
  }
}

async function requireConcludable(connection: OperatorConnection, payment: Payment, isBooked: boolean): Promise<void> {
  const { id } = payment.terms
  const { status, phase, operation, reconciliation, references } = payment.progress
  if (reconciliation === null || phase === 'sending') {
    throw new Error(`Payment ${id} is ${status}: no operation of it is in doubt. Nothing was changed.`)
  }
  const isSaleless = phase === 'watched' || (status === 'unknown' && references.saleId === null)
  if (isSaleless && isBooked) {
    throw new Error(
      `The service knows no sale of payment ${id}, and could neither capture nor refund it. Have the acquirer void the sale, then say --not-booked. Nothing was changed.`
    )
  }
  // The chart decides. It is asked here too, because a worker could not report why it refuses the command.
  const event = { type: 'OPERATION_CONCLUDED', isBooked, nowMs: await serviceNowMs(connection) } as const
  if (decide(payment, event, vouchedPolicy(connection.config)).kind === 'refused') {
    throw new Error(
      `The ${operation.kind} of payment ${id} does not take this in its state. Nothing was changed. Look at it with payment show ${id}.`
    )
  }
}

async function erase(connection: OperatorConnection, given: string): Promise<Output> {
  const payment = await paymentOf(connection, given)
  const { id, card } = payment.terms
  const isErased = isBuyerErased(payment.terms)
  if (!isErased) {
    if (!canEraseBuyer(payment)) {
      throw new Error(
        `An operation of payment ${id} is in progress. Nothing was erased. Repeat this when it has ended.`
      )
    }
    await requireNoLetter(connection, id)
    await requestErasure(connection.redis, id)
    await untilDone(`erased the buyer of payment ${id}`, async () =>
      isBuyerErased((await paymentOf(connection, id)).terms) ? true : null
    )
  }
  const hint = card.cardId === null ? '' : ` Its stored card ${card.cardId} stays until the merchant erases it.`
  return {
    json: { payment_id: id, buyer_erased: true, stored_card: card.cardId },
    text: `The buyer of payment ${id} ${isErased ? 'was erased before' : 'is erased'}.${hint}`
  }
}

/** A dead letter of a create still holds all that the merchant sent about the buyer. */
async function requireNoLetter({ redis, config }: OperatorConnection, id: string): Promise<void> {
  const letters = await listDeadLetters(redis, config.partitions)
  const letter = letters.find(({ command }) => command?.paymentId === id && command.kind === 'create')
  if (letter === undefined) return
  throw new Error(
    `The dead letter ${letter.letterId} has the buyer of payment ${id}. Nothing was erased. Replay the letter first: dead-letter replay ${letter.letterId}.`
  )
}

/** Looks until `look` sees the result. Throws when no worker has `done` it in time: the command stays in its stream. */
async function untilDone<T>(done: string, look: () => Promise<T | null>): Promise<T> {
  const deadlineMs = performance.now() + QUERY_WAIT_MS
  for (;;) {
    const seen = await look()
    if (seen !== null) return seen
    if (performance.now() > deadlineMs) {
      throw new Error(
        `No worker has ${done} within ${QUERY_WAIT_MS / 1_000} s. The command stays queued. See \`queue status\` for live workers, then look at the payment again.`
      )
    }
    await delay(POLL_MS)
  }
}
