/** Reads from outside what the simulator of the card network has booked. */

/** One line of `GET /simulator/sales`, as far as the audits look. */
export interface SaleLine {
  readonly merchant_order_id: string
  readonly payment_id: string
  readonly status: number
  readonly captured_amount: number
  readonly voided_amount: number
}

/** Every sale that the simulator of the card network has booked. */
export async function readSales(networkUrl: string): Promise<SaleLine[]> {
  const text = await (await fetch(`${networkUrl}/simulator/sales`)).text()
  return text
    .split('\n')
    .filter(Boolean)
    .map(line => JSON.parse(line) as SaleLine)
}
