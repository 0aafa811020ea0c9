/** The payments of a chaos run whose acquirer contradicts itself: the audit compares each with the acquirer's ledger. */
import { isOpen, type Payment } from '../../machines/model.js'
import { orderIdOf, paymentIdOf } from '../../machines/network.js'
import { connect, disconnect, type Redis } from '../../redis/connection/connections.js'
import { keys, partitionOfPayment, paymentKeyOf } from '../../redis/keys.js'
import { reviewReasonOf } from '../../redis/operator/review.js'
import { decodePayment } from '../../redis/payments/payment-record.js'
import { delay } from '../../runtime/delay.js'
import { createLogger } from '../../runtime/log.js'
import { auditEnd } from '../simulation/audit-contrary.js'
import type { Books } from '../simulation/contrary-books.js'
import { auditEvents, type Findings, groupBy } from './audit.js'
import type { ChaosClient } from './client.js'
import type { ContraryBooks, ContraryThread } from './contrary-thread.js'
import { advance } from './earlier-payments.js'
import type { ChaosReceiver } from './receiver.js'
import type { RequestRecord } from './record.js'

/** All sales of this amount go to the contrary acquirer. */
export const CONTRARY_CENTS = 10_020
/** One payment in so many. */
export const CONTRARY_EVERY = 5

/** What the stories of the clients may take after the trouble. What is open then is in doubt, and may be for days. */
const ANSWERED_WITHIN_MS = 15_000
/** The first makes all doubts older than the three days after which they are listed; the others, what was retried then. */
const ADVANCES = ['73h', '1h', '1h', '1h']
/** After an advance, looks are due: they are paced, and the horizon of what was retried passes in real time. */
const SETTLED_WITHIN_MS = 30_000
/** What is not handled by then is put off by the service itself, such as a notification about a sale that no query finds. */
const HANDLED_WITHIN_MS = 45_000
const DELIVERED_WITHIN_MS = 180_000
const POLL_MS = 500

export interface ContraryOutcome {
  readonly payments: number
  /** In manual review. */
  readonly listed: number
  readonly sales: number
  readonly deviations: number
}

/** One payment as Redis has it in the end. */
interface EndedPayment {
  readonly payment: Payment
  readonly isListed: boolean
}

export interface ContraryStage {
  readonly client: ChaosClient
  readonly receiver: ChaosReceiver
  readonly redisUrl: string
  readonly dataDir: string
  readonly contrary: Pick<ContraryThread, 'books' | 'whileQuiet'>
}

/** Ends the client, lets three days pass at the service, and adds what the audit finds to `findings`. */
export async function auditContraryPayments(stage: ContraryStage, findings: Findings): Promise<ContraryOutcome> {
  const redis = await connect(stage.redisUrl, 'commands', createLogger('operator', 'silent'), 'REDIS_URL')
  try {
    return await auditAll(stage, redis, findings)
  } finally {
    await disconnect(redis)
  }
}

async function auditAll(
  { client, receiver, dataDir, contrary }: ContraryStage,
  redis: Redis,
  findings: Findings
): Promise<ContraryOutcome> {
  await client.finish(ANSWERED_WITHIN_MS)
  const ids = new Set(client.records.flatMap(({ paymentIds }) => [...paymentIds]))
  for (const span of ADVANCES) {
    await contrary.whileQuiet(async () => {
      await untilHandled(redis, await contrary.books())
      await advance(dataDir, span)
    })
    await untilAll(() => readAll(redis, ids), isSettled, SETTLED_WITHIN_MS)
    await untilHandled(redis, await contrary.books())
    if ((await readAll(redis, ids)).every(isSettled)) break
  }
  // Nothing is booked between the two: what is listed is still queried, and may end at any time.
  const { ended, books } = await contrary.whileQuiet(async () => ({
    ended: await untilAll(() => readAll(redis, ids), isToldBy(receiver), DELIVERED_WITHIN_MS),
    books: await contrary.books()
  }))
  auditContraryEnd(books, ended, client.records, findings)
  for (const { payment } of ended) {
    const { id } = payment.terms
    auditEvents({ id, status: payment.progress.status }, receiver.events.get(id) ?? [], findings)
  }
  return {
    payments: ids.size,
    listed: ended.filter(({ isListed }) => isListed).length,
    sales: books.sales.size,
    deviations: books.deviations.length
  }
}

