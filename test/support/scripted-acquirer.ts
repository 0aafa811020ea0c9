/**
 * An acquirer that decides nothing: every call is held until the test says what it is answered. It speaks the wire
 * format of the acquirer's documents, money on one port and queries on another, so that one of them can be away.
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { orderIdOf, paymentIdOf, type Sale } from '../../machines/network.js'
import type { Effect } from '../../machines/payment/events.js'
import { isRecord, parseJson } from '../../runtime/json.js'
import { SaleStatus, textIn } from '../../workers/network/wire-fields.js'
import { until } from './conditions.js'

export interface WireAnswer {
  readonly status: number
  readonly body?: unknown
}

interface HeldCall {
  readonly name: string
  readonly response: ServerResponse
}

const wireStatuses: Readonly<Record<Sale['status'], number>> = {
  unfinished: 0,
  authorised: SaleStatus.authorised,
  captured: SaleStatus.captured,
  denied: SaleStatus.denied,
  voided: SaleStatus.voided
}
const OUT_OF_ORDER: WireAnswer = { status: 500 }
const ABSENT = 404

/** Answers of absence are believed because this sale is always found. */
const KNOWN_PAYMENT = '00000000-0000-0000-0000-000000000001'
export const KNOWN_ORDER = orderIdOf(KNOWN_PAYMENT)

export class ScriptedAcquirer {
  readonly #transactions: Server
  readonly #queries: Server
  readonly #ports: { readonly transactions: number; readonly queries: number }
  readonly #held = new Map<string, HeldCall>()
  readonly #sales = new Map<string, readonly unknown[]>()
  readonly #forgotten = new Set<string>()
  readonly #absent = new Set<string>()

  constructor(ports: { readonly transactions: number; readonly queries: number }) {
    this.#ports = ports
    const take = (request: IncomingMessage, response: ServerResponse): void => void this.#take(request, response)
    this.#transactions = createServer(take)
    this.#queries = createServer(take)
  }

