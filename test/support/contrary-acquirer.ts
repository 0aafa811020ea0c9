/**
 * An acquirer whose answers do not always agree with what it booked. It books a call or not, and then answers anything
 * that the wire format allows (contrary-kinds.ts). Its ledger is the truth.
 *
 * Written from the acquirer's documents alone: it shares nothing with the service or its simulator. Pure: time, chance
 * and notifications are given to it.
 */
import { type ContraryKind, type Dice, type Plan, planOf, shownBy, type Verb } from './contrary-kinds.js'
import {
  type ContrarySale,
  createdAnswer,
  errorAnswer,
  json,
  listAnswer,
  operationAnswer,
  recordOf,
  Wire,
  type WireAnswer
} from './contrary-wire.js'

export interface Outside {
  readonly nowMs: () => number
  readonly later: (delayMs: number, run: () => void) => void
  /** Posts that something happened to a sale. */
  readonly notify: (saleId: string) => void
  readonly dice: Dice
}

/** A call that reached the acquirer. What it asked for in cents, and what was booked of it. */
export interface ContraryCall {
  readonly verb: Verb
  readonly saleId: string
  readonly orderId: string
  readonly atMs: number
  readonly askedCents: number
  readonly bookedCents: number
}

/** Something that the acquirer did other than it was asked. */
export interface Deviation {
  readonly saleId: string
  readonly orderId: string
  readonly what: string
  readonly atMs: number
  /** When the answer to the call said so; null: it did not, or was lost. */
  toldAtMs: number | null
  /** When a query first showed the sale as it is. */
  shownAtMs: number | null
}

interface AskedSale {
  readonly MerchantOrderId: string
  readonly Payment: {
    readonly Amount: number
    readonly Capture: boolean
    readonly CreditCard: { readonly CardNumber: string }
  }
}

interface NotedCall {
  readonly askedCents: number
  readonly plan: Plan
  /** The sale before it; null: there was none. */
  readonly before: ContrarySale | null
}

/** As in the sandbox, the last digit of the card decides (documents, test cards). */
const DENIED_CARD = /[23578]$/

export class ContraryAcquirer {
  /** What befalls new sales, each with its share of them. */
  kinds: readonly { readonly kind: ContraryKind; readonly share: number }[] = []
  readonly sales = new Map<string, ContrarySale>()
  readonly calls: ContraryCall[] = []
  readonly deviations: Deviation[] = []
  /** When a query first showed the sale as it was then. */
  readonly firstShownMs = new Map<string, number>()
  /** When it last notified of the sale. */
  readonly lastNotifiedMs = new Map<string, number>()
  readonly #outside: Outside
  /** What queries show of a sale until they show it as it is; null: nothing. */
  readonly #behind = new Map<string, { readonly sale: ContrarySale | null; readonly untilMs: number }>()
  #sales = 0

  constructor(outside: Outside) {
    this.#outside = outside
  }

  ofOrder(orderId: string): readonly ContrarySale[] {
    return [...this.sales.values()].filter(sale => sale.orderId === orderId)
  }

  /** Whether it has booked a sale under this id, or named one by it in an answer. */
  knows(saleId: string): boolean {
    return this.sales.has(saleId) || this.#meantBy(saleId) !== undefined
  }

  /** Books a sale as it is from now on. For what people do at the acquirer, too. */
  book(sale: ContrarySale): void {
    this.sales.set(sale.saleId, sale)
  }

  /** One authenticated request; `path` is without the query. */
  answer(method: string, path: string, query: URLSearchParams, body: string): WireAnswer {
    const [, , , saleId, verb] = path.replace(/\/$/, '').split('/')
    if (saleId === undefined)
      return method === 'POST' ? this.#sell(body) : this.#list(query.get('merchantOrderId') ?? '')
    if (method === 'GET') return this.#show(saleId)
    const sale = this.sales.get(saleId)
    const amount = query.get('amount')
    const cents = amount === null ? null : Number(amount)
    if (sale === undefined) return this.#doNotFind(saleId, verb === 'capture' ? 'capture' : 'void', cents)
    return verb === 'capture' ? this.#capture(sale, cents ?? sale.amountCents) : this.#void(sale, cents)
  }