/** What the ledger, the payments and the client's records must agree on. */
function auditContraryEnd(
  books: ContraryBooks,
  ended: readonly EndedPayment[],
  records: readonly RequestRecord[],
  findings: Findings
): void {
  const orders = groupBy([...books.sales.values()], ({ orderId }) => [orderId])
  const acquirer: Books = { ...books, ofOrder: orderId => orders.get(orderId) ?? [] }
  const asked = records.flatMap(({ kind, amountCents, paymentIds }) =>
    [...paymentIds].map(paymentId => ({ kind, amountCents, paymentId }))
  )
  for (const { key, paymentIds } of records) {
    if (paymentIds.size > 1) findings.duplicates.push(`${key}: ${paymentIds.size} payments`)
  }
  for (const one of ended) {
    const { payment, isListed } = one
    const { id } = payment.terms
    if (!isSettled(one)) findings.stuck.push(`${id}: ${payment.progress.status}, and not listed after three days`)
    const listed = isListed ? [{ fromMs: 0, untilMs: null }] : []
    const kinds = [...new Set(acquirer.ofOrder(orderIdOf(id)).flatMap(sale => sale.kinds))]
    const events = payment.history.map(({ event, detail }) => (detail === null ? event : `${event} (${detail})`))
    const because = kinds.length === 0 ? '' : `; its acquirer ${kinds.join(', ')}; its history: ${events.join(', ')}`
    const wrong = auditEnd({ acquirer, records: asked }, { id, operations: new Map(), listed, last: payment })
    findings.wrong.push(...wrong.map(line => line + because))
  }
  const known = new Set(ended.map(({ payment }) => orderIdOf(payment.terms.id)))
  for (const order of orders.keys()) {
    if (!known.has(order)) findings.wrong.push(`${order}: the contrary acquirer knows it, and no client does`)
  }
}

/** An operator has to look at it, or nothing is open and no look is due. */
function isSettled({ payment: { progress }, isListed }: EndedPayment): boolean {
  const { operation, reconciliation, notification } = progress
  return isListed || (!isOpen(operation) && reconciliation === null && notification === null)
}

function isToldBy({ events }: ChaosReceiver): (ended: EndedPayment) => boolean {
  return ({ payment: { terms, progress } }) => events.get(terms.id)?.at(-1)?.status === progress.status
}

/** Resolves when no notification about these sales waits, and no command of their payments, or after `HANDLED_WITHIN_MS`. */
async function untilHandled(redis: Redis, { sales }: ContraryBooks): Promise<void> {
  const paymentIds = [...sales.values()].flatMap(({ orderId }) => paymentIdOf(orderId) ?? [])
  const streams = new Set(paymentIds.map(id => keys.commands(partitionOfPayment(id))))
  const countWaiting = async (): Promise<number[]> => {
    const waiting = await redis.zrange(keys.notifications(), '0', '-1')
    const own = waiting.filter(text => [...sales.keys()].some(saleId => text.includes(saleId)))
    const lengths = await Promise.all([...streams].map(stream => redis.xlen(stream)))
    return [own.length, ...lengths]
  }
  await untilAll(countWaiting, count => count === 0, HANDLED_WITHIN_MS)
}

/** What `read` gives as soon as all of it `isDone`, or after `maxMs`. */
async function untilAll<T>(read: () => Promise<T[]>, isDone: (one: T) => boolean, maxMs: number): Promise<T[]> {
  const deadlineMs = performance.now() + maxMs
  for (;;) {
    const all = await read()
    if (all.every(isDone) || performance.now() > deadlineMs) return all
    await delay(POLL_MS)
  }
}

async function readAll(redis: Redis, ids: ReadonlySet<string>): Promise<EndedPayment[]> {
  const all = await Promise.all(
    [...ids].map(async id => {
      const paymentKey = paymentKeyOf(id)
      const [text, reason] = await Promise.all([
        redis.get(keys.payment(partitionOfPayment(id), paymentKey)),
        reviewReasonOf(redis, id)
      ])
      return text === null ? [] : { payment: decodePayment(text, paymentKey), isListed: reason !== null }
    })
  )
  return all.flat()
}
