/** The card network's simulator of a running service, by its control routes. */
import { orderIdOf } from '../../machines/network.js'
import { readSales } from '../../scripts/simulator/ledger.js'
import type { ServiceUnderTest } from './service.js'

/** Replaces the whole set of faults; `{}` is none. */
export async function setFaults(service: ServiceUnderTest, faults: object): Promise<void> {
  const response = await fetch(`${service.networkUrl}/simulator/faults`, {
    method: 'PUT',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify(faults)
  })
  if (!response.ok) throw new Error(`The simulator refused the faults: ${response.status} ${await response.text()}`)
}

/** The order ids of all sales that the simulator has booked, answered or not. */
export async function bookedOrders(service: ServiceUnderTest): Promise<string[]> {
  return (await readSales(service.networkUrl)).map(sale => sale.merchant_order_id)
}

/** The buyer disputes a payment at the bank; the network books it, and notifies the service. Resolves to the status of its answer. */
export async function chargeBack(networkUrl: string, paymentId: string): Promise<number> {
  const response = await fetch(`${networkUrl}/simulator/chargebacks`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ merchant_order_id: orderIdOf(paymentId) })
  })
  return response.status
}
