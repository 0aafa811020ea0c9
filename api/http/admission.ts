/**
 * Bounds the requests that one process works on at the same time, and shares that capacity fairly between merchants.
 *
 * A merchant may have `SHARE` times as many requests in flight as there are free places. One busy merchant gets three
 * quarters of all places; n busy merchants get equal parts, and some places stay free for others. This needs no knowledge
 * of the load of a merchant (dynamic thresholds, Choudhury and Hahne 1998).
 */
import { REQUESTS_MAX } from '../../runtime/file-descriptors.js'
import { apiMetrics, type ShedReason } from './api-metrics.js'
import { ServiceError } from './service-error.js'

const SHARE = 3

export class Admission {
  readonly #limit: number
  readonly #byMerchant = new Map<string, number>()
  #inFlight = 0

  /** `limit`: requests that may be in flight at the same time. */
  constructor(limit = REQUESTS_MAX) {
    this.#limit = limit
  }

  get figures(): { readonly inFlight: number; readonly merchants: number } {
    return { inFlight: this.#inFlight, merchants: this.#byMerchant.size }
  }

  /** Does `work` in a place of the merchant. Throws `overloaded` at once when there is none: a wait would only delay the retry. */
  async admit<T>(merchantId: string, work: () => Promise<T>): Promise<T> {
    const reason = this.enter(merchantId)
    if (reason !== undefined) {
      apiMetrics().shed(reason)
      throw overloaded()
    }
    try {
      return await work()
    } finally {
      this.leave(merchantId)
    }
  }

  /** Takes a place, which `leave` gives back; or says why there is none. */
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

/** Seconds. Random, so that clients that were refused together do not come back together. */
const RETRY_AFTER_MIN_S = 1
const RETRY_AFTER_SPREAD_S = 3

/** The answer when there is more work than the service can do. */
export function overloaded(): ServiceError {
  const retryAfterS = RETRY_AFTER_MIN_S + Math.floor(Math.random() * RETRY_AFTER_SPREAD_S)
  return new ServiceError('overloaded', { headers: { 'Retry-After': String(retryAfterS) } })
}
