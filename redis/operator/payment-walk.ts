/** Reads many payments for an operator at a bounded rate, so that an export does not delay merchants' requests. */
import type { Payment } from '../../machines/model.js'
import { delay } from '../../runtime/delay.js'
import type { PaymentStore } from '../payments/payments.js'

export interface PaymentWalk {
  readonly merchants: readonly { readonly merchantId: string; readonly partition: number }[]
  /** Created at this time (ms) or later, and before `toMs`. */
  readonly fromMs: number
  readonly toMs: number
  /** Null: any. */
  readonly externalReference: string | null
  readonly perSecond: number
  /** Called after each page: payments read, and which part of the walk is done (0 to 1). */
  onPage?(read: number, share: number): void
}

/** Larger pages would keep other requests waiting. */
const PAGE = 100

/** The payments of each merchant in turn, the newest first. One that is created meanwhile may be left out. */
export async function* walkPayments(store: PaymentStore, walk: PaymentWalk): AsyncGenerator<Payment> {
  const { merchants, fromMs, toMs, externalReference, perSecond, onPage } = walk
  const startedMs = performance.now()
  let read = 0
  for (const [index, merchant] of merchants.entries()) {
    let afterId: string | null = null
    do {
      const range = { afterId, createdFromMs: fromMs, createdToMs: toMs, status: null, externalReference, limit: PAGE }
      const page = await store.list({ ...merchant, ...range })
      yield* page.payments
      read += page.payments.length
      afterId = page.nextAfterId
      const oldestMs = page.payments.at(-1)?.terms.createdAtMs ?? toMs
      const share = afterId === null ? 1 : (toMs - oldestMs) / (toMs - fromMs)
      onPage?.(read, (index + share) / merchants.length)
      await delay((read / perSecond) * 1_000 - (performance.now() - startedMs))
    } while (afterId !== null)
  }
}