  #sell(body: string): WireAnswer {
    const { MerchantOrderId: orderId, Payment: asked } = JSON.parse(body) as AskedSale
    const { dice, nowMs } = this.#outside
    const askedCents = asked.Amount
    const unbooked: ContrarySale = {
      saleId: this.#newSaleId(),
      orderId,
      atMs: nowMs(),
      askedCents,
      isCaptureAsked: asked.Capture,
      status: Wire.denied,
      amountCents: askedCents,
      capturedCents: 0,
      voidedCents: 0,
      currency: 'BRL',
      kinds: this.kinds.filter(({ share }) => dice.chance(share)).map(({ kind }) => kind)
    }
    const isApproved = !DENIED_CARD.test(asked.CreditCard.CardNumber)
    const plan = planOf({ verb: 'sale', sale: unbooked, cents: isApproved ? askedCents : 0, askedCents, dice })
    const sale = plan.cents > 0 ? sold(unbooked, plan) : { ...unbooked, status: plan.unapprovedStatus ?? Wire.denied }
    this.#note('sale', sale, { askedCents, plan, before: null })
    if (plan.cents > 0 || plan.unapprovedStatus !== null) this.book(sale)
    if (plan.isTwice && plan.cents > 0) this.#sellAgain(sale, plan)
    if (plan.finallyMs !== null) this.#approveLate(sale, plan, plan.finallyMs)
    return this.#answerOf(sale, plan, createdAnswer(sale))
  }

  /** The same order once more, under another id. */
  #sellAgain(sale: ContrarySale, plan: Plan): void {
    const second = { ...sale, saleId: this.#newSaleId() }
    this.book(second)
    this.#deviate(second, 'a second sale', { ...plan, isTold: false })
    this.#notify(second, plan)
  }

  #approveLate(sale: ContrarySale, plan: Plan, delayMs: number): void {
    this.#outside.later(delayMs, () => {
      const approved = sold(sale, { ...plan, cents: sale.askedCents })
      this.#keepBehind(sale.saleId, sale, plan)
      this.book(approved)
      if (plan.deviation !== null) this.#deviate(approved, plan.deviation, plan)
    })
  }

  /** An id that it gave in an answer, and does not know itself. */
  #doNotFind(saleId: string, verb: Verb, cents: number | null): WireAnswer {
    const meant = this.#meantBy(saleId)
    if (meant !== undefined) this.#log(verb, meant, cents ?? meant.amountCents, 0)
    return errorAnswer(400, 307, 'Transaction not found')
  }

  #meantBy(saleId: string): ContrarySale | undefined {
    return [...this.sales.values()].find(sale => sale.saleId.slice(8) === saleId.slice(8))
  }

  #capture(sale: ContrarySale, askedCents: number): WireAnswer {
    const isHeld = sale.status === Wire.authorised
    const isPossible = isHeld && askedCents <= sale.amountCents
    const plan = planOf({
      verb: 'capture',
      sale,
      cents: isPossible ? askedCents : 0,
      askedCents,
      dice: this.#outside.dice
    })
    if (!isPossible && plan.answer === null) {
      this.#log('capture', sale, askedCents, 0)
      return isHeld ? operationAnswer(sale, '842') : errorAnswer(400, 308, 'Transaction not available to capture')
    }
    const booked = plan.cents > 0 ? { ...sale, status: Wire.captured, capturedCents: plan.cents } : sale
    return this.#operate('capture', booked, { askedCents, plan, before: sale }, '6')
  }

  #void(sale: ContrarySale, cents: number | null): WireAnswer {
    const { dice } = this.#outside
    const isHeld = sale.status === Wire.authorised
    const restCents = (isHeld ? sale.amountCents : sale.capturedCents) - sale.voidedCents
    const askedCents = cents ?? restCents
    const isLive = isHeld || sale.status === Wire.captured
    const isPossible = isLive && askedCents <= restCents && (!isHeld || askedCents === restCents)
    const plan = planOf({ verb: 'void', sale, cents: isPossible ? askedCents : 0, askedCents, dice })
    if (!isPossible && plan.answer === null) {
      this.#log('void', sale, askedCents, 0)
      return isLive && !isHeld
        ? operationAnswer(sale, '102')
        : errorAnswer(400, 309, 'Transaction not available to void')
    }
    const isWhole = plan.cents > 0 && plan.cents === restCents
    const status = isWhole ? dice.pick([Wire.voided, Wire.refunded]) : sale.status
    const booked = { ...sale, voidedCents: sale.voidedCents + plan.cents, status }
    return this.#operate('void', booked, { askedCents, plan, before: sale }, isWhole ? dice.pick(['9', '0']) : '0')
  }

  #operate(verb: Verb, booked: ContrarySale, call: NotedCall, code: string): WireAnswer {
    this.book(booked)
    this.#note(verb, booked, call)
    const { deviation, isTold } = call.plan
    const amounts = deviation !== null && isTold ? { CapturedAmount: booked.capturedCents } : {}
    return this.#answerOf(booked, call.plan, operationAnswer(booked, code, amounts))
  }

  #note(verb: Verb, booked: ContrarySale, { askedCents, plan, before }: NotedCall): void {
    this.#log(verb, booked, askedCents, plan.cents)
    if (plan.cents > 0) this.#keepBehind(booked.saleId, before, plan)
    if (plan.cents > 0 && plan.deviation !== null) this.#deviate(booked, plan.deviation, plan)
    this.#notify(booked, plan)
  }

  #log(verb: Verb, { saleId, orderId }: ContrarySale, askedCents: number, bookedCents: number): void {
    this.calls.push({ verb, saleId, orderId, atMs: this.#outside.nowMs(), askedCents, bookedCents })
  }

  #keepBehind(saleId: string, sale: ContrarySale | null, { behindMs }: Plan): void {
    if (behindMs > 0) this.#behind.set(saleId, { sale, untilMs: this.#outside.nowMs() + behindMs })
  }

  #deviate({ saleId, orderId }: ContrarySale, what: string, { isLost, isTold }: Plan): void {
    const atMs = this.#outside.nowMs()
    this.deviations.push({ saleId, orderId, what, atMs, toldAtMs: isTold && !isLost ? atMs : null, shownAtMs: null })
  }

  #notify({ saleId }: ContrarySale, { notifiesMs }: Plan): void {
    for (const delayMs of notifiesMs) {
      this.#outside.later(delayMs, () => {
        this.lastNotifiedMs.set(saleId, this.#outside.nowMs())
        this.#outside.notify(saleId)
      })
    }
  }

  #answerOf(sale: ContrarySale, { answer, isLost }: Plan, honest: WireAnswer): WireAnswer {
    return { ...(answer === null ? honest : answer(sale, honest)), isLost }
  }

  #list(orderId: string): WireAnswer {
    return listAnswer(this.ofOrder(orderId).filter(({ saleId }) => this.#seen(saleId) !== null))
  }

  #show(saleId: string): WireAnswer {
    const seen = this.#seen(saleId)
    if (seen === null) return { status: 404, body: '', isLost: false }
    const view = recordOf(seen)
    const contrary = shownBy(seen, view.Payment)
    if (contrary === null && seen === this.sales.get(saleId)) this.#noteShown(seen)
    return json(200, contrary === null ? view : { ...view, Payment: contrary })
  }

  #noteShown({ saleId }: ContrarySale): void {
    if (!this.firstShownMs.has(saleId)) this.firstShownMs.set(saleId, this.#outside.nowMs())
    for (const found of this.deviations) if (found.saleId === saleId) found.shownAtMs ??= this.#outside.nowMs()
  }

  /** The sale as queries see it now; null: not at all. */
  #seen(saleId: string): ContrarySale | null {
    const behind = this.#behind.get(saleId)
    if (behind !== undefined && this.#outside.nowMs() < behind.untilMs) return behind.sale
    return this.sales.get(saleId) ?? null
  }

  #newSaleId(): string {
    const number = this.#outside.dice.between(0, 0x7fffffff).toString(16).padStart(8, '0')
    return `${number}-0000-4000-8000-${(++this.#sales).toString(16).padStart(12, '0')}`
  }
}

function sold(sale: ContrarySale, { cents, isCharged, currency }: Plan): ContrarySale {
  const isCaptured = isCharged ?? sale.isCaptureAsked
  const status = isCaptured ? Wire.captured : Wire.authorised
  return { ...sale, status, amountCents: cents, capturedCents: isCaptured ? cents : 0, currency }
}
