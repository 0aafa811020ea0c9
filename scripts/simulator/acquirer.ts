/**
 * The routes of the acquirer over the ledger, without HTTP and without faults. A call books first, then answers.
 * `isLost`: the answer must not be sent (the test cards and amounts of outcomes.ts).
 */
import { randomInt, randomUUID } from 'node:crypto'
import { type Ledger, type LedgerSale, LedgerStatus } from './ledger.js'
import { misbehavingAmounts, outcomeOfSale, partialApproval } from './outcomes.js'
import { readSaleOrder, type SaleOrder } from './sale-order.js'
import { createdView, operationView, orderView, queriedView, wireDate } from './sale-views.js'

export interface AcquirerAnswer {
  readonly status: number
  /** JSON, or empty. */
  readonly body: string
  readonly isLost: boolean
}

const SUCCESS = 'Operation Successful'
const NOT_CAPTURABLE = { Code: 308, Message: 'Transaction not available to capture' }
const NOT_VOIDABLE = { Code: 309, Message: 'Transaction not available to void' }
/** A return code that is in no list of the acquirer. */
const UNLISTED_CODE = '998'
const BAD_AMOUNT = { Code: 108, Message: 'Amount must be greater or equal to zero' }

/** Queries find sales of the last three months only. Capture and void have other limits. */
const MEMORY_MS = 92 * 24 * 3_600_000

export class Acquirer {
  readonly #ledger: Ledger
  readonly #baseUrl: string

  /** `baseUrl`: the prefix of the links in answers. */
  constructor(ledger: Ledger, baseUrl: string) {
    this.#ledger = ledger
    this.#baseUrl = baseUrl
  }

  /** Answers one authenticated request. `path` is without the query. */
  answer(method: string, path: string, query: URLSearchParams, body: string): AcquirerAnswer {
    const [root, version, sales, paymentId, operation, ...rest] = path.replace(/\/$/, '').split('/')
    if (root !== '' || version !== '1' || sales !== 'sales' || rest.length > 0) return nothing(404)
    if (paymentId === undefined) {
      if (method === 'POST') return this.#create(body)
      return method === 'GET' ? this.#queryOrder(query.get('merchantOrderId') ?? '') : nothing(405)
    }
    const sale = this.#ledger.find(paymentId)
    if (operation === undefined) {
      if (method !== 'GET') return nothing(405)
      return sale !== undefined && isQueryable(sale) ? answered(200, queriedView(sale, this.#baseUrl)) : nothing(404)
    }
    if (operation !== 'capture' && operation !== 'void') return nothing(404)
    if (method !== 'PUT') return nothing(405)
    if (sale === undefined) return nothing(404)
    return operation === 'capture' ? this.#capture(sale, query.get('amount')) : this.#void(sale, query.get('amount'))
  }

  #create(body: string): AcquirerAnswer {
    const read = readSaleOrder(body)
    if ('errors' in read) return answered(400, read.errors)
    const nowMs = Date.now()
    const outcome = outcomeOfSale(read.order, nowMs)
    const sale = newSale(read.order, outcome, nowMs)
    this.#ledger.book(sale)
    return answered(201, createdView(sale, this.#baseUrl), outcome.isAnswerLost)
  }

  #queryOrder(merchantOrderId: string): AcquirerAnswer {
    const sales = this.#ledger.ofOrder(merchantOrderId).filter(isQueryable)
    return sales.length === 0 ? nothing(404) : answered(200, orderView(sales))
  }

  #capture(found: LedgerSale, amountText: string | null): AcquirerAnswer {
    const sale = this.#reached(found, 'capture')
    if (sale.status !== LedgerStatus.authorised) return answered(400, [NOT_CAPTURABLE])
    const amount = amountIn(amountText) ?? sale.amount
    if (amount === 'bad') return answered(400, [BAD_AMOUNT])
    if (amount > sale.amount || amount === misbehavingAmounts.captureRejected) {
      return this.#operation(sale, '842', 'Amount not accepted')
    }
    if (amount === misbehavingAmounts.refusedWithoutProof) return this.#operation(sale, UNLISTED_CODE, 'Refused')
    const capturedAmount = amount === misbehavingAmounts.wholeForPart ? sale.amount : amount
    const captured = { ...sale, status: LedgerStatus.captured, capturedAmount, capturedAtMs: Date.now() }
    this.#ledger.book(captured)
    return this.#operation(captured, '6', SUCCESS, amount === misbehavingAmounts.captureAnswerLost)
  }

  #void(found: LedgerSale, amountText: string | null): AcquirerAnswer {
    const sale = this.#reached(found, 'void')
    const isRefund = sale.status === LedgerStatus.captured
    if (!isRefund && sale.status !== LedgerStatus.authorised) return answered(400, [NOT_VOIDABLE])
    const balance = isRefund ? sale.capturedAmount - sale.voidedAmount : sale.amount
    const amount = amountIn(amountText) ?? balance
    if (amount === 'bad') return answered(400, [BAD_AMOUNT])
    if (amount > balance) return this.#operation(sale, '102', 'Amount above the balance')
    if (amount === misbehavingAmounts.voidRejected) return this.#operation(sale, '100', 'Not permitted')
    if (amount === misbehavingAmounts.refusedWithoutProof) return this.#operation(sale, UNLISTED_CODE, 'Refused')
    // An authorisation can only be voided as a whole.
    if (!isRefund && amount !== balance) return answered(400, [NOT_VOIDABLE])
    const taken = isRefund && amount === misbehavingAmounts.wholeForPart ? balance : amount
    const isWhole = taken === balance
    const nowMs = Date.now()
    const voided = {
      ...sale,
      status: isWhole ? voidedStatus(sale, nowMs) : sale.status,
      voidedAmount: sale.voidedAmount + taken,
      voidedAtMs: nowMs
    }
    this.#ledger.book(voided)
    return this.#operation(
      voided,
      isWhole ? '9' : '0',
      SUCCESS,
      isRefund && amount === misbehavingAmounts.refundAnswerLost
    )
  }

  #reached(sale: LedgerSale, kind: 'capture' | 'void'): LedgerSale {
    const counted = { ...sale, requests: { ...sale.requests, [kind]: sale.requests[kind] + 1 } }
    this.#ledger.book(counted)
    return counted
  }

  #operation(sale: LedgerSale, code: string, message: string, isLost = false): AcquirerAnswer {
    return answered(200, operationView(sale, code, message, this.#baseUrl), isLost)
  }
}

