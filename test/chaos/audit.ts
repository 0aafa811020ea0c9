/** The independent audit of a chaos run: what the clients, the service and the network hold must agree. */
import type { Payment } from '../../client/index.js'
import { isOpen } from '../../machines/model.js'
import { orderIdOf } from '../../machines/network.js'
import type { SaleLine } from '../../scripts/simulator/ledger.js'
import { LedgerStatus } from '../../scripts/simulator/ledger.js'
import type { ReceivedEvent } from './receiver.js'
import type { RequestRecord } from './record.js'

/** What was found, one line each. All empty: the run is clean. */
export interface Findings {
  /** Charged twice, or two payments for one key. */
  readonly duplicates: string[]
  /** Accepted, and gone; or never answered. */
  readonly lost: string[]
  /** Figures or answers that contradict each other. */
  readonly wrong: string[]
  /** Not at its end. */
  readonly stuck: string[]
  /** Status changes that the merchant was not told of, or not in their order. */
  readonly undelivered: string[]
  /** Processes that answered too late after a Redis froze or went silent. */
  readonly late: string[]
}

/** What becomes of the operations that the client asks for. */
const REFUNDED: readonly string[] = ['partially_refunded', 'refunded']

export function auditChaos(
  records: readonly RequestRecord[],
  payments: ReadonlyMap<string, Payment | null>,
  sales: readonly SaleLine[],
  events: ReadonlyMap<string, readonly ReceivedEvent[]>
): Findings {
  const findings: Findings = { duplicates: [], lost: [], wrong: [], stuck: [], undelivered: [], late: [] }
  for (const record of records) auditRecord(record, findings)
  const salesOf = groupBy(sales, ({ merchant_order_id }) => [merchant_order_id])
  const recordsOf = groupBy(records, ({ paymentIds }) => [...paymentIds])
  for (const [id, payment] of payments) {
    const ownSales = salesOf.get(orderIdOf(id)) ?? []
    if (payment === null) findings.lost.push(`${id}: the service does not know it any more`)
    else auditPayment(payment, ownSales, recordsOf.get(id) ?? [], findings)
    if (payment !== null) auditEvents(payment, events.get(id) ?? [], findings)
  }
  const orders = new Set([...payments.keys()].map(orderIdOf))
  for (const order of salesOf.keys()) {
    if (!orders.has(order)) findings.wrong.push(`${order}: the network knows it, and no client does`)
  }
  return findings
}

/** The things under each of their names. */
function groupBy<T>(things: readonly T[], namesOf: (thing: T) => readonly string[]): Map<string, T[]> {
  const groups = new Map<string, T[]>()
  for (const thing of things) {
    for (const name of namesOf(thing)) {
      const group = groups.get(name)
      if (group === undefined) groups.set(name, [thing])
      else group.push(thing)
    }
  }
  return groups
}

/** The last event says what the payment is, and events come in their order. */
function auditEvents(
  { id, status }: Pick<Payment, 'id' | 'status'>,
  events: readonly ReceivedEvent[],
  findings: Pick<Findings, 'undelivered'>
): void {
  const last = events.at(-1)?.status
  if (last !== status) findings.undelivered.push(`${id}: is ${status}, the last event says ${last ?? 'nothing'}`)
  const isInOrder = events.every((event, index) => event.occurredAt >= (events[index - 1]?.occurredAt ?? ''))
  if (!isInOrder) findings.undelivered.push(`${id}: events came as ${events.map(event => event.status).join()}`)
}

function auditRecord(record: RequestRecord, findings: Findings): void {
  const { key, status, paymentIds, beganMs, tries, last, lastMs } = record
  if (status === null) {
    const seconds = Math.round((lastMs - beganMs) / 1_000)
    const lastAnswer = last === '' ? 'no answer at all' : `the last answer, ${last}, after ${seconds} s`
    findings.lost.push(`${key}: never answered for good (${[...paymentIds].join()}, ${tries} tries, ${lastAnswer})`)
  }
  if (paymentIds.size > 1) findings.duplicates.push(`${key}: ${paymentIds.size} payments`)
}

function auditPayment(
  payment: Payment,
  sales: readonly SaleLine[],
  records: readonly RequestRecord[],
  findings: Findings
): void {
  const { id, status } = payment
  if (isOpen(payment.operation)) findings.stuck.push(`${id}: ${status}`)
  const charged = sales.filter(sale => sale.captured_amount > 0)
  if (charged.length > 1) findings.duplicates.push(`${id}: charged ${charged.length} times`)
  const captured = charged.reduce((sum, sale) => sum + sale.captured_amount, 0)
  const voided = charged.reduce((sum, sale) => sum + sale.voided_amount, 0)
  const isHeld = sales.some(sale => sale.status === LedgerStatus.authorised)
  // A sale that turned up after the horizon is voided: the payment is failed, and nothing is kept.
  const isUndone = payment.captured_cents === 0 && captured === voided
  if (!isUndone && (captured !== payment.captured_cents || voided !== payment.refunded_cents)) {
    findings.wrong.push(
      `${id} ${status}: captured ${payment.captured_cents} and refunded ${payment.refunded_cents}, the network ${captured} and ${voided}`
    )
  }
  const given = payment.refunds.filter(({ state }) => state === 'succeeded')
  const listed = given.reduce((sum, refund) => sum + refund.amount_cents, 0)
  if (listed !== payment.refunded_cents) {
    findings.wrong.push(`${id} ${status}: refunded ${payment.refunded_cents}, and lists refunds of ${listed}`)
  }
  if (isHeld && status !== 'pre_authorized') findings.wrong.push(`${id} ${status}: the network still holds the amount`)
  const told = records.filter(record => record.answer !== null && REFUNDED.includes(record.answer.status))
  const toldCents = Math.max(0, ...told.map(record => record.answer?.refunded_cents ?? 0))
  if (toldCents !== payment.refunded_cents) {
    findings.wrong.push(
      `${id} ${status}: the client was told of ${toldCents} refunded, the payment says ${payment.refunded_cents}; it asked ${records.map(askedAndTold).join(', ')}`
    )
  }
}

function askedAndTold({ kind, amountCents, status, answer }: RequestRecord): string {
  const told = answer === null ? '' : ` ${answer.status} ${answer.refunded_cents}`
  return `${kind} ${amountCents ?? 'all'}: ${status}${told}`
}
