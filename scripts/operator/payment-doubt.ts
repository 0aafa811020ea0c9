/** `payment in-doubt`: what the alerts ManyPaymentsInDoubt and PaymentInDoubtForHours count, by name. */
import type { Command } from 'commander'
import { partitionOfPayment, paymentKeyOf } from '../../redis/keys.js'
import { listInDoubt } from '../../redis/operator/in-doubt.js'
import { type OperatorConnection, serviceNowMs } from './connection.js'
import { parseSpan } from './span.js'
import { table } from './table.js'
import type { Output, VerbMaker } from './verb.js'

/** As many as an operator calls the network about. */
const LISTED_MAX = 50

export function addInDoubt(noun: Command, verb: VerbMaker): void {
  const does = `Payments whose outcome the network is asked about, longest first, at most ${LISTED_MAX}.`
  verb<{ olderThan?: string }>(noun.command('in-doubt'), { does }, listed).option(
    '--older-than <span>',
    'only those in doubt for at least so long, such as 90m, 1h or 2d'
  )
}

async function listed(connection: OperatorConnection, { olderThan }: { olderThan?: string }): Promise<Output> {
  const ageMs = olderThan === undefined ? 0 : parseSpan(olderThan)
  const nowMs = await serviceNowMs(connection)
  const { redis, config, payments } = connection
  const found = await listInDoubt(redis, config.partitions, { untilMs: nowMs - ageMs, limit: LISTED_MAX })
  const rows = await Promise.all(
    found.payments.map(async ({ paymentId, sinceMs }) => {
      const payment = await payments.load(partitionOfPayment(paymentId), paymentKeyOf(paymentId))
      const reconciliation = payment?.progress.reconciliation
      return {
        payment_id: paymentId,
        status: payment?.progress.status ?? null,
        in_doubt_since: new Date(sinceMs).toISOString(),
        queries_sent: reconciliation?.attempts ?? null,
        next_query_at: reconciliation == null ? null : new Date(reconciliation.nextAtMs).toISOString()
      }
    })
  )
  const header = ['PAYMENT', 'STATUS', 'IN DOUBT SINCE', 'QUERIES', 'NEXT']
  const lines = rows.map(row => Object.values(row).map(cell => String(cell ?? '-')))
  const more = found.count > rows.length ? `\n\n${found.count} in all.` : ''
  return {
    json: { count: found.count, payments: rows },
    text: `${table(header, lines, 'No payment is in doubt.')}${more}`
  }
}
