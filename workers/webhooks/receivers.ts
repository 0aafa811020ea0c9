/** How much one process sends to each endpoint at the same time. */
import { isReceipt, THROTTLING } from '../../machines/webhook-delivery.js'
import type { Logger } from '../../runtime/log.js'

const WINDOW_START = 16
/** Merchants that a process remembers. */
const RECEIVERS_MAX = 5_000

/**
 * Bounds the events in flight to one endpoint: one more after each success, half after no answer or a throttling status.
 * A refusal of one event changes nothing.
 */
export class Receiver {
  /** One per merchant: rate-limited warnings about one endpoint must not hide those about another. */
  readonly log: Logger
  readonly #concurrency: number
  #window: number
  #inFlight = 0

  /** `concurrency`: the most that may be in flight. */
  constructor(concurrency: number, log: Logger) {
    this.#concurrency = concurrency
    this.#window = Math.min(WINDOW_START, concurrency)
    this.log = log
  }

  /** How many more may be in flight. */
  get room(): number {
    return Math.max(0, this.#window - this.#inFlight)
  }

  get isIdle(): boolean {
    return this.#inFlight === 0
  }

  /** Counts `send` as in flight. */
  async during<T>(send: () => Promise<T>): Promise<T> {
    this.#inFlight++
    try {
      return await send()
    } finally {
      this.#inFlight--
    }
  }

  /** `status`: of the answer; null: there was none. */
  note(status: number | null): void {
    if (status === null || THROTTLING.includes(status)) this.#window = Math.max(1, Math.floor(this.#window / 2))
    else if (isReceipt(status)) this.#window = Math.min(this.#window + 1, this.#concurrency)
  }
}

/** Gives the receiver of each merchant. */
export function createReceivers(concurrency: number, log: Logger): (merchantId: string) => Receiver {
  const receivers = new Map<string, Receiver>()
  return merchantId => {
    const known = receivers.get(merchantId)
    if (known !== undefined) return known
    if (receivers.size >= RECEIVERS_MAX) {
      for (const [id, { isIdle }] of receivers) if (isIdle) receivers.delete(id)
    }
    const receiver = new Receiver(concurrency, log.child({ merchant_id: merchantId }))
    receivers.set(merchantId, receiver)
    return receiver
  }
}
