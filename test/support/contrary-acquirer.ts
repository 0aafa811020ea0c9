/**
 * An acquirer whose answers do not always agree with what it booked. It books a call or not, and then answers anything
 * that the wire format allows (contrary-kinds.ts). Its ledger is the truth.
 *
 * Written from the acquirer's documents alone: it shares nothing with the service or its simulator. Pure: time, chance
 * and notifications are given to it.
 */
import { type ContraryKind, planOf, queriedBy, shownBy } from './contrary-kinds.js'
import { type Dice, leftOf, type Plan, type Verb } from './contrary-plan.js'
import { isLeftOut } from './contrary-vague.js'
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
  bookedCents: number
}

/** Something that the acquirer did other than it was asked. */
export interface Deviation {
  readonly saleId: string
  readonly orderId: string
  readonly what: string
  readonly atMs: number
  /** When the answer to the call said so; null: it did not, or was lost. */
  toldAtMs: number | null
  /** The answer left out a field about money: only a query can tell. */
  readonly isLeftOut: boolean
  /** When a query first showed the sale as it is. */
  shownAtMs: number | null
}

/** A query that showed a sale. */
export interface Look {
  readonly saleId: string
  readonly atMs: number
}

interface AskedSale {
  readonly MerchantOrderId: string
  readonly Payment: {
    readonly Amount: number
    readonly Capture: boolean
    readonly CreditCard: { readonly CardNumber: string }
  }
}

interface PlannedCall {
  readonly askedCents: number
  readonly plan: Plan
  /** The sale before it; null: there was none. */
  readonly before: ContrarySale | null
}

interface NotedCall extends PlannedCall {
  /** The answer lacks a field about money that it would have. */
  readonly isLeftOut: boolean
}

/** As in the sandbox, the last digit of the card decides (documents, test cards). */
const DENIED_CARD = /[23578]$/

export class ContraryAcquirer {
  /** What befalls new sales, each with its share of them. */
  kinds: readonly { readonly kind: ContraryKind; readonly share: number }[] = []
  readonly sales = new Map<string, ContrarySale>()
  readonly calls: ContraryCall[] = []
  readonly deviations: Deviation[] = []
  readonly looks: Look[] = []
  /** When a query first showed the sale as it was then. */
  readonly firstShownMs = new Map<string, number>()
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

  /** Books a sale as it is from now on. For what people do at the acquirer, too. */
  book(sale: ContrarySale): void {
    this.sales.set(sale.saleId, sale)
  }

  /** One authenticated request; `path` is without the query. */
  answer(method: string, path: string, query: URLSearchParams, body: string): WireAnswer {
    const [, , , saleId, verb] = path.replace(/\/$/, '').toLowerCase().split('/')
    if (saleId === undefined)
      return method === 'POST' ? this.#sell(body) : this.#list(query.get('merchantOrderId') ?? '')
    if (method === 'GET') return this.#show(saleId)
    const sale = this.sales.get(saleId)
    const amount = query.get('amount')
    const cents = amount === null ? null : Number(amount)
    if (sale === undefined) return this.#doNotFind(saleId, verb === 'capture' ? 'capture' : 'void', cents)
    return this.#operate(verb === 'capture' ? 'capture' : 'void', sale, cents)
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
    const honest = createdAnswer(sale)
    const answer = this.#answerOf(sale, plan, honest)
    this.#note('sale', sale, { askedCents, plan, before: null, isLeftOut: isLeftOut(honest, answer) })
    if (plan.cents > 0 || plan.unapprovedStatus !== null) this.book(sale)
    if (plan.isTwice && plan.cents > 0) this.#sellAgain(sale, plan)
    // What another kind had approved in part is decided.
    if (plan.finallyMs !== null && plan.cents === 0) this.#approveLate(sale, plan, plan.finallyMs)
    return answer
  }

  /** The same order once more, under another id. */
  #sellAgain(sale: ContrarySale, plan: Plan): void {
    const second = { ...sale, saleId: this.#newSaleId() }
    this.book(second)
    this.#deviate(second, 'a second sale', { plan: { ...plan, isTold: false }, isLeftOut: false })
    this.#notify(second, plan)
  }

  #approveLate(sale: ContrarySale, plan: Plan, delayMs: number): void {
    this.#outside.later(delayMs, () => {
      const approved = sold(sale, { ...plan, cents: sale.askedCents })
      this.#keepBehind(sale.saleId, plan.unapprovedStatus === null ? null : sale, plan)
      this.book(approved)
      if (plan.deviation !== null) this.#deviate(approved, plan.deviation, { plan, isLeftOut: false })
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

