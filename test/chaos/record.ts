/** What a client of a chaos run records: each request, its idempotency key and its last answer. */
import type { Payment } from '../../client/index.js'

export interface RequestRecord {
  readonly key: string
  readonly kind: 'create' | 'capture' | 'cancel'
  readonly amountCents: number | null
  /** The payment that an operation is asked of, and what the answers name. */
  paymentIds: Set<string>
  /** HTTP status of the conclusive answer; null: there was none. */
  status: number | null
  /** The answered payment, when it was one. */
  answer: Payment | null
  tries: number
  /** The last answer, such as `503 service_unavailable`; empty: none came. */
  last: string
  /** When that came, as `performance.now()` tells it. */
  lastMs: number
  /** The first try, as `performance.now()` tells it; of a create, the first try for its token. */
  readonly beganMs: number
  /**
   * From the first try to the first answer that was more than an error of the connection or a 5xx (ms). It holds the
   * time for which that answer was asked to wait for a result.
   */
  outageMs: number | null
}
