/**
 * The network's ledger: every sale, also one whose answer was lost. Tests audit the service against it.
 *
 * Card numbers are masked before they get here. The whole ledger is in memory, about 1 KiB a sale.
 */
import { mkdirSync } from 'node:fs'
import { dirname } from 'node:path'
import { isRecord } from '../../runtime/json.js'
import { type Journal, openJournal, readJournal } from './journal.js'

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
  readonly #journal: Journal | null

  /** Takes over what `file` holds; `null` keeps the sales in memory only. Throws when the file cannot be read. */
  constructor(file: string | null) {
    if (file === null) {
      this.#journal = null
      return
    }
    mkdirSync(dirname(file), { recursive: true })
    for (const entry of readJournal(file)) this.#keep(parseSale(entry))
    this.#journal = openJournal(
      file,
      Array.from(this.#sales.values(), sale => JSON.stringify(sale))
    )
  }

  /** Books a new sale, or the new state of one. On return it survives the end of the process. */
  book(sale: LedgerSale): void {
    this.#journal?.append(JSON.stringify(sale))
    this.#keep(sale)
  }

  find(paymentId: string): LedgerSale | undefined {
    return this.#sales.get(paymentId)
  }

  /** The sales of an order, oldest first. The network does not mind several. */
  ofOrder(merchantOrderId: string): readonly LedgerSale[] {
    return (this.#orders.get(merchantOrderId) ?? []).flatMap(paymentId => this.#sales.get(paymentId) ?? [])
  }

  /** All sales, oldest first. */
  sales(): Iterable<LedgerSale> {
    return this.#sales.values()
  }

  close(): void {
    this.#journal?.close()
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

/** A line of the ledger's own file; only what finds the sale again is checked. */
function parseSale(entry: unknown): LedgerSale {
  if (!isRecord(entry) || typeof entry['paymentId'] !== 'string' || typeof entry['merchantOrderId'] !== 'string') {
    throw new Error("A line of the ledger's file is no sale. Move the file away to start with an empty ledger.")
  }
  return entry as unknown as LedgerSale
}

/** One line of `GET /simulator/sales`. `status` is the wire's number, see `LedgerSale`. */
export function saleLine(sale: LedgerSale): string {
  return JSON.stringify({
    merchant_order_id: sale.merchantOrderId,
    payment_id: sale.paymentId,
    status: sale.status,
    amount: sale.amount,
    captured_amount: sale.capturedAmount,
    voided_amount: sale.voidedAmount,
    requests: sale.requests
  })
}