function isQueryable(sale: LedgerSale): boolean {
  return sale.receivedAtMs > Date.now() - MEMORY_MS
}

function newSale(order: SaleOrder, outcome: ReturnType<typeof outcomeOfSale>, nowMs: number): LedgerSale {
  const isCaptured = outcome.isApproved && order.capture
  const amount =
    outcome.isApproved && order.amount === partialApproval.askedCents ? partialApproval.approvedCents : order.amount
  return {
    paymentId: randomUUID(),
    merchantOrderId: order.merchantOrderId,
    status: isCaptured ? LedgerStatus.captured : outcome.isApproved ? LedgerStatus.authorised : LedgerStatus.denied,
    amount,
    capturedAmount: isCaptured ? amount : 0,
    voidedAmount: 0,
    requests: { authorise: 1, capture: 0, void: 0 },
    isAutoCapture: order.capture,
    installments: order.installments,
    softDescriptor: order.softDescriptor,
    customerName: order.customerName,
    card: {
      maskedNumber: `${order.cardNumber.slice(0, 6)}******${order.cardNumber.slice(-4)}`,
      holder: order.holder,
      expirationDate: order.expirationDate,
      brand: order.brand
    },
    returnCode: isCaptured ? '6' : outcome.returnCode,
    returnMessage: outcome.returnMessage,
    tid: wireDate(nowMs).replace(/\D/g, '').slice(4) + sixDigits().slice(3),
    proofOfSale: outcome.isApproved ? sixDigits() : null,
    authorizationCode: outcome.isApproved ? sixDigits() : null,
    receivedAtMs: nowMs,
    capturedAtMs: isCaptured ? nowMs : null,
    voidedAtMs: null,
    chargebackCase: null
  }
}

/** 10 until midnight of the day of the sale, 11 from then on. */
function voidedStatus(sale: LedgerSale, nowMs: number): number {
  const isSameDay = wireDate(sale.receivedAtMs).slice(0, 10) === wireDate(nowMs).slice(0, 10)
  return isSameDay ? LedgerStatus.voided : LedgerStatus.refunded
}

/** `null`: no amount was given, which means the whole. */
function amountIn(text: string | null): number | 'bad' | null {
  if (text === null) return null
  return /^[1-9]\d{0,14}$/.test(text) ? Number(text) : 'bad'
}

function sixDigits(): string {
  return String(randomInt(1_000_000)).padStart(6, '0')
}

function answered(status: number, body: object, isLost = false): AcquirerAnswer {
  return { status, body: JSON.stringify(body), isLost }
}

function nothing(status: number): AcquirerAnswer {
  return { status, body: '', isLost: false }
}
