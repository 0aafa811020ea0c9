/**
 * The card network of a world: the acquirer of the simulator with its ledger, behind a wire that loses, delays and
 * doubles what it carries. The service's own adapter (workers/network/card-network.ts) speaks to it.
 */
import type { Lease } from '../../machines/lease.js'
import type { CardNetwork } from '../../machines/network.js'
import type { Config } from '../../runtime/config.js'
import { Acquirer, type AcquirerAnswer } from '../../scripts/simulator/acquirer.js'
import { Ledger } from '../../scripts/simulator/ledger.js'
import { networkOver } from '../../workers/network/card-network.js'
import { WatchedTransport } from '../../workers/network/network-watch.js'
import type { Exchange, Transport, WireRequest } from '../../workers/network/transport.js'
import { type Faults, strike } from './faults.js'
import type { Process, World } from './world.js'

const LATENCY_MEAN_MS = 120
/** The longest that a request may be on its way: with the timeouts and sleeps, well inside the horizon. */
const LATE_MAX_MS = 8_000
/** How long a query may not show what was booked. */
const STALE_MS = 2_000
/** The record is read from several hosts, and not all are behind: an answer may be older than the one before. */
const READ_BEHIND = 0.7
/** The same for what is reported: the record may be behind for almost a horizon. */
const BEHIND_MAX_MS = 20_000

/** The gateway may have handed a request on before it answers 429 or 503. */
const BOOKED_BEHIND_GATEWAY = 0.3

/**
 * `away`: no request arrives. `denying`: queries arrive at a host that knows none of our sales. `throttled`: a gateway
 * answers 429 or 503 to everything.
 */
export type NetworkTrouble = 'away' | 'denying' | 'throttled'

export class SimulatedNetwork {
  readonly ledger = new Ledger(null)
  state: NetworkTrouble | 'well' = 'well'
  /** When the network was last asked about an order, in its right mind: order id -> ms of the world. */
  readonly askedAtMs = new Map<string, number>()
  readonly acquirer: Pick<Acquirer, 'answer'>
  readonly #world: World
  readonly #faults: Faults
  /** What queries answered last, and until when they go on answering it. */
  readonly #stale = new Map<string, { answer: AcquirerAnswer; untilMs: number }>()

  /** `acquirer`: instead of the simulator's, over a ledger of its own. */
  constructor(world: World, faults: Faults, acquirer?: Pick<Acquirer, 'answer'>) {
    this.#world = world
    this.#faults = faults
    this.acquirer = acquirer ?? new Acquirer(this.ledger, 'http://network')
  }

  /** Receives each request that a worker sends, when it does. */
  onSent: (request: WireRequest) => void = () => undefined

  /** What each sale was asked to capture (cents), whether it arrived or not. */
  readonly capturesSent = new Map<string, Set<number>>()

  /**
   * What each command was shown last, by its lease: the sales with a chargeback. What another command of the payment was shown may be
   * lost when its lock has vanished, because one of them commits first.
   */
  readonly #disputed = new WeakMap<Lease, Set<string>>()
  /** Sales of which a command sent a void or a refund although it had been shown their chargeback: the buyer gets it twice. */
  readonly givenBackTwice = new Set<string>()

  /** Receives each operation that reached a sale. */
  onBooked: (saleId: string) => void = () => undefined

