/**
 * The indexes of a merchant's payments by status and by external reference: zsets with score 0, sorted by payment key.
 *
 * A Cluster cannot move a slot that has a huge key, so each key takes `INDEX_KEY_MAX` payments. What comes later goes into
 * a leaf: the payments of 17 minutes. The key before a leaf has its mark, which sorts right behind the last payment of the
 * leaf, so a page that meets a mark knows where to look (decision 27).
 */
import type { PaymentProgress } from '../../machines/model.js'
import type { Redis } from '../connection/connections.js'
import { digest, firstPaymentKeyAt, keys, paymentKeyOf } from '../keys.js'
import { defineScript } from '../scripts.js'

const listPayments = defineScript('list_payments')

/** Redis stops for about 200 ms to move a zset of this size. */
export const INDEX_KEY_MAX = 100_000
/** The first digits of a payment key are its time: 6 of them divide it by 2^20 ms, 17.5 minutes. */
const LEAF_DIGITS = 6

/** The keys of one index. A payment is in the first of them that had room, or else in a leaf of the last. */
export type Index = readonly [string, ...string[]]

/** Its members are payment keys. */
export function statusIndex(partition: number, merchantId: string, status: string): Index {
  return [keys.byStatus(partition, merchantId, status)]
}

/** Its members are `prefix`, the `referencePrefix` of the reference, and a payment key. */
export function referenceIndex(partition: number, merchantId: string, prefix: string): Index {
  return [keys.byReference(partition, merchantId), keys.byReferenceBucket(partition, merchantId, prefix.slice(0, 4))]
}

/** Payments with other references may have the same prefix; the reader must compare. */
export function referencePrefix(externalReference: string): string {
  return digest(externalReference, 12)
}

/** What the index of sales has of a payment: the network's sale id, or '' while it is not known. */
export function indexedSaleId({ references }: PaymentProgress): string {
  return references.saleId?.toLowerCase() ?? ''
}

/** The mark of the leaf that a payment may be in: after all payment keys of that time, before all later ones. */
export function leafMark(paymentKey: string): string {
  return `${paymentKey.slice(0, LEAF_DIGITS)}~`
}

/** The keys of an index, and then its leaves with these marks. */
export function withLeaves(index: Index, ...marks: readonly string[]): string[] {
  const last = index.at(-1) ?? index[0]
  return [...index, ...marks.map(mark => keys.leaf(last, mark.slice(0, -1)))]
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

/** The newest `count` payment keys of all `indexes` in a range. What is newer or older is not read. */
export async function newestOf(
  redis: Redis,
  indexes: readonly Index[],
  prefix: string,
  { afterId, createdFromMs, createdToMs }: IndexRange,
  count: number
): Promise<string[]> {
  const ends = [
    ...(afterId === null ? [] : [paymentKeyOf(afterId)]),
    ...(createdToMs === null ? [] : [firstPaymentKeyAt(createdToMs)])
  ]
  const before = ends.sort()[0] ?? '~'
  const from = createdFromMs === null ? '' : firstPaymentKeyAt(createdFromMs)
  // The mark of the leaf in which the range ends is newer than its end: the page would not meet it.
  const opened = before === '~' ? [] : [leafMark(before)]
  return await readPage(redis, indexes, ['newest', count, prefix, `(${before}`, `[${from}`], opened)
}

/** Up to `count` payment keys of all `indexes`, oldest first, after one payment key and before another. */
export async function oldestOf(
  redis: Redis,
  indexes: readonly Index[],
  { after, before }: { readonly after: string; readonly before: string },
  count: number
): Promise<string[]> {
  return await readPage(redis, indexes, ['oldest', count, '', `(${after}`, `(${before}`], [leafMark(before)])
}

/** Opens leaves until the page meets no mark. `opened`: the leaves whose marks it can't meet. */
async function readPage(
  redis: Redis,
  indexes: readonly Index[],
  range: readonly [order: 'newest' | 'oldest', count: number, prefix: string, from: string, to: string],
  opened: readonly string[]
): Promise<string[]> {
  const marks = new Set(opened)
  for (;;) {
    const places = indexes.flatMap(index => withLeaves(index, ...marks))
    const found = (await listPayments(redis, places, [...range, ...marks])) as string[]
    const met = found.filter(member => member.endsWith('~'))
    // A mark stands behind the payments of its leaf: a full page, oldest first, ends before the mark of its last leaf.
    const last = found.at(-1)
    if (met.length === 0 && range[0] === 'oldest' && last !== undefined) met.push(leafMark(last))
    const closed = met.filter(mark => !marks.has(mark))
    if (closed.length === 0) return found
    // One leaf has enough for a page as a rule.
    for (const mark of closed.slice(0, 1 + 2 * marks.size)) marks.add(mark)
  }
}
