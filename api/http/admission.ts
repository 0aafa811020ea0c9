/**
 * Who may come in when many want to: a bound on the requests that one process works on, shared fairly by merchants.
 *
 * A merchant may have `SHARE` times as many requests under way as places are free. Alone it gets three quarters of all
 * places; n merchants that send without end get equal parts, and a part of the places stays free for all others.
 * So no merchant's flood fills the process, and nothing has to be known about who sends how much. (Dynamic thresholds,
 * Choudhury and Hahne 1998.)
 */
import type { ShedReason } from './api-metrics.js'

const SHARE = 3

export class Admission {
  readonly #limit: number
  readonly #byMerchant = new Map<string, number>()
  #inFlight = 0

  /** `limit`: requests that may be under way at the same time. */
  constructor(limit: number) {
    this.#limit = limit
  }

  get figures(): { readonly inFlight: number; readonly merchants: number } {
    return { inFlight: this.#inFlight, merchants: this.#byMerchant.size }
  }

  /** Takes a place; undefined, or why there is none. Who got one gives it back with `leave`. */
  enter(merchantId: string): Extract<ShedReason, 'full' | 'merchant_share'> | undefined {
    const own = this.#byMerchant.get(merchantId) ?? 0
    const free = this.#limit - this.#inFlight
    if (free <= 0) return 'full'
    if (own >= SHARE * free) return 'merchant_share'
    this.#byMerchant.set(merchantId, own + 1)
    this.#inFlight++
    return undefined
  }

  leave(merchantId: string): void {
    const own = this.#byMerchant.get(merchantId) ?? 0
    if (own > 1) this.#byMerchant.set(merchantId, own - 1)
    else this.#byMerchant.delete(merchantId)
    this.#inFlight--
  }
}
