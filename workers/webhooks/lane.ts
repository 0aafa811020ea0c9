/**
 * One merchant's events in one process: in order per payment, side by side between payments, never more at a time
 * than the circuit of the endpoint allows.
 *
 * A payment's events are either here (`#chains`, the first one under way or next) or in Redis (`#waiting`), never both:
 * an event that can't be sent now goes behind the others of its payment, wherever they are. What is put off leaves the
 * memory, so a dead endpoint costs none.
 */
import { decideDelivery } from '../../machines/webhook-delivery.js'
import { spanMs } from '../../machines/webhook-schedule.js'
import type { Lease } from '../../redis/partition-leases.js'
import type { WebhookEndpoint } from '../../redis/webhook-endpoints.js'
import type { Move } from '../../redis/webhook-queue.js'
import type { QueuedEvent } from '../../redis/webhook-record.js'
import { type Logger, warnRateLimited } from '../../runtime/log.js'
import { type AttemptedMove, attemptDelivery } from './attempt.js'
import { Circuit } from './circuit.js'
import type { DeliveryDeps } from './deps.js'
import { Settlements } from './settlements.js'
import { LINE_LENGTH_MAX, WaitingLines } from './waiting-lines.js'

/** Payments whose events wait in memory; more than that wait in Redis. */
const CHAINS_MAX = 2_000
/** A change of URL or secret, or a switch to off, is in effect after this time (ms). */
const ENDPOINT_AGE_MAX_MS = 1_000
const READ_MAX = 100
const OVERDUE_CHECK_MS = 30_000
/** Results and events that wait to be written to Redis. */
const WRITES_MAX = 2_000
const RETRY_SHARE = 8

/** Where events go: to the endpoint of the merchant, if it has one, or nowhere. */
type Target = { readonly isOff: true } | { readonly isOff: false; readonly endpoint: WebhookEndpoint | null }

export interface LaneOptions {
  readonly lease: Lease
  readonly merchantId: string
  /** Aborts when the partition is given up: nothing new is sent, what is under way is cut. */
  readonly stopping: AbortSignal
  readonly onLost: (error: Error) => void
}

export class Lane {
  readonly #deps: DeliveryDeps
  readonly #options: LaneOptions
  readonly #settlements: Settlements
  /** The merchant's own: what one endpoint fails must not hide another's. */
  readonly #log: Logger
  readonly #circuit: Circuit
  readonly #chains = new Map<string, QueuedEvent[]>()
  /** Payments whose first event may be sent. */
  readonly #ready = new Set<string>()
  readonly #waiting: WaitingLines
  /** Those of them whose first event is here as well, to be sent. */
  readonly #borrowed = new Set<string>()
  #target: { value: Promise<Target>; readAtMs: number } | null = null
  #underWay = 0
  #isReading = false
  #isDraining = false
  #overdueCheckAtMs = 0
  #lastUsedMs: number

  constructor(deps: DeliveryDeps, options: LaneOptions, waiting: readonly string[]) {
    const { lease, merchantId, stopping } = options
    this.#deps = deps
    this.#options = options
    this.#waiting = new WaitingLines(waiting)
    this.#circuit = new Circuit(deps.concurrency)
    this.#lastUsedMs = deps.clock.now()
    const settle = (moves: readonly Move[]): Promise<boolean[]> => deps.queue.settle(lease, merchantId, moves)
    this.#settlements = new Settlements(settle, stopping, deps.log)
    this.#log = deps.log.child({ merchant_id: merchantId })
  }

  get waitingCount(): number {
    return this.#waiting.size
  }

  get isCircuitOpen(): boolean {
    return this.#circuit.isOpen
  }

  /** Nothing to do, and not used since `sinceMs`. */
  isForgettable(sinceMs: number): boolean {
    const isEmpty = this.#chains.size === 0 && this.#waiting.size === 0 && this.#settlements.isIdle
    return isEmpty && this.#underWay === 0 && this.#lastUsedMs < sinceMs
  }

