/**
 * Drives a generated path against a running service: merchants, the test clock and the card network do what the events
 * say, and after each step the stored life of the payment is the machine's, line by line.
 */
import type { HistoryEntry, ReportedChange } from '../../machines/model.js'
import type { Sale } from '../../machines/network.js'
import type { Effect, PaymentEvent } from '../../machines/payment/events.js'
import { partitionOfPayment, paymentKeyOf } from '../../redis/keys.js'
import type { PaymentStore } from '../../redis/payments/payments.js'
import { happen, type World } from '../../scripts/docs/payment-paths/payment-world.js'
import { until } from './conditions.js'
import { asOperator, type Merchant } from './merchant.js'
import { before, type PathStep, type TitledPath } from './payment-paths.js'
import type { Rounds } from './rounds.js'
import { nameOfCall, type ScriptedAcquirer, type WireAnswer, wireSaleId } from './scripted-acquirer.js'
import type { ServiceUnderTest } from './service.js'

export interface DrivenService {
  readonly service: ServiceUnderTest
  readonly merchant: Merchant
  readonly acquirer: ScriptedAcquirer
  readonly payments: PaymentStore
  readonly rounds: Rounds
  /** Tells the service what has happened to a sale. */
  notify(saleId: string, reported: ReportedChange): Promise<void>
}

/** Settings that the driver counts on: nothing is asked about before the driver has moved the clock, all sales are sent. */
export const driverSettings = {
  RECONCILE_DELAYS_MS: '60000',
  NETWORK_RETRY_MS: '0',
  NETWORK_CIRCUIT_FAILURES: '1000000'
}

const QUESTION_S = 61
const HORIZON_S = 601
/** What takes much longer than the horizon comes last: holds expire by it. No path waits for just so long (s). */
const KILL_ORDER = HORIZON_S + 30
const REFUSE_ORDER = HORIZON_S + 31
/** In the machine's world this much time passes between two events (ms). */
const STEP_MS = 1_000
const DEADLINE_MS = 30_000

/** A payment on its path. The acquirer holds the call that is under way when `drive` resolves. */
export class PathDriver {
  readonly #path: TitledPath
  readonly #on: DrivenService
  #id: string | undefined

  constructor(path: TitledPath, on: DrivenService) {
    this.#path = path
    this.#on = on
  }

  get paymentId(): string {
    if (this.#id === undefined) throw new Error('the payment was not created')
    return this.#id
  }

  /** Takes every step. Rejects when the service does anything but what the machine does. */
  async drive(): Promise<void> {
    const { steps, start } = this.#path
    if (steps.length === 0) {
      await this.#create()
      await this.#arrive(start)
    }
    for (const [index, step] of steps.entries()) {
      const isRefusedNext = steps[index + 1]?.event.type === 'NOT_SENT'
      if (isRefusedNext) {
        await this.#on.rounds.join({ order: REFUSE_ORDER, act: async () => this.#on.acquirer.refuseTransactions() })
      }
      await this.#take(step, before(this.#path, index))
      if (!isRefusedNext) await this.#arrive(step.world)
    }
  }

  async #take({ event }: PathStep, prior: World): Promise<void> {
    const { merchant, notify, rounds, service } = this.#on
    switch (event.type) {
      case 'AUTHORISE':
        return await this.#create()
      case 'CAPTURE':
      case 'CANCEL': {
        const amount = event.amountCents === null ? {} : { amount: event.amountCents }
        const operation = event.type === 'CAPTURE' ? 'capture' : 'cancel'
        const { status } = await merchant[operation](this.paymentId, { ...amount, waitS: 0 })
        if (status !== 202 && status !== 503) throw new Error(`${operation} was answered ${status}`)
        return
      }
      case 'NETWORK_NOTIFICATION':
        return await notify(wireSaleId(this.paymentId, 'sale-1'), event.reported)
      case 'EXPIRE':
      case 'RECONCILE':
        return await this.#letTimePass(Math.max(secondsBefore(event, prior), QUESTION_S))
      case 'RESUMED':
        return await rounds.join({ order: KILL_ORDER, act: async () => void service.kill('payments') })
      case 'NOT_SENT':
        return
      default:
        if (secondsBefore(event, prior) > 1) await this.#letTimePass(secondsBefore(event, prior))
        this.#answer(event, prior.underWay)
    }
  }

