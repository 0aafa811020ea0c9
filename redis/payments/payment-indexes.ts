/** The indexes of a merchant's payments by status and by external reference: zsets with score 0, sorted by payment key. */
import type { PaymentProgress } from '../../machines/model.js'
import type { Redis } from '../connection/connections.js'
import { digest, firstPaymentKeyAt, paymentKeyOf } from '../keys.js'
import { defineScript } from '../scripts.js'

const listPayments = defineScript('list_payments')

/** The first members of all `indexes` between two bounds, as ZRANGE takes them; `isReversed`: the newest first. */
async function membersOf(
  redis: Redis,
  indexes: readonly string[],
  range: { readonly isReversed: boolean; readonly count: number; readonly from: string; readonly to: string }
): Promise<string[]> {
  return (await listPayments(redis, indexes, [JSON.stringify(range)])) as string[]
}

/**
 * What stands before the payment keys of a reference in its index. Payments with other references may have the same prefix;
 * the reader must compare.
 */
export function referencePrefix(externalReference: string): string {
  return digest(externalReference, 12)
}

/**
 * What the index of sales has of a payment: the network's sale id, or '' while it is not known. Half of a surrogate pair is
 * stored as U+FFFD in any case; JSON that Redis reads can't hold it.
 */
export function indexedSaleId({ references }: PaymentProgress): string {
  return references.saleId?.toLowerCase().replace(/\p{Surrogate}/gu, '\ufffd') ?? ''
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
  const range = { from: `(${prefix}${ends.sort()[0]}`, to: `[${prefix}${from}` }
  const found = await membersOf(redis, indexes, { isReversed: true, count, ...range })
  return found.map(member => member.slice(prefix.length))
}

/** Up to `count` payment keys of all `indexes`, oldest first, after one payment key and before another. */
export async function oldestOf(
  redis: Redis,
  indexes: readonly string[],
  { after, before }: { readonly after: string; readonly before: string },
  count: number
): Promise<string[]> {
  return await membersOf(redis, indexes, { isReversed: false, count, from: `(${after}`, to: `(${before}` })
}
