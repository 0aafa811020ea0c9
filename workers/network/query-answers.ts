/**
 * The acquirer's answers to queries, in our words. Pure.
 *
 * "There is no such sale" ends a payment. So a 404 counts only in the acquirer's form (no body, or its array of errors):
 * a page or an object of a proxy is no answer.
 */
import type { Sale } from '../../machines/network.js'
import { isRecord, parseJson } from '../../runtime/json.js'
import { errorCodesIn, referencesIn } from './call-answers.js'
import type { Exchange } from './transport.js'
import { hasValue, idIn, integerIn, SaleStatus, textIn, type WireObject } from './wire-fields.js'

export type NoAnswer = { readonly kind: 'no_answer'; readonly reason: string }
export type SaleList = { readonly kind: 'listed'; readonly saleIds: readonly string[] } | { readonly kind: 'absent' }
export type FoundSale = { readonly kind: 'sale'; readonly orderId: string | null; readonly sale: Sale }

/** Error codes that say "no such transaction" with HTTP 400. */
const ABSENT_CODES = ['107', '303', '307', '318']

/** Each sale of an order is queried. One is usual, two are a fault of the network. */
const SALES_MAX = 50

const saleStatuses: Readonly<Record<number, Sale['status']>> = {
  [SaleStatus.authorised]: 'authorised',
  [SaleStatus.captured]: 'captured',
  [SaleStatus.denied]: 'denied',
  [SaleStatus.aborted]: 'denied',
  [SaleStatus.voided]: 'voided',
  [SaleStatus.refunded]: 'voided'
}

/** Reads the answer to `GET /1/sales?merchantOrderId=`: the ids of the order's sales, oldest first. */
export function readSaleIds(exchange: Exchange): SaleList | NoAnswer {
  if (exchange.kind !== 'answered') return { kind: 'no_answer', reason: exchange.reason }
  const body = parseJson(exchange.text)
  if (exchange.status !== 200) return absence(exchange.status, exchange.text, body)
  const list = isRecord(body) ? (body['Payments'] ?? body['Payment']) : undefined
  if (!Array.isArray(list)) return noAnswer('something that is no list of sales')
  const rows: { saleId: string; receivedAt: string }[] = []
  for (const row of list) {
    const saleId = isRecord(row) ? idIn(row, 'PaymentId') : null
    if (!isRecord(row) || saleId === null) return noAnswer('a sale without an id')
    rows.push({ saleId, receivedAt: textIn(row, 'ReceveidDate') ?? textIn(row, 'ReceivedDate') ?? '' })
  }
  if (rows.length === 0) return { kind: 'absent' }
  if (rows.length > SALES_MAX) return noAnswer(`${rows.length} sales of one order`)
  // The order of the list is not documented. The dates are ISO 8601, so they sort as texts.
  rows.sort((a, b) => (a.receivedAt < b.receivedAt ? -1 : Number(a.receivedAt > b.receivedAt)))
  return { kind: 'listed', saleIds: [...new Set(rows.map(row => row.saleId))] }
}

/** Reads the answer to `GET /1/sales/{PaymentId}`, which was asked for `saleId`. */
export function readSale(exchange: Exchange, saleId: string): FoundSale | NoAnswer {
  if (exchange.kind !== 'answered') return { kind: 'no_answer', reason: exchange.reason }
  if (exchange.status !== 200) return noAnswer(`HTTP ${exchange.status}`)
  const body = parseJson(exchange.text)
  const payment = isRecord(body) ? body['Payment'] : undefined
  const sale = isRecord(payment) ? saleIn(payment) : null
  if (!isRecord(body) || sale === null) return noAnswer('a sale without id, status or amounts')
  if (sale.references.saleId !== saleId.toLowerCase()) return noAnswer('another sale than the one asked for')
  return { kind: 'sale', orderId: idIn(body, 'MerchantOrderId'), sale }
}

function saleIn(payment: WireObject): Sale | null {
  const references = referencesIn(payment)
  const wireStatus = integerIn(payment, 'Status')
  const amountCents = integerIn(payment, 'Amount')
  if (references.saleId === null || wireStatus === null || amountCents === null) return null
  const status = saleStatuses[wireStatus] ?? 'unfinished'
  const capturedCents = integerIn(payment, 'CapturedAmount')
  const voidedCents = integerIn(payment, 'VoidedAmount')
  // What was captured is never guessed from the amount: a capture may be partial.
  if (status === 'captured' && capturedCents === null) return null
  // What is there and can't be read is not zero: refunds are compared with it.
  if (capturedCents === null && hasValue(payment, 'CapturedAmount')) return null
  if (voidedCents === null && hasValue(payment, 'VoidedAmount')) return null
  const wholeCents = capturedCents || amountCents
  const chargebacks = payment['Chargebacks']
  return {
    references: { ...references, saleId: references.saleId },
    status,
    amountCents,
    currency: textIn(payment, 'Currency')?.toUpperCase() ?? null,
    capturedCents: capturedCents ?? 0,
    // The acquirer may leave out zero. Whether a missing field is zero: reconciling-network.ts.
    voidedCents: voidedCents ?? missingVoidedCents(status, wholeCents),
    declinedCode: status === 'denied' ? textIn(payment, 'ReturnCode') : null,
    isChargedBack: Array.isArray(chargebacks) && chargebacks.length > 0
  }
}

/** Nothing was voided of a sale that was never captured; a closed sale is voided as a whole. */
function missingVoidedCents(status: Sale['status'], wholeCents: number): number | null {
  if (status === 'captured') return null
  return status === 'voided' ? wholeCents : 0
}

function absence(status: number, text: string, body: unknown): { kind: 'absent' } | NoAnswer {
  const errorCodes = errorCodesIn(body)
  const isTheAcquirers = text.trim() === '' || Array.isArray(body) || errorCodes.length > 0
  const saysSo = errorCodes.some(code => ABSENT_CODES.includes(code))
  const isAbsent = (status === 404 && isTheAcquirers) || (status === 400 && saysSo)
  return isAbsent ? { kind: 'absent' } : noAnswer(`HTTP ${status}`)
}

function noAnswer(reason: string): NoAnswer {
  return { kind: 'no_answer', reason: `The card network gave ${reason}.` }
}
