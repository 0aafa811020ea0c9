/** Reading the books that the audit compares, when a run has come to rest: the service's, the merchant's, the network's. */

import { delay } from '../../runtime/delay.js'
import type { ChaosClient } from './client.js'
import type { ChaosReceiver } from './receiver.js'
import { IN_PROGRESS, type PaymentView, type SaleLine } from './record.js'

const READERS = 16
const POLL_MS = 200

/** Each payment that a client has heard of, when it is at its end or the patience is. */
export async function readPayments(client: ChaosClient, patienceMs: number): Promise<Map<string, PaymentView | null>> {
  const ids = [...new Set(client.records.flatMap(({ paymentIds }) => [...paymentIds]))]
  const payments = new Map<string, PaymentView | null>()
  const deadlineMs = performance.now() + patienceMs
  const readNext = async (): Promise<void> => {
    for (let id = ids.pop(); id !== undefined; id = ids.pop()) {
      let payment = await client.read(id)
      while ((payment === null || IN_PROGRESS.includes(payment.status)) && performance.now() < deadlineMs) {
        await delay(POLL_MS)
        payment = await client.read(id)
      }
      payments.set(id, payment)
    }
  }
  await Promise.all(Array.from({ length: READERS }, readNext))
  return payments
}

/**
 * Waits until the merchant knows the last status of every payment, or the patience ends. A payment that differs is read
 * again: a chargeback may have come after it was read.
 */
export async function untilTold(
  { events }: ChaosReceiver,
  payments: Map<string, PaymentView | null>,
  client: Pick<ChaosClient, 'read'>,
  patienceMs: number
): Promise<void> {
  const deadlineMs = performance.now() + patienceMs
  const untold = (): string[] =>
    [...payments].flatMap(([id, payment]) =>
      payment === null || events.get(id)?.at(-1)?.status === payment.status ? [] : id
    )
  for (let ids = untold(); ids.length > 0 && performance.now() < deadlineMs; ids = untold()) {
    await delay(POLL_MS)
    for (const id of ids) payments.set(id, (await client.read(id)) ?? payments.get(id) ?? null)
  }
}

/** Every sale that the simulator of the card network has booked. */
export async function readSales(networkUrl: string): Promise<SaleLine[]> {
  const text = await (await fetch(`${networkUrl}/simulator/sales`)).text()
  return text
    .split('\n')
    .filter(Boolean)
    .map(line => JSON.parse(line) as SaleLine)
}
