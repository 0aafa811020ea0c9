/** `payment in-doubt`: what the alerts ManyPaymentsInDoubt and PaymentInDoubtForHours count, by name. */
import type { Command } from 'commander'
import { partitionOfPayment, paymentKeyOf } from '../../redis/keys.js'
import { listInDoubt } from '../../redis/operator/in-doubt.js'
import { createPaymentStore } from '../../redis/payments/payments.js'
import type { ActionMaker } from './action.js'
import { serviceNowMs } from './connection.js'
import { parseSpan } from './span.js'
import { table } from './table.js'

/** As many as a person calls the network about. */
const LISTED_MAX = 50

export function addInDoubt(noun: Command, action: ActionMaker): void {
  noun
    .command('in-doubt')
    .description(`Payments whose outcome the network is asked about, longest first, at most ${LISTED_MAX}.`)
    .option('--older-than <span>', 'only those in doubt for at least so long, such as 90m, 1h or 2d')
    .option('--json', 'print JSON')
    .action(
      action<{ olderThan?: string }>(async (connection, { olderThan }) => {
        const ageMs = olderThan === undefined ? 0 : parseSpan(olderThan)
        const nowMs = await serviceNowMs(connection)
        const { redis, config } = connection
        const found = await listInDoubt(redis, config.partitions, { untilMs: nowMs - ageMs, limit: LISTED_MAX })
        const store = createPaymentStore(redis)
        const rows = await Promise.all(
          found.payments.map(async ({ paymentId, sinceMs }) => {
            const payment = await store.load(partitionOfPayment(paymentId), paymentKeyOf(paymentId))
            const reconciliation = payment?.progress.reconciliation
            return {
              payment_id: paymentId,
              status: payment?.progress.status ?? null,
              in_doubt_since: new Date(sinceMs).toISOString(),
              questions_asked: reconciliation?.attempts ?? null,
              next_question_at: reconciliation == null ? null : new Date(reconciliation.nextAtMs).toISOString()
            }
          })
        )
        const header = ['PAYMENT', 'STATUS', 'IN DOUBT SINCE', 'QUESTIONS', 'NEXT']
        const lines = rows.map(row => Object.values(row).map(cell => String(cell ?? '-')))
        const listed = table(header, lines, 'No payment is in doubt.')
        const more = found.count > rows.length ? `\n\n${found.count} in all.` : ''
        return { json: { count: found.count, payments: rows }, text: `${listed}${more}` }
      })
    )
}
