/** The indexes of a merchant's payments by status and by external reference: zsets with score 0, sorted by payment key. */
import type { PaymentProgress } from '../../machines/model.js'
import type { Redis } from '../connection/connections.js'
import { digest, firstPaymentKeyAt, paymentKeyOf } from '../keys.js'
import { defineScript } from '../scripts.js'

const listPayments = defineScript('list_payments')

/**
 * What stands before the payment keys of a reference in its index. Payments with other references may have the same prefix;
 * the reader must compare.
 */
export function referencePrefix(externalReference: string): string {
  return digest(externalReference, 12)
}

/** What the index of sales has of a payment: the network's sale id, or '' while it is not known. */
export function indexedSaleId({ references }: PaymentProgress): string {
  return references.saleId?.toLowerCase() ?? ''
}

/** Which part of the indexes is read. Null: without a bound. */
export interface IndexRange {
  /** Only payments before this one. */
  readonly afterId: string | null
  /** Only payments that were created at this time (ms) or later. */
  readonly createdFromMs: number | null
  /** Only payments that were created before this time (ms). */
  readonly createdToMs: number | null
}

/** After all payment keys. */
const END = '~'

/** The newest `count` payment keys of all `indexes` in a range. What is newer or older is not read. */
export async function newestOf(
  redis: Redis,
  indexes: readonly string[],
  prefix: string,
  { afterId, createdFromMs, createdToMs }: IndexRange,
  count: number
): Promise<string[]> {
  const ends = [
    afterId === null ? END : paymentKeyOf(afterId),
    createdToMs === null ? END : firstPaymentKeyAt(createdToMs)
  ]
  const from = createdFromMs === null ? '' : firstPaymentKeyAt(createdFromMs)
  const range = [`(${prefix}${ends.sort()[0]}`, `[${prefix}${from}`]
  const found = (await listPayments(redis, indexes, ['newest', count, ...range])) as string[]
  return found.map(member => member.slice(prefix.length))
}

/** Up to `count` payment keys of all `indexes`, oldest first, after one payment key and before another. */
export async function oldestOf(
  redis: Redis,
  indexes: readonly string[],
  { after, before }: { readonly after: string; readonly before: string },
  count: number
): Promise<string[]> {
  return (await listPayments(redis, indexes, ['oldest', count, `(${after}`, `(${before}`])) as string[]
}
