/**
 * The merchants' receivers of webhooks in a world, and the wires to them: they answer 2xx, fail, are silent or slow,
 * and note everything that arrives, in the order in which it arrives.
 */
import type { Lease } from '../../machines/lease.js'
import { type Sender, type SendOutcome, unanswered } from '../../workers/webhooks/sender.js'
import { type Faults, strike } from './faults.js'
import type { Process, World } from './world.js'

/** An event as a receiver has it. */
export interface ArrivedEvent {
  readonly paymentId: string
  readonly status: string
  readonly body: string
}

/** A request on its way; `settle` tells the sender what came of it, the first time only. */
interface Post {
  readonly process: Process
  readonly body: string
  readonly settle: (outcome: SendOutcome) => void
}

const LATENCY_MEAN_MS = 30
/** The longest that a slow request is on its way: beyond the timeout of the sender. */
const SLOW_MAX_MS = 6_000
const RETRY_AFTER_MS = 2_000
/** What is sent and not noted yet is the moment that matters. */
const POST_WEIGHT = 8

export class Receivers {
  /** What was noted, by event id, in the order of the first arrivals. */
  readonly #arrived = new Map<string, ArrivedEvent>()
  /** What a receiver got that can't be. */
  readonly complaints: string[] = []
  /** No receiver can be reached until then (ms of the world). */
  awayUntilMs = 0
  readonly #world: World
  readonly #faults: Faults

  constructor(world: World, faults: Faults) {
    this.#world = world
    this.#faults = faults
  }

  /** The sender of one process. */
  connect(process: Process, timeoutMs: number): Sender {
    return {
      post: (_url, _headers, body, lease) => this.#post(process, body, lease, timeoutMs),
      close: () => Promise.resolve()
    }
  }

  /** The events of a payment in the order in which they came first. */
  ofPayment(paymentId: string): readonly ArrivedEvent[] {
    return [...this.#arrived.values()].filter(event => event.paymentId === paymentId)
  }

  #post(process: Process, body: string, lease: Lease, timeoutMs: number): Promise<SendOutcome> {
    const world = this.#world
    return new Promise(resolve => {
      const fail = (reason: string): void => settle(unanswered(reason))
      const interrupt = (): void => fail('the delivery was interrupted')
      let stopListening = (): void => undefined
      let isSettled = false
      const settle = (outcome: SendOutcome): void => {
        if (isSettled) return
        isSettled = true
        patience.isCancelled = true
        stopListening()
        world.trace('webhook', () => `${JSON.stringify(outcome)} to ${body}`)
        resolve(outcome)
      }
      const patience = world.after(timeoutMs, process, () => fail('no answer in time'))
      if (lease.isLost()) return interrupt()
      if (strike(world, this.#faults, process, () => `before a webhook: ${body}`, POST_WEIGHT)) return
      stopListening = lease.onLost(interrupt)
      // A process that is suspended while it connects sends late.
      world.after(this.#latencyMs(), process, () => {
        if (isSettled) return
        if (this.awayUntilMs > world.nowMs) fail('ECONNREFUSED')
        else this.#carry({ process, body, settle })
      })
    })
  }

  #carry(post: Post): void {
    const world = this.#world
    const wayMs = this.#happens('receiverSlow') ? world.random.next() * SLOW_MAX_MS : this.#latencyMs()
    world.after(wayMs, null, () => {
      const isSilent = this.#happens('receiverSilent')
      const isFailing = !isSilent && this.#happens('receiverFails')
      const isNoted = !(isSilent || isFailing) || world.random.chance(0.5)
      if (isNoted) this.#note(post.body)
      if (!isSilent) this.#answer(post, isFailing)
    })
  }

  #answer({ process, body, settle }: Post, isFailing: boolean): void {
    const world = this.#world
    const status = isFailing ? world.random.pick([500, 503]) : 200
    const retryAfterMs = status === 503 ? RETRY_AFTER_MS : null
    world.after(this.#latencyMs(), process, () => {
      if (strike(world, this.#faults, process, () => `after a webhook: ${body}`, POST_WEIGHT)) return
      settle({ status, retryAfterMs, note: '' })
    })
  }

  #note(body: string): void {
    const event = JSON.parse(body) as { event_id: string; payment_id: string; status: string }
    const { event_id: eventId, payment_id: paymentId, status } = event
    const known = this.#arrived.get(eventId)
    if (known === undefined) this.#arrived.set(eventId, { paymentId, status, body })
    else if (known.body === body) this.#world.note('delivered twice', eventId)
    else this.complaints.push(`event ${eventId}: came as ${known.body}, and as ${body}`)
  }

  #happens(fault: 'receiverFails' | 'receiverSilent' | 'receiverSlow'): boolean {
    if (!this.#world.random.chance(this.#faults[fault])) return false
    this.#world.note(fault)
    return true
  }

  #latencyMs(): number {
    return this.#world.random.exponential(LATENCY_MEAN_MS)
  }
}