  /** Before a sale changes: queries go on showing it as it was. */
  keepStale(saleId: string): void {
    const path = `/1/sales/${saleId}`
    const answer = this.acquirer.answer('GET', path, new URLSearchParams(), '')
    this.#stale.set(`${path}?`, {
      answer,
      untilMs: this.#world.nowMs + this.#world.random.between(STALE_MS, BEHIND_MAX_MS)
    })
  }

  /** What people gave back of a sale in the portal (cents). */
  readonly #byHand = new Map<string, number>()

  noteRefundByHand(saleId: string, cents: number): void {
    this.#byHand.set(saleId, this.refundedByHand(saleId) + cents)
  }

  refundedByHand(saleId: string): number {
    return this.#byHand.get(saleId) ?? 0
  }

  /** The adapter as one worker has it, with its circuit. */
  connect(process: Process, config: Config): CardNetwork {
    const transport: Transport = {
      send: (request, lease) => this.#send(process, request, lease),
      close: () => Promise.resolve()
    }
    const transactions = new WatchedTransport(transport, {
      baseUrl: 'http://network',
      probePath: '/',
      timeoutMs: config.networkTimeoutMs,
      circuit: {
        failuresMax: config.networkCircuitFailures,
        environment: 'live',
        log: { warn: () => this.#world.note('circuit opens'), info: () => this.#world.note('circuit closes') }
      }
    })
    return networkOver(transactions, transport, config)
  }

  #send(process: Process, request: WireRequest, lease: Lease): Promise<Exchange> {
    const world = this.#world
    return new Promise(resolve => {
      let stopListening = (): void => undefined
      let isSettled = false
      // An answer that comes after its caller gave up shows that process nothing.
      const settle = (exchange: Exchange): void => {
        if (isSettled) return
        isSettled = true
        stopListening()
        if (request.method === 'GET' && exchange.kind === 'answered') this.#noteShown(lease, request, exchange.text)
        world.trace('network', () => `${request.method} ${request.path} -> ${JSON.stringify(exchange).slice(0, 140)}`)
        resolve(exchange)
      }
      if (lease.isLost()) return settle({ kind: 'not_sent', reason: 'the caller gave up' })
      if (strike(world, this.#faults, process, () => `before ${request.method} ${request.path}`)) return
      if (this.#happens('notSent')) {
        world.after(this.#latencyMs(), process, () => settle({ kind: 'not_sent', reason: 'ECONNREFUSED' }))
        return
      }
      this.onSent(request)
      this.#noteCapture(request.path)
      this.#noteGivenBack(lease, request.path)
      if (request.method === 'GET')
        stopListening = lease.onLost(() => settle({ kind: 'ambiguous', reason: 'the caller gave up' }))
      world.after(request.timeoutMs, process, () => settle({ kind: 'ambiguous', reason: 'no whole answer' }))
      this.#carry(process, request, settle)
    })
  }

  #noteCapture(path: string): void {
    const [, saleId = '', cents] = /^\/1\/sales\/([^/]+)\/capture\?amount=(\d+)/.exec(path) ?? []
    if (cents === undefined) return
    this.capturesSent.set(saleId, (this.capturesSent.get(saleId) ?? new Set()).add(Number(cents)))
  }

  #noteShown(lease: Lease, { path }: WireRequest, text: string): void {
    const [, saleId] = /^\/1\/sales\/([^/?]+)$/.exec(path) ?? []
    if (saleId === undefined) return
    const disputed = this.#disputed.get(lease) ?? new Set()
    this.#disputed.set(lease, disputed)
    if (text.includes('"Chargebacks"')) disputed.add(saleId)
    else disputed.delete(saleId)
  }

  #noteGivenBack(lease: Lease, path: string): void {
    const [, saleId = ''] = /^\/1\/sales\/([^/]+)\/void/.exec(path) ?? []
    if (this.#disputed.get(lease)?.has(saleId)) this.givenBackTwice.add(saleId)
  }

  #carry(process: Process, request: WireRequest, settle: (exchange: Exchange) => void): void {
    const world = this.#world
    const cut = (): void => settle({ kind: 'ambiguous', reason: 'ECONNRESET' })
    // The caller's own timeout tells it half of the time, which is what a host that went silent looks like.
    if (this.state === 'away') return void (world.random.chance(0.5) && world.after(this.#latencyMs(), process, cut))
    if (this.state === 'throttled') return void this.#turnAway(process, request, settle)
    if (this.#happens('dropBefore')) return void world.after(this.#latencyMs(), process, cut)
    const isLate = this.#happens('late')
    const wayMs = isLate
      ? request.timeoutMs + world.random.next() * (LATE_MAX_MS - request.timeoutMs)
      : this.#latencyMs()
    // Of two copies, no network refuses one for certain and books the other: the refusal alone would be false.
    const isDoubled = this.#isDoublable(request) && this.#happens('twice')
    if (isDoubled) {
      world.after(this.#latencyMs() + world.random.next() * LATE_MAX_MS, null, () => this.#reach(request, isDoubled))
    }
    world.after(wayMs, null, () => {
      const answer = this.#reach(request, isDoubled)
      if (answer.isLost || this.#happens('dropAfter')) return void world.after(this.#latencyMs(), process, cut)
      const exchange: Exchange = { kind: 'answered', status: answer.status, text: answer.body }
      world.after(this.#latencyMs(), process, () => {
        if (!strike(world, this.#faults, process, () => `after ${request.method} ${request.path}`)) settle(exchange)
      })
    })
  }

  #turnAway(process: Process, request: WireRequest, settle: (exchange: Exchange) => void): void {
    const world = this.#world
    const isHandedOn = request.method !== 'GET' && world.random.chance(BOOKED_BEHIND_GATEWAY)
    world.after(this.#latencyMs(), null, () => {
      if (isHandedOn) this.#reach(request, false)
      const status = world.random.pick([429, 503])
      world.after(this.#latencyMs(), process, () => settle({ kind: 'answered', status, text: '' }))
    })
  }

  /** What the acquirer makes of a request that has arrived. */
  #reach(request: WireRequest, isDoubled: boolean): AcquirerAnswer {
    const isWrite = request.method !== 'GET'
    if (this.#happens('error') && this.#world.random.chance(0.5)) return broken()
    if (request.method === 'PUT' && !isDoubled && this.#happens('refuse')) return refused()
    const [path = '', query = ''] = request.path.split('?')
    if (!isWrite) return this.#query(path, query)
    const saleId = /^\/1\/sales\/([^/]+)\/(?:capture|void)$/.exec(path)?.[1]
    if (saleId !== undefined && this.#faults.byHand > 0 && this.#happens('staleQuery')) this.keepStale(saleId)
    const answer = this.acquirer.answer(request.method, path, new URLSearchParams(query), request.body ?? '')
    if (saleId !== undefined) this.onBooked(saleId)
    this.#world.trace('booked', `${request.method} ${request.path} ${answer.status}`)
    if (request.method === 'POST' && answer.status === 201 && this.#happens('unfinished')) {
      return this.#leaveUnfinished(answer)
    }
    return this.#happens('error') ? broken() : answer
  }

  /** Queries show seconds later how the sale ends; some are undone by then (the acquirer's cancellation guarantee). */
  #leaveUnfinished(answer: AcquirerAnswer): AcquirerAnswer {
    const world = this.#world
    const body = JSON.parse(answer.body) as { Payment: { PaymentId: string; Status: number; ReturnCode: string } }
    const sale = this.ledger.find(body.Payment.PaymentId)
    if (sale === undefined) return answer
    const { status, capturedAmount } = sale
    this.ledger.book({ ...sale, status: 0, capturedAmount: 0, capturedAtMs: null })
    const isCancelled = (status === 1 || status === 2) && world.random.chance(0.3)
    const end = isCancelled
      ? { status: 10, capturedAmount, voidedAmount: sale.amount, voidedAtMs: world.nowMs }
      : { status, capturedAmount, capturedAtMs: sale.capturedAtMs }
    world.after(world.random.between(500, 30_000), null, () => {
      const now = this.ledger.find(sale.paymentId)
      if (now?.status === 0) this.ledger.book({ ...now, ...end })
      world.note('finished late', JSON.stringify(end))
    })
    return { ...answer, body: JSON.stringify({ ...body, Payment: { ...body.Payment, Status: 0, ReturnCode: '99' } }) }
  }

  #query(path: string, query: string): AcquirerAnswer {
    const { nowMs } = this.#world
    if (this.state === 'denying') return { status: 404, body: '', isLost: false }
    const orderId = new URLSearchParams(query).get('merchantOrderId')
    if (orderId !== null) this.askedAtMs.set(orderId, nowMs)
    const place = `${path}?${query}`
    const stale = this.#stale.get(place)
    if (stale !== undefined && stale.untilMs > nowMs && this.#world.random.chance(READ_BEHIND)) return stale.answer
    const answer = this.acquirer.answer('GET', path, new URLSearchParams(query), '')
    if (this.#happens('staleQuery')) this.#stale.set(place, { answer, untilMs: nowMs + STALE_MS })
    return answer
  }

  /** What a gateway may do twice without an effect: not sales, and not refunds of a part. */
  #isDoublable({ method, path }: WireRequest): boolean {
    return method === 'PUT' && (path.includes('/capture') || path.endsWith('/void'))
  }

  #happens(
    fault: 'unfinished' | 'notSent' | 'dropBefore' | 'dropAfter' | 'late' | 'twice' | 'error' | 'refuse' | 'staleQuery'
  ): boolean {
    if (!this.#world.random.chance(this.#faults[fault])) return false
    this.#world.note(fault)
    return true
  }

  #latencyMs(): number {
    return this.#world.random.exponential(LATENCY_MEAN_MS)
  }
}

function broken(): AcquirerAnswer {
  return { status: 500, body: '', isLost: false }
}

/** A refusal for certain, in the words of the acquirer: error 108. */
function refused(): AcquirerAnswer {
  return { status: 400, body: JSON.stringify([{ Code: 108, Message: 'Refused this time' }]), isLost: false }
}