  /** A capture or void; `cents` null: of all that there is. */
  #operate(verb: 'capture' | 'void', sale: ContrarySale, cents: number | null): WireAnswer {
    const { dice } = this.#outside
    const askedCents = cents ?? leftOf(sale)
    const possibleCents = possibleOf(verb, sale, askedCents)
    const plan = planOf({ verb, sale, cents: possibleCents, askedCents, dice })
    if (possibleCents === 0 && plan.answer === null) {
      this.#log(verb, sale, askedCents, 0)
      return refusalOf(verb, sale)
    }
    if (plan.bookedAfterMs > 0 && plan.cents > 0) return this.#bookLater(verb, sale, { askedCents, plan, before: sale })
    const booked = plan.cents > 0 ? operatedOn(verb, sale, plan.cents, dice) : sale
    this.book(booked)
    const amounts = plan.deviation !== null && plan.isTold ? { CapturedAmount: booked.capturedCents } : {}
    const honest = operationAnswer(booked, doneCode(verb, booked, dice), amounts)
    const answer = this.#answerOf(booked, plan, honest)
    this.#note(verb, booked, { askedCents, plan, before: sale, isLeftOut: isLeftOut(honest, answer) })
    return answer
  }

  #bookLater(verb: 'capture' | 'void', sale: ContrarySale, { askedCents, plan }: PlannedCall): WireAnswer {
    const call = this.#log(verb, sale, askedCents, 0)
    this.#outside.later(plan.bookedAfterMs, () => {
      const now = this.sales.get(sale.saleId) ?? sale
      const bookedCents = possibleOf(verb, now, plan.cents)
      if (bookedCents === 0) return
      this.book(operatedOn(verb, now, bookedCents, this.#outside.dice))
      call.bookedCents = bookedCents
    })
    return this.#answerOf(sale, plan, operationAnswer(sale, '0'))
  }

  #note(verb: Verb, booked: ContrarySale, call: NotedCall): void {
    const { askedCents, plan, before } = call
    this.#log(verb, booked, askedCents, plan.cents)
    if (plan.cents > 0) this.#keepBehind(booked.saleId, before, plan)
    if (plan.cents > 0 && plan.deviation !== null) this.#deviate(booked, plan.deviation, call)
    this.#notify(booked, plan)
  }

  #log(verb: Verb, { saleId, orderId }: ContrarySale, askedCents: number, bookedCents: number): ContraryCall {
    const call = { verb, saleId, orderId, atMs: this.#outside.nowMs(), askedCents, bookedCents }
    this.calls.push(call)
    return call
  }

  #keepBehind(saleId: string, sale: ContrarySale | null, { behindMs }: Plan): void {
    if (behindMs > 0) this.#behind.set(saleId, { sale, untilMs: this.#outside.nowMs() + behindMs })
  }

  #deviate(sale: ContrarySale, what: string, { plan, isLeftOut }: Pick<NotedCall, 'plan' | 'isLeftOut'>): void {
    const { saleId, orderId } = sale
    const atMs = this.#outside.nowMs()
    const isHeard = !plan.isLost
    const toldAtMs = isHeard && plan.isTold && !isLeftOut ? atMs : null
    this.deviations.push({ saleId, orderId, what, atMs, toldAtMs, isLeftOut: isHeard && isLeftOut, shownAtMs: null })
  }

  #notify({ saleId }: ContrarySale, { notifiesMs }: Plan): void {
    for (const delayMs of notifiesMs) {
      this.#outside.later(delayMs, () => this.#outside.notify(saleId))
    }
  }

  #answerOf(sale: ContrarySale, { answer, isLost }: Plan, honest: WireAnswer): WireAnswer {
    return { ...(answer === null ? honest : answer(sale, honest)), isLost }
  }

  #list(orderId: string): WireAnswer {
    const shown = this.ofOrder(orderId).filter(({ saleId }) => this.#seen(saleId) !== null)
    const [first] = shown
    return first === undefined ? listAnswer([]) : queriedBy(first, listAnswer(shown), this.#outside.dice)
  }

  #show(saleId: string): WireAnswer {
    const seen = this.#seen(saleId)
    if (seen === null) return { status: 404, body: '', isLost: false }
    const view = recordOf(seen)
    const contrary = shownBy(seen, view.Payment)
    const honest = json(200, contrary === null ? view : { ...view, Payment: contrary })
    const answer = queriedBy(seen, honest, this.#outside.dice)
    if (answer === honest) this.looks.push({ saleId, atMs: this.#outside.nowMs() })
    if (contrary === null && answer === honest && seen === this.sales.get(saleId)) this.#noteShown(seen)
    return answer
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

/** What the documents let an acquirer book of a call; 0: it refuses. */
function possibleOf(verb: 'capture' | 'void', sale: ContrarySale, askedCents: number): number {
  const isHeld = sale.status === Wire.authorised
  const isLive = isHeld || (verb === 'void' && sale.status === Wire.captured)
  // A hold is voided as a whole only, and captured once.
  const isWhole = verb === 'capture' || !isHeld || askedCents === leftOf(sale)
  return isLive && isWhole && askedCents <= leftOf(sale) ? askedCents : 0
}

function refusalOf(verb: 'capture' | 'void', sale: ContrarySale): WireAnswer {
  if (verb === 'capture' && sale.status === Wire.authorised) return operationAnswer(sale, '842')
  if (verb === 'void' && sale.status === Wire.captured) return operationAnswer(sale, '102')
  return errorAnswer(400, verb === 'capture' ? 308 : 309, `Transaction not available to ${verb}`)
}

function operatedOn(verb: 'capture' | 'void', sale: ContrarySale, cents: number, dice: Dice): ContrarySale {
  if (verb === 'capture') return { ...sale, status: Wire.captured, capturedCents: cents }
  const isWhole = cents === leftOf(sale)
  const status = isWhole ? dice.pick([Wire.voided, Wire.refunded]) : sale.status
  return { ...sale, voidedCents: sale.voidedCents + cents, status }
}

function doneCode(verb: 'capture' | 'void', { status }: ContrarySale, dice: Dice): string {
  if (verb === 'capture') return '6'
  return status === Wire.captured ? '0' : dice.pick(['9', '0'])
}

function sold(sale: ContrarySale, { cents, isCharged, currency }: Plan): ContrarySale {
  const isCaptured = isCharged ?? sale.isCaptureAsked
  const status = isCaptured ? Wire.captured : Wire.authorised
  return { ...sale, status, amountCents: cents, capturedCents: isCaptured ? cents : 0, currency }
}
