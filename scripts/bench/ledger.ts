/** Audit after a run: the network's ledger has one sale per payment, with the same sums. */
import { paymentIdOf } from '../../machines/network.js'
import { readSales, type SaleLine } from '../simulator/ledger.js'
import type { ServiceSystem } from './systems.js'

/** How many payments are read with GET and compared. */
const COMPARED = 500

/** Returns a sentence with the figures. Rejects when the ledger disagrees. */
export async function checkLedger(service: ServiceSystem): Promise<string> {
  const { network_url: networkUrl } = service.demo
  if (networkUrl === null) throw new Error('The service was started without the simulator of the card network.')
  const sales = await readSales(networkUrl)
  const orders = new Set(sales.map(sale => sale.merchant_order_id))
  if (orders.size !== sales.length) throw new Error(`${sales.length - orders.size} orders have more than one sale.`)
  const step = Math.max(1, Math.floor(sales.length / COMPARED))
  const sample = sales.filter((_, index) => index % step === 0)
  for (const sale of sample) await compare(service, sale)
  return `${sales.length} sales at the network, one per order; ${sample.length} compared with their payments, all sums equal.`
}

async function compare(service: ServiceSystem, sale: SaleLine): Promise<void> {
  const id = paymentIdOf(sale.merchant_order_id)
  const headers = { authorization: `Bearer ${service.demo.api_key}` }
  const payment = (await (await fetch(`${service.url}/v1/payments/${id}`, { headers })).json()) as {
    captured_cents: number
    refunded_cents: number
  }
  if (payment.captured_cents !== sale.captured_amount || payment.refunded_cents !== sale.voided_amount) {
    throw new Error(`Payment ${id} and its sale disagree: ${JSON.stringify({ payment, sale })}`)
  }
}