  async start(): Promise<void> {
    await listen(this.#queries, this.#ports.queries)
    await this.takeTransactions()
  }

  stop(): void {
    for (const server of [this.#transactions, this.#queries]) {
      server.close()
      server.closeAllConnections()
    }
  }

  /** Undoes `refuseTransactions`. */
  async takeTransactions(): Promise<void> {
    if (!this.#transactions.listening) await listen(this.#transactions, this.#ports.transactions)
  }

  /** From now on a call that moves money gets no connection. Calls that are held can still be answered. */
  refuseTransactions(): void {
    this.#transactions.close()
  }

  /** Resolves when that call (`nameOfCall`) is the one that waits for its answer. */
  async untilAsked(paymentId: string, name: string, deadlineMs: number): Promise<void> {
    const orderId = orderIdOf(paymentId)
    await until(
      `the network is asked: ${name}`,
      () => {
        const call = this.#held.get(orderId)
        if (call !== undefined && call.name !== name) throw new Error(`asked ${call.name} instead of ${name}`)
        return call !== undefined
      },
      deadlineMs
    )
  }

  /** Answers the call that waits. */
  answer(paymentId: string, { status, body }: WireAnswer): void {
    const orderId = orderIdOf(paymentId)
    const call = this.#held.get(orderId)
    if (call === undefined) throw new Error(`no call of the payment ${paymentId} waits for an answer`)
    this.#held.delete(orderId)
    if (status === ABSENT) this.#absent.add(orderId)
    // Else the next call would get through on the connection of this one.
    if (!this.#transactions.listening) call.response.setHeader('Connection', 'close')
    send(call.response, { status, body })
  }

  /** Answers the query that waits with these sales, oldest first. */
  show(paymentId: string, sales: readonly Sale[]): void {
    const rows = sales.map((sale, index) => wireSale(paymentId, sale, index))
    this.#sales.set(orderIdOf(paymentId), rows)
    const list = sales.map(({ references }, index) => ({
      PaymentId: wireSaleId(paymentId, references.saleId),
      ReceveidDate: receivedAt(index)
    }))
    this.answer(paymentId, { status: 200, body: { Payments: list } })
  }

  /** The test of this payment is over: a later call is answered with an error. */
  forget(paymentId: string): void {
    const orderId = orderIdOf(paymentId)
    this.#forgotten.add(orderId)
    if (this.#held.has(orderId)) this.answer(paymentId, OUT_OF_ORDER)
  }

  async #take(request: IncomingMessage, response: ServerResponse): Promise<void> {
    let text = ''
    for await (const chunk of request) text += String(chunk)
    const url = new URL(request.url ?? '/', 'http://acquirer')
    const [, , , saleId = '', verb = ''] = url.pathname.split('/')
    const paymentId = saleId === '' ? null : paymentOfSale(saleId)
    const orderId = paymentId === null ? orderIn(url, text) : orderIdOf(paymentId)
    if (request.method === 'GET' && paymentId !== null) return send(response, this.#saleAnswer(paymentId, saleId))
    if (orderId === KNOWN_ORDER) {
      return send(response, { status: 200, body: { Payments: [{ PaymentId: wireSaleId(KNOWN_PAYMENT, 'sale-1') }] } })
    }
    if (this.#forgotten.has(orderId)) return send(response, OUT_OF_ORDER)
    // An absence is asked about once more, after the known sale was found (decision 20).
    if (request.method === 'GET' && this.#absent.delete(orderId)) return send(response, { status: ABSENT })
    const held: HeldCall = { name: nameOfRequest(request.method, saleId, verb, url), response }
    this.#held.set(orderId, held)
    response.on('close', () => {
      if (this.#held.get(orderId) === held) this.#held.delete(orderId)
    })
  }

  /** Notifications name a sale without a query about it: then only its order counts. */
  #saleAnswer(paymentId: string, saleId: string): WireAnswer {
    const orderId = orderIdOf(paymentId)
    const shown = this.#sales.get(orderId)?.find(row => isRecord(row) && row['PaymentId'] === saleId)
    const payment = shown ?? { PaymentId: saleId, Status: SaleStatus.authorised, Amount: 1 }
    return { status: 200, body: { MerchantOrderId: orderId, Payment: payment } }
  }
}

/** How a call is named here: `authorise`, `capture sale-1 6000`, `void sale-2`, `query`. */
export function nameOfCall(effect: Effect): string {
  const parts = [
    effect.kind,
    'saleId' in effect ? effect.saleId : [],
    'amountCents' in effect ? effect.amountCents : []
  ]
  return parts.flat().join(' ')
}

/** The wire's id of `sale-1` of a payment: that of the payment, with the number of the sale in front. */
export function wireSaleId(paymentId: string, saleId: string): string {
  return saleId.replace('sale-', '') + paymentId.slice(1)
}

function paymentOfSale(saleId: string): string | null {
  return paymentIdOf(orderIdOf(`0${saleId.slice(1)}`))
}

function orderIn(url: URL, text: string): string {
  const body = parseJson(text)
  return url.searchParams.get('merchantOrderId') ?? (isRecord(body) ? textIn(body, 'MerchantOrderId') : null) ?? ''
}

function nameOfRequest(method: string | undefined, saleId: string, verb: string, url: URL): string {
  if (method === 'GET') return 'query'
  if (method === 'POST') return 'authorise'
  const amount = url.searchParams.get('amount')
  const kind = verb === 'void' && amount !== null ? 'refund' : verb
  return [kind, `sale-${saleId[0]}`, amount ?? []].flat().join(' ')
}

function wireSale(paymentId: string, sale: Sale, index: number): unknown {
  return {
    PaymentId: wireSaleId(paymentId, sale.references.saleId),
    Tid: sale.references.tid,
    ProofOfSale: sale.references.nsu,
    AuthorizationCode: sale.references.authorizationCode,
    ReceivedDate: receivedAt(index),
    Status: wireStatuses[sale.status],
    Amount: sale.amountCents,
    Currency: sale.currency,
    CapturedAmount: sale.capturedCents,
    VoidedAmount: sale.voidedCents,
    ...(sale.declinedCode === null ? {} : { ReturnCode: sale.declinedCode }),
    ...(sale.isChargedBack ? { Chargebacks: [{ CaseNumber: '1' }] } : {})
  }
}

function receivedAt(index: number): string {
  return `2026-01-05 12:00:0${index}`
}

function send(response: ServerResponse, { status, body }: WireAnswer): void {
  response.statusCode = status
  response.setHeader('Content-Type', 'application/json')
  response.end(body === undefined ? '' : JSON.stringify(body))
}

function listen(server: Server, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, '127.0.0.1', () => resolve())
  })
}