  async #create(): Promise<void> {
    const { captureMode, start } = this.#path
    const amount = start.payment.terms.amountCents
    const answer = await this.#on.merchant.create({ amount, capture: captureMode === 'auto', waitS: 0 })
    this.#id = answer.error.payment_id ?? answer.payment.id
  }

  #answer(event: PaymentEvent, call: Effect | null): void {
    if ('sale' in event) {
      const duplicate = event.duplicateSaleId === null ? [] : [duplicateSale(event.sale, event.duplicateSaleId)]
      this.#on.acquirer.show(this.paymentId, [event.sale, ...duplicate])
    } else this.#on.acquirer.answer(this.paymentId, wireAnswer(event, call, this.paymentId))
  }

  async #letTimePass(seconds: number): Promise<void> {
    await this.#on.rounds.join({
      order: seconds,
      act: async () => {
        const { code, err } = await asOperator(this.#on.service, 'clock', 'advance', `${seconds}s`)
        if (code !== 0) throw new Error(`The clock was not advanced: ${err}`)
      }
    })
  }

  /** Everything is as in the machine's world: what is stored, and the call that waits at the network. */
  async #arrive({ payment, underWay }: World): Promise<void> {
    const id = this.paymentId
    const wanted = linesOf(payment.history)
    let stored = ''
    await until(
      'the life of the payment is the one of the machine',
      async () => {
        const found = await this.#on.payments.load(partitionOfPayment(id), paymentKeyOf(id))
        stored = linesOf(found?.history ?? [])
        return stored === wanted
      },
      DEADLINE_MS
    ).catch((error: unknown) => {
      throw new Error(`stored is "${stored}" and not "${wanted}"`, { cause: error })
    })
    if (underWay !== null) await this.#on.acquirer.untilAsked(id, nameOfCall(underWay), DEADLINE_MS)
  }
}

/** `CANCEL refunding.sending, APPROVED refunded`: repetitions count once, as they are stored. */
function linesOf(history: readonly HistoryEntry[]): string {
  const lines = history.map(({ event, status, phase }) => `${event} ${status}${phase === null ? '' : `.${phase}`}`)
  return lines.filter((line, index) => line !== lines[index - 1]).join(', ')
}

/** How much time has to pass for the event to happen when it does. */
function secondsBefore(event: PaymentEvent, { payment }: World): number {
  const lastMs = payment.history.at(-1)?.atMs ?? payment.terms.createdAtMs
  return event.nowMs - lastMs <= STEP_MS ? 1 : Math.ceil((event.nowMs - lastMs) / 1_000) + 1
}

function duplicateSale(sale: Sale, saleId: string): Sale {
  return { ...sale, references: { ...sale.references, saleId }, status: 'authorised', capturedCents: 0, voidedCents: 0 }
}

function wireAnswer(event: PaymentEvent, call: Effect | null, paymentId: string): WireAnswer {
  switch (event.type) {
    case 'APPROVED': {
      if (call?.kind !== 'authorise') return { status: 200, body: doneBodies[call?.kind ?? 'query'] }
      const { tid, nsu, authorizationCode } = event.references
      const ids = { PaymentId: wireSaleId(paymentId, 'sale-1'), Tid: tid, ProofOfSale: nsu }
      const Payment = {
        ...ids,
        AuthorizationCode: authorizationCode,
        Status: event.isCaptured ? 2 : 1,
        ReturnCode: '4'
      }
      return { status: 201, body: { Payment } }
    }
    case 'DECLINED':
      return {
        status: 201,
        body: { Payment: { PaymentId: wireSaleId(paymentId, 'sale-1'), Status: 3, ReturnCode: event.code } }
      }
    case 'REJECTED':
      if (event.isTooLate) return { status: 200, body: { Status: 1, ReturnCode: event.code } }
      return { status: 400, body: [{ Code: event.code, Message: 'Refused' }] }
    case 'UNPROVEN':
      return { status: 405 }
    case 'AMBIGUOUS':
    case 'NO_ANSWER':
      return { status: 500 }
    case 'ABSENT':
      return { status: 404 }
    default:
      throw new Error(`The network cannot make ${event.type} happen.`)
  }
}

const doneBodies: Readonly<Record<Effect['kind'], unknown>> = {
  authorise: undefined,
  query: undefined,
  capture: { Status: 2, ReturnCode: '6' },
  void: { Status: 10, ReturnCode: '0' },
  refund: { Status: 2, ReturnCode: '0' }
}

/**
 * The same path in the words that the acquirer has. To a capture or void it says one kind of no, REJECTED; the machine
 * also knows DECLINED there, with the same consequences.
 */
export function inWordsOfTheWire(path: TitledPath): TitledPath {
  let world = path.start
  const steps = path.steps.map(({ event }) => {
    const isOfIssuer = event.type === 'DECLINED' && world.underWay?.kind !== 'authorise'
    const said: PaymentEvent = isOfIssuer ? { type: 'REJECTED', code: event.code, nowMs: event.nowMs } : event
    world = happen(world, said).world
    return { event: said, world }
  })
  return { ...path, steps }
}