  /** Resolves at once, unless more is to be written to Redis than should wait in memory. */
  async hasRoom(): Promise<void> {
    if (this.#settlements.size > WRITES_MAX) await this.#settlements.idle()
  }

  /** Takes charge of a fresh event. */
  offer(event: QueuedEvent): void {
    const { compact } = event
    this.#lastUsedMs = this.#deps.clock.now()
    const chain = this.#chains.get(compact)
    if (this.#waiting.has(compact)) this.#putOff(event)
    else if (chain !== undefined && chain.length >= LINE_LENGTH_MAX) this.#crowdOut(event)
    else if (chain !== undefined) chain.push(event)
    else if (this.#circuit.isOpen || this.#chains.size >= CHAINS_MAX) this.#putOff(event)
    else {
      this.#chains.set(compact, [event])
      this.#ready.add(compact)
      this.#sendMore()
    }
  }

  /** Something of this merchant is due. */
  async wake(): Promise<void> {
    const nowMs = this.#deps.clock.now()
    const allowance = this.#circuit.allowance(nowMs)
    if (allowance === 0) return this.#giveUpOverdue(nowMs)
    // Retries get a share even of an endpoint that is busy with fresh events.
    const share = this.#circuit.isOpen ? 0 : Math.ceil(allowance / RETRY_SHARE)
    await this.#sendWaiting(Math.max(allowance - this.#underWay, share))
  }

  /** Sends nothing new; resolves when what is under way has ended and is written down. */
  async drain(): Promise<void> {
    this.#isDraining = true
    while (this.#underWay > 0 || !this.#settlements.isIdle) {
      await this.#settlements.idle()
      await new Promise(resolve => setTimeout(resolve, 10))
    }
  }

  get #isStopped(): boolean {
    return this.#isDraining || this.#options.stopping.aborted
  }

  #sendMore(): void {
    const nowMs = this.#deps.clock.now()
    for (const compact of this.#ready) {
      if (this.#isStopped || this.#underWay >= this.#circuit.allowance(nowMs)) return
      this.#ready.delete(compact)
      const event = this.#chains.get(compact)?.[0]
      if (event !== undefined) void this.#deliver(event)
    }
  }

  /** Counts as under way until it is written down: so a killed process repeats no more than the circuit allowed. */
  async #deliver(event: QueuedEvent): Promise<void> {
    const { merchantId, stopping, onLost } = this.#options
    this.#underWay++
    this.#circuit.noteStart()
    try {
      const recent = await this.#freshTarget()
      // What happens after a switch is on again must not be forgotten: that is asked anew for each event.
      const target = recent.isOff ? await this.#readTarget() : recent
      if (target.isOff) await this.#forget(event)
      else {
        const outcome = await attemptDelivery(event, merchantId, target.endpoint, this.#deps, stopping)
        // Interrupted: the event is where it was, and the next owner of the partition delivers it.
        if (stopping.aborted) return
        this.#noteHealth(outcome)
        await this.#settle(outcome)
      }
    } catch (error) {
      onLost(error instanceof Error ? error : new Error(String(error)))
    } finally {
      this.#underWay--
    }
    this.#sendMore()
    if (this.#ready.size === 0 && this.#waiting.size > 0) await this.wake().catch(onLost)
  }

  #noteHealth({ after, waitMs }: AttemptedMove): void {
    if (after.delivery.state === 'delivered') this.#circuit.noteSuccess()
    else this.#circuit.noteFailure(this.#deps.clock.now(), waitMs)
    if (this.#circuit.isOpen) this.#putOffReady()
  }

  /** Webhooks are off. Counts as a success, so that events behind a dead endpoint go as soon as they are due. */
  async #forget(before: QueuedEvent): Promise<void> {
    this.#circuit.noteSuccess()
    this.#deps.metrics.forgot()
    const hasLine = await this.#settlements.add({ before, after: null, attempt: null })
    this.#advance(before.compact, hasLine)
  }

  async #settle({ before, after, attempt }: AttemptedMove): Promise<void> {
    const { state } = after.delivery
    if (state === 'waiting') {
      const followers = this.#chains.get(before.compact)?.slice(1) ?? []
      this.#chains.delete(before.compact)
      this.#waiting.keep(before.compact)
      const written = this.#settlements.add({ before, after, attempt })
      for (const follower of followers) this.#putOff(follower)
      await written
      // Not sooner: until then Redis shows the event as it was before.
      this.#borrowed.delete(before.compact)
      return
    }
    if (state === 'undeliverable') this.#noteGivenUp(after)
    const hasLine = await this.#settlements.add({ before, after, attempt })
    this.#advance(before.compact, hasLine)
  }

  /** The first event of a payment is done with: the next one's turn, wherever it is. */
  #advance(compact: string, hasLine: boolean): void {
    const chain = this.#chains.get(compact)
    chain?.shift()
    if (chain !== undefined && chain.length > 0) this.#ready.add(compact)
    else this.#chains.delete(compact)
    if (this.#borrowed.delete(compact)) this.#waiting.shorten(compact)
    if (this.#circuit.isOpen) this.#putOffReady()
    if (!hasLine && !this.#settlements.has(compact)) this.#waiting.delete(compact)
  }

  /** To the end of the payment's waiting line, unless that is full. */
  #putOff(before: QueuedEvent): void {
    if (this.#waiting.isFull(before.compact)) return void this.#crowdOut(before)
    this.#waiting.lengthen(before.compact)
    this.#settlements.add({ before, after: before, attempt: null }).catch(this.#options.onLost)
  }

  #crowdOut(before: QueuedEvent): void {
    const after = { ...before, delivery: decideDelivery(before.delivery, { type: 'CROWDED_OUT' }, this.#deps.retries) }
    this.#noteGivenUp(after)
    this.#settlements.add({ before, after, attempt: null }).catch(this.#options.onLost)
  }

  /** Nothing may be sent now: what was about to be sent need not wait in memory. */
  #putOffReady(): void {
    for (const compact of this.#ready) {
      const chain = this.#chains.get(compact) ?? []
      this.#chains.delete(compact)
      if (!this.#borrowed.delete(compact)) for (const event of chain) this.#putOff(event)
    }
    this.#ready.clear()
  }

  async #sendWaiting(wanted: number): Promise<void> {
    const count = Math.min(wanted, READ_MAX, CHAINS_MAX - this.#chains.size)
    if (this.#isReading || this.#isStopped || count <= 0) return
    for (const event of await this.#readWaiting(this.#deps.clock.now(), count)) {
      if (this.#chains.has(event.compact)) continue
      this.#chains.set(event.compact, [event])
      this.#waiting.keep(event.compact)
      this.#borrowed.add(event.compact)
      this.#ready.add(event.compact)
    }
    this.#sendMore()
  }

  /** Lines whose turn never came in the whole span of the retries. */
  async #giveUpOverdue(nowMs: number): Promise<void> {
    if (this.#isReading || this.#isStopped || nowMs < this.#overdueCheckAtMs) return
    const overdue = await this.#readWaiting(Math.floor(nowMs - spanMs(this.#deps.retries)) - 1, READ_MAX)
    if (overdue.length < READ_MAX) this.#overdueCheckAtMs = nowMs + OVERDUE_CHECK_MS
    await Promise.all(overdue.map(before => this.#giveUp(before, nowMs)))
  }

  async #readWaiting(dueUntilMs: number, count: number): Promise<QueuedEvent[]> {
    const { lease, merchantId } = this.#options
    this.#isReading = true
    try {
      return await this.#deps.queue.readWaiting(lease, merchantId, { dueUntilMs, count, except: this.#borrowed })
    } finally {
      this.#isReading = false
    }
  }

  async #giveUp(before: QueuedEvent, nowMs: number): Promise<void> {
    if (this.#chains.has(before.compact)) return
    const delivery = decideDelivery(before.delivery, { type: 'OVERDUE', nowMs }, this.#deps.retries)
    const after = { ...before, delivery }
    this.#noteGivenUp(after)
    this.#borrowed.add(before.compact)
    const hasLine = await this.#settlements.add({ before, after, attempt: null })
    this.#advance(before.compact, hasLine)
  }

  #noteGivenUp({ eventId, delivery }: QueuedEvent): void {
    this.#deps.metrics.gaveUp()
    const fields = { event_id: eventId, attempts: delivery.attempts }
    // An endpoint that is down for days gives up as many events as its merchant has payments.
    warnRateLimited(this.#log, fields, 'a webhook event is undeliverable')
  }

  #freshTarget(): Promise<Target> {
    const nowMs = performance.now()
    if (this.#target === null || nowMs - this.#target.readAtMs > ENDPOINT_AGE_MAX_MS) {
      this.#target = { value: this.#readTarget(), readAtMs: nowMs }
    }
    return this.#target.value
  }

  async #readTarget(): Promise<Target> {
    const { switches, endpoints } = this.#deps
    const { merchantId } = this.#options
    const [offSinceMs, endpoint] = await Promise.all([switches.offSince(merchantId), endpoints.find(merchantId)])
    return offSinceMs === null ? { isOff: false, endpoint } : { isOff: true }
  }
}
