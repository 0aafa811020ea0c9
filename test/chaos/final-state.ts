/** The state after a run with faults: reads what the clients, the service and the network hold, and audits it. */
import type { Payment } from '../../client/index.js'
import { isOpen } from '../../machines/model.js'
import { delay } from '../../runtime/delay.js'
import { readSales, type SaleLine } from '../../scripts/simulator/ledger.js'
import { auditChaos, type Findings } from './audit.js'
import type { ChaosClient } from './client.js'
import type { ChaosReceiver } from './receiver.js'
import type { RequestRecord } from './record.js'

/** Longer than the not-found horizon and than every gap between two reconciliations. */
const FINISH_MAX_MS = 180_000
const READERS = 16
const POLL_MS = 200

/** What the clients sent, how long they had to wait, and what the audit found. */
export interface AuditedRun {
  readonly payments: number
  readonly requests: number
  readonly tries: number
  /** From the first try of a request to its first answer that was no error of the service (ms). */
  readonly longestOutageMs: number
  readonly outageP99Ms: number
  readonly findings: Findings
}

/** The records of the clients, the payments of the service, the sales of the network. The receiver holds the webhooks. */
export interface FinalState {
  readonly records: readonly RequestRecord[]
  readonly payments: ReadonlyMap<string, Payment | null>
  readonly sales: readonly SaleLine[]
}

/** Waits until all payments have ended, for a bounded time, and audits them. Each client is a merchant of its own. */
export async function auditRun(
  clients: readonly ChaosClient[],
  receiver: ChaosReceiver,
  networkUrl: string
): Promise<AuditedRun> {
  const { records, payments, sales } = await readFinalState(clients, receiver, networkUrl)
  const outages = records.flatMap(({ outageMs }) => outageMs ?? []).sort((a, b) => a - b)
  return {
    payments: payments.size,
    requests: records.length,
    tries: records.reduce((sum, { tries }) => sum + tries, 0),
    longestOutageMs: Math.round(outages.at(-1) ?? 0),
    outageP99Ms: Math.round(outages[Math.floor(outages.length * 0.99)] ?? 0),
    findings: auditChaos(records, payments, sales, receiver.events)
  }
}

/**
 * Ends the clients, waits until every payment has ended and every webhook is delivered, for at most `maxMs` each, and
 * reads the state of all three.
 */
export async function readFinalState(
  clients: readonly ChaosClient[],
  receiver: ChaosReceiver,
  networkUrl: string,
  maxMs = FINISH_MAX_MS
): Promise<FinalState> {
  await Promise.all(clients.map(client => client.finish(maxMs)))
  const owners = new Map(
    clients.flatMap(client => client.records.flatMap(({ paymentIds }) => [...paymentIds].map(id => [id, client])))
  )
  const read: Reader = async id => (await owners.get(id)?.read(id)) ?? null
  const payments = await readPayments([...owners.keys()], read, maxMs)
  receiver.behave()
  const sales = await readSales(networkUrl)
  // Last, because a chargeback may come at any time, and is delivered and read a moment apart.
  await untilDelivered(receiver, payments, read, maxMs)
  return { records: clients.flatMap(client => client.records), payments, sales }
}

/** Waits until every payment of a client has ended and its webhooks are delivered, while the service goes on. */
export async function readWhenDelivered(
  client: ChaosClient,
  receiver: ChaosReceiver
): Promise<ReadonlyMap<string, Payment | null>> {
  await client.idle(FINISH_MAX_MS)
  const ids = client.records.flatMap(({ paymentIds }) => [...paymentIds])
  const read: Reader = id => client.read(id)
  const payments = await readPayments([...new Set(ids)], read, FINISH_MAX_MS)
  await untilDelivered(receiver, payments, read, FINISH_MAX_MS)
  return payments
}

type Reader = (paymentId: string) => Promise<Payment | null>

/** Each payment that a client knows, when it has ended or `maxMs` are over. */
async function readPayments(ids: string[], read: Reader, maxMs: number): Promise<Map<string, Payment | null>> {
  const payments = new Map<string, Payment | null>()
  const deadlineMs = performance.now() + maxMs
  const readNext = async (): Promise<void> => {
    for (let id = ids.pop(); id !== undefined; id = ids.pop()) {
      let payment = await read(id)
      while ((payment === null || isOpen(payment.operation)) && performance.now() < deadlineMs) {
        await delay(POLL_MS)
        payment = await read(id)
      }
      payments.set(id, payment)
    }
  }
  await Promise.all(Array.from({ length: READERS }, readNext))
  return payments
}

/**
 * Waits until the last status of every payment is delivered, or `maxMs` are over. A payment that differs is read again: a
 * chargeback may have come after it was read.
 */
async function untilDelivered(
  { events }: ChaosReceiver,
  payments: Map<string, Payment | null>,
  read: Reader,
  maxMs: number
): Promise<void> {
  const deadlineMs = performance.now() + maxMs
  const undelivered = (): string[] =>
    [...payments].flatMap(([id, payment]) =>
      payment === null || events.get(id)?.at(-1)?.status === payment.status ? [] : id
    )
  for (let ids = undelivered(); ids.length > 0 && performance.now() < deadlineMs; ids = undelivered()) {
    await delay(POLL_MS)
    for (const id of ids) payments.set(id, (await read(id)) ?? payments.get(id) ?? null)
  }
}
