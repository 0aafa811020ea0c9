/** A card network in memory: answers what a test tells it, in order, and remembers what it was asked. */
import type { CallOutcome, CardNetwork, QueryOutcome } from '../../machines/network.js'
import { references } from './payments.js'

export const approvedAndCaptured: CallOutcome = { kind: 'approved', isCaptured: true, references }
export const approvedOnly: CallOutcome = { kind: 'approved', isCaptured: false, references }
export const ambiguous: CallOutcome = { kind: 'ambiguous', reason: 'cut' }
export const notSent: CallOutcome = { kind: 'not_sent', reason: 'ECONNREFUSED' }

type Prepared<T> = T | (() => Promise<T>)

export class FakeNetwork implements CardNetwork {
  /** The calls in their order: `authorise`, `capture 600`, `void`, `void 300`, `query`. */
  readonly asked: string[] = []
  readonly #calls: Prepared<CallOutcome>[] = []
  readonly #queries: Prepared<QueryOutcome>[] = []
  readonly orderIds = new Map<string, string>()

  /** What the next calls that move money mean. */
  willAnswer(...outcomes: Prepared<CallOutcome>[]): this {
    this.#calls.push(...outcomes)
    return this
  }

  /** What the next queries are answered. */
  willFind(...outcomes: Prepared<QueryOutcome>[]): this {
    this.#queries.push(...outcomes)
    return this
  }

  authorise(): Promise<CallOutcome> {
    return this.#next('authorise', this.#calls)
  }

  capture(_saleId: string, amountCents: number): Promise<CallOutcome> {
    return this.#next(`capture ${amountCents}`, this.#calls)
  }

  void(_saleId: string, amountCents: number | null): Promise<CallOutcome> {
    return this.#next(amountCents === null ? 'void' : `void ${amountCents}`, this.#calls)
  }

  query(): Promise<QueryOutcome> {
    return this.#next('query', this.#queries)
  }

  async findOrderId(saleId: string): Promise<string | null> {
    this.asked.push('findOrderId')
    return this.orderIds.get(saleId) ?? null
  }

  async #next<T>(name: string, prepared: Prepared<T>[]): Promise<T> {
    this.asked.push(name)
    const outcome = prepared.shift()
    if (outcome === undefined) throw new Error(`the test prepared no answer to: ${name}`)
    return typeof outcome === 'function' ? await (outcome as () => Promise<T>)() : outcome
  }
}
