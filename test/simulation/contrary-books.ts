/** What the audits of a contrary world compare: the ledger of the acquirer, and what the service wrote and sent. */
import type { Payment } from '../../machines/model.js'
import { orderIdOf } from '../../machines/network.js'
import type { ContraryAcquirer, ContraryCall, Look } from '../support/contrary-acquirer.js'
import type { Lives, OperationLife, PaymentLife } from './contrary-lives.js'
import type { Conclusion } from './contrary-operator.js'
import type { RequestRecord } from './simulated-merchant.js'

/** What the acquirer has booked, and was asked. */
export type Books = Pick<ContraryAcquirer, 'sales' | 'calls' | 'deviations' | 'firstShownMs' | 'ofOrder'>

export interface ContraryWorld {
  readonly acquirer: Books
  readonly looks: readonly Look[]
  readonly lives: Lives
  readonly conclusions: readonly Conclusion[]
  readonly records: readonly Pick<RequestRecord, 'paymentId' | 'kind' | 'amountCents'>[]
  /** When each void left the service, by sale. */
  readonly voidsSentMs: ReadonlyMap<string, readonly number[]>
  readonly listAfterMs: number
  /** The end of the world. */
  readonly endedMs: number
}

/** The longest gap between two looks or tries, and the time to run them (ms). */
export const SLACK_MS = 400_000

/** The calls between the beginning of an operation and that of the next one. */
export function callsOf(acquirer: Books, life: PaymentLife, operation: OperationLife): ContraryCall[] {
  const ownSaleId = ownSaleIdOf(acquirer, life.last)
  const begun = [...life.operations.values()].map(({ beganMs }) => beganMs)
  const untilMs = Math.min(Number.POSITIVE_INFINITY, ...begun.filter(beganMs => beganMs > operation.beganMs))
  return acquirer.calls.filter(
    ({ orderId, saleId, atMs }) =>
      orderId === orderIdOf(life.id) && saleId === ownSaleId && atMs >= operation.beganMs && atMs < untilMs
  )
}

/** The sale that the service calls the payment's, or else the first one of the order. */
export function ownSaleIdOf(acquirer: Books, { terms, progress }: Payment): string | undefined {
  const { saleId } = progress.references
  return saleId !== null && acquirer.sales.has(saleId) ? saleId : acquirer.ofOrder(orderIdOf(terms.id))[0]?.saleId
}

/** Whether it was listed at some time from `fromMs` to `untilMs`. */
export function isListedIn({ listed }: PaymentLife, fromMs: number, untilMs: number): boolean {
  return listed.some(listing => listing.fromMs <= untilMs && (listing.untilMs ?? fromMs) >= fromMs)
}

export function wasListed(life: PaymentLife, sinceMs: number): boolean {
  return isListedIn(life, sinceMs, Number.POSITIVE_INFINITY)
}
