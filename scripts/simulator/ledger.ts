/**
 * The network's ledger: every sale, also one whose answer was lost. Tests audit the service against it.
 *
 * Card numbers are masked before they get here. The whole ledger is in memory, about 1 KiB a sale. Its file has one JSON
 * object a line, and the last line of a sale counts. A line is written before the network answers, with one synchronous
 * write into the kernel, so a killed simulator has lost nothing that it answered. A power loss may cost the last lines.
 */
import { closeSync, existsSync, mkdirSync, openSync, readFileSync, renameSync, writeFileSync, writeSync } from 'node:fs'
import { dirname } from 'node:path'
import { isRecord, parseJson } from '../../runtime/json.js'

/** `status` of a sale, in the numbers of the wire. Voided: on the day of the sale; refunded: later. */
export const LedgerStatus = { authorised: 1, captured: 2, denied: 3, voided: 10, refunded: 11 } as const

/** One sale. Status and codes are the wire's; amounts are cents; dates are `YYYY-MM-DD HH:mm:ss`, Brasilia time. */
export interface LedgerSale {
  readonly paymentId: string
  readonly merchantOrderId: string
  /** One of `LedgerStatus`. */
  readonly status: number
  readonly amount: number
  readonly capturedAmount: number
  /** Cumulative. */
  readonly voidedAmount: number
  /** How many POST and PUT requests reached the sale, by kind, those whose answer was lost or negative included. */
  readonly requests: { readonly authorise: number; readonly capture: number; readonly void: number }
  readonly isAutoCapture: boolean
  readonly installments: number
  readonly softDescriptor: string | null
  readonly customerName: string | null
  readonly card: {
    readonly maskedNumber: string
    readonly holder: string
    readonly expirationDate: string
    readonly brand: string
  }
  readonly returnCode: string
  readonly returnMessage: string
  readonly tid: string
  /** `null` unless approved. */
  readonly proofOfSale: string | null
  readonly authorizationCode: string | null
  readonly receivedAtMs: number
  readonly capturedAtMs: number | null
  readonly voidedAtMs: number | null
  /** Number of the chargeback's case; `null`: the buyer did not dispute. */
  readonly chargebackCase: string | null
}

export class Ledger {
  readonly #sales = new Map<string, LedgerSale>()
  readonly #orders = new Map<string, string[]>()
  /** Descriptor of the file, opened to append. */
  readonly #file: number | null

  /** Loads `file`; `null` keeps the sales in memory only. Throws when the file cannot be read. */
  constructor(file: string | null) {
    for (const sale of file === null ? [] : readFile(file)) this.#keep(sale)
    this.#file = file === null ? null : openCompacted(file, this.#sales.values())
  }

  /** Books a new sale, or the new state of one. Afterwards it survives a crash of the process. */
  book(sale: LedgerSale): void {
    if (this.#file !== null) writeSync(this.#file, lineOf(sale))
    this.#keep(sale)
  }

  find(paymentId: string): LedgerSale | undefined {
    return this.#sales.get(paymentId)
  }

  /** The sales of an order, oldest first. The network allows several. */
  ofOrder(merchantOrderId: string): readonly LedgerSale[] {
    return (this.#orders.get(merchantOrderId) ?? []).flatMap(paymentId => this.#sales.get(paymentId) ?? [])
  }

  /** All sales, oldest first. */
  sales(): Iterable<LedgerSale> {
    return this.#sales.values()
  }

  close(): void {
    if (this.#file !== null) closeSync(this.#file)
  }

  #keep(sale: LedgerSale): void {
    if (!this.#sales.has(sale.paymentId)) {
      const ids = this.#orders.get(sale.merchantOrderId)
      if (ids === undefined) this.#orders.set(sale.merchantOrderId, [sale.paymentId])
      else ids.push(sale.paymentId)
    }
    this.#sales.set(sale.paymentId, sale)
  }
}

/** The entries of the file, oldest first. Ignores an incomplete last line, which was never answered. */
function readFile(file: string): LedgerSale[] {
  if (!existsSync(file)) return []
  const lines = readFileSync(file, 'utf8').split('\n').slice(0, -1)
  return lines.map((line, index) => {
    const entry = parseJson(line)
    if (!isRecord(entry) || typeof entry['paymentId'] !== 'string' || typeof entry['merchantOrderId'] !== 'string') {
      throw new Error(`${file}, line ${index + 1} is not a sale. Move the file away to start with an empty ledger.`)
    }
    return entry as unknown as LedgerSale
  })
}

/** Replaces the file by one line for each sale. Returns its descriptor, opened to append. */
function openCompacted(file: string, sales: Iterable<LedgerSale>): number {
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(`${file}.new`, Array.from(sales, lineOf).join(''), { mode: 0o600 })
  renameSync(`${file}.new`, file)
  return openSync(file, 'a', 0o600)
}

function lineOf(sale: LedgerSale): string {
  return `${JSON.stringify(sale)}\n`
}

/** One line of `GET /simulator/sales`. `status` is the wire's number, see `LedgerSale`. */
export interface SaleLine {
  readonly merchant_order_id: string
  readonly payment_id: string
  readonly status: number
  readonly amount: number
  readonly captured_amount: number
  readonly voided_amount: number
  readonly requests: LedgerSale['requests']
}

export function saleLine(sale: LedgerSale): SaleLine {
  return {
    merchant_order_id: sale.merchantOrderId,
    payment_id: sale.paymentId,
    status: sale.status,
    amount: sale.amount,
    captured_amount: sale.capturedAmount,
    voided_amount: sale.voidedAmount,
    requests: sale.requests
  }
}

/** All sales that a running simulator has booked. */
export async function readSales(networkUrl: string): Promise<SaleLine[]> {
  const text = await (await fetch(`${networkUrl}/simulator/sales`)).text()
  return text.split('\n').flatMap(line => (line === '' ? [] : (JSON.parse(line) as SaleLine)))
}
