/** What is left of a run when the trouble is over: the service's books, the merchants' and the network's, compared. */
import type { Payment } from '../../client/index.js'
import { isOpen } from '../../machines/model.js'
import { delay } from '../../runtime/delay.js'
import { readSales, type SaleLine } from '../../scripts/simulator/read-sales.js'
import { auditChaos, type Findings } from './audit.js'
import type { ChaosClient } from './client.js'
import { type Outages, outagesOf, SILENCE_MAX_MS } from './outages.js'
import type { ChaosReceiver } from './receiver.js'
import type { RequestRecord } from './record.js'
import type { Strike } from './trouble.js'

/** Beyond the horizon and every gap between two questions. */
const PEACE_MAX_MS = 90_000
const READERS = 16
const POLL_MS = 200

/** What was asked, how long the clients had to wait, and what the audit says. */
export interface Reckoning extends Outages {
  readonly payments: number
  readonly requests: number
  readonly tries: number
  readonly findings: Findings
}

/** The books of all three: clients, service, network. Webhooks are in those of the receiver. */
export interface Books {
  readonly records: readonly RequestRecord[]
  readonly payments: ReadonlyMap<string, Payment | null>
  readonly sales: readonly SaleLine[]
}

/** Lets everything come to its end, or the patience, and compares. Each client is a merchant of its own. */
export async function reckon(
  clients: readonly ChaosClient[],
  receiver: ChaosReceiver,
  networkUrl: string,
  strikes: readonly Strike[]
): Promise<Reckoning> {
  const { records, payments, sales } = await closeBooks(clients, receiver, networkUrl)
  const outages = outagesOf(records, strikes)
  const findings = auditChaos(records, payments, sales, receiver.events)
  const silentMs = outages.longestSilenceOutageMs
  if (silentMs > SILENCE_MAX_MS) findings.late.push(`${silentMs} ms without an answer after connections went silent`)
  return {
    payments: payments.size,
    requests: records.length,
    tries: records.reduce((sum, { tries }) => sum + tries, 0),
    ...outages,
    findings
  }
}

/**
 * Ends the clients, waits until every payment is at its end and every webhook delivered, for at most `patienceMs` each, and
 * reads all books.
 */
export async function closeBooks(
  clients: readonly ChaosClient[],
  receiver: ChaosReceiver,
  networkUrl: string,
  patienceMs = PEACE_MAX_MS
): Promise<Books> {
  await Promise.all(clients.map(client => client.finish(patienceMs)))
  const owners = new Map(
    clients.flatMap(client => client.records.flatMap(({ paymentIds }) => [...paymentIds].map(id => [id, client])))
  )
  const read: Reader = async id => (await owners.get(id)?.read(id)) ?? null
  const payments = await readPayments([...owners.keys()], read, patienceMs)
  receiver.behave()
  const sales = await readSales(networkUrl)
  // Last of all, and nothing in between: a chargeback may come at any time, and is told and read a moment apart.
  await untilTold(receiver, payments, read, patienceMs)
  return { records: clients.flatMap(client => client.records), payments, sales }
}

/** Waits until every payment of a client is at its end and told, while the service works as ever. */
export async function comeToRest(
  client: ChaosClient,
  receiver: ChaosReceiver
): Promise<ReadonlyMap<string, Payment | null>> {
  await client.idle(PEACE_MAX_MS)
  const ids = client.records.flatMap(({ paymentIds }) => [...paymentIds])
  const read: Reader = id => client.read(id)
  const payments = await readPayments([...new Set(ids)], read, PEACE_MAX_MS)
  await untilTold(receiver, payments, read, PEACE_MAX_MS)
  return payments
}

type Reader = (paymentId: string) => Promise<Payment | null>

/** Each payment that a client has heard of, when it is at its end or the patience is. */
async function readPayments(ids: string[], read: Reader, patienceMs: number): Promise<Map<string, Payment | null>> {
  const payments = new Map<string, Payment | null>()
  const deadlineMs = performance.now() + patienceMs
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
 * Waits until the merchants know the last status of every payment, or the patience ends. A payment that differs is read
 * again: a chargeback may have come after it was read.
 */
async function untilTold(
  { events }: ChaosReceiver,
  payments: Map<string, Payment | null>,
  read: Reader,
  patienceMs: number
): Promise<void> {
  const deadlineMs = performance.now() + patienceMs
  const untold = (): string[] =>
    [...payments].flatMap(([id, payment]) =>
      payment === null || events.get(id)?.at(-1)?.status === payment.status ? [] : id
    )
  for (let ids = untold(); ids.length > 0 && performance.now() < deadlineMs; ids = untold()) {
    await delay(POLL_MS)
    for (const id of ids) payments.set(id, (await read(id)) ?? payments.get(id) ?? null)
  }
}
