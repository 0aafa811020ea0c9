/** `payment show|history|attention|in-doubt`; the other verbs are in payment-search.ts and payment-changes.ts. */
import type { Command } from 'commander'
import type { Payment } from '../../machines/model.js'
import { partitionOfPayment, paymentKeyOf } from '../../redis/keys.js'
import { type ListedPayment, listInDoubt, listReviews, type PaymentInDoubt } from '../../redis/operator/review.js'
import { type OperatorConnection, PAYMENT, paymentOf, serviceNowMs } from './connection.js'
import { type Field, isoTime, listing } from './output.js'
import { addPaymentChanges } from './payment-changes.js'
import { addSearch } from './payment-search.js'
import { historyText, presentForOperators, showText } from './payment-text.js'
import { parseSpan } from './periods.js'
import { whatHappened } from './review-advice.js'
import type { Output, VerbMaker } from './verb.js'

/** As many as an operator calls the network about. */
const IN_DOUBT_MAX = 50

export function paymentCommand(program: Command, verb: VerbMaker): void {
  const noun = program
    .command('payment')
    .description('The life of a payment, and the payments that need manual review.')
  for (const [name, does, text] of [
    ['show', 'A payment: its state, its refunds and its history.', showText],
    ['history', 'The history of a payment, one event a line.', historyText]
  ] as const) {
    verb(noun.command(name), { does, subject: PAYMENT }, async (connection, _, given) => {
      const payment = await paymentOf(connection, given)
      const json = presentForOperators(payment)
      return { json: name === 'history' ? json['history'] : json, text: text(payment) }
    })
  }
  verb(noun.command('attention'), { does: 'Payments that need manual review, and why.' }, async ({ redis, config }) => {
    const listed = await listReviews(redis, config.partitions)
    const { json, text } = listing(listed, REVIEW_FIELDS, 'No payment needs manual review.')
    const hint = listed.length === 0 ? '' : '\n\n`payment show` says what to look at, and which command ends it.'
    return { json, text: `${text}${hint}` }
  })
  addSearch(noun, verb)
  verb<{ olderThan?: number }>(
    noun.command('in-doubt'),
    { does: `Payments in doubt, which are being reconciled: longest first, at most ${IN_DOUBT_MAX}.` },
    inDoubt
  ).option('--older-than <span>', 'only those in doubt for at least so long, such as 90m, 1h or 2d', parseSpan)
  addPaymentChanges(noun, verb)
}

const REVIEW_FIELDS: readonly Field<ListedPayment>[] = [
  ['payment_id', ({ paymentId }) => paymentId],
  ['reason', ({ reason }) => reason],
  ['means', ({ reason }) => whatHappened(reason)]
]

/** What the alerts NetworkAnswersBadly and PaymentsNeedOperator count, by name. */
async function inDoubt(connection: OperatorConnection, { olderThan: ageMs }: { olderThan?: number }): Promise<Output> {
  const { redis, config, payments } = connection
  // Without an age also those whose doubt began while the test clock was ahead.
  const untilMs = ageMs === undefined ? Number.MAX_SAFE_INTEGER : (await serviceNowMs(connection)) - ageMs
  const found = await listInDoubt(redis, config.partitions, { untilMs, limit: IN_DOUBT_MAX })
  const rows = await Promise.all(
    found.payments.map(async ({ paymentId, sinceMs }) => {
      const payment = await payments.load(partitionOfPayment(paymentId), paymentKeyOf(paymentId))
      return { paymentId, sinceMs, progress: payment?.progress }
    })
  )
  const { json, text } = listing(rows, IN_DOUBT_FIELDS, 'No payment is in doubt.')
  const more = found.count > rows.length ? `\n\n${found.count} in all.` : ''
  return { json: { count: found.count, payments: json }, text: `${text}${more}` }
}

const IN_DOUBT_FIELDS: readonly Field<PaymentInDoubt & { readonly progress: Payment['progress'] | undefined }>[] = [
  ['payment_id', ({ paymentId }) => paymentId],
  ['status', ({ progress }) => progress?.status ?? null],
  ['in_doubt_since', ({ sinceMs }) => isoTime(sinceMs)],
  ['queries_sent', ({ progress }) => progress?.reconciliation?.attempts ?? null],
  ['next_query_at', ({ progress }) => isoTime(progress?.reconciliation?.nextAtMs ?? null)]
]
