/** Pages of a merchant's payments, newest first: the indexes name them, and their records are read. */
import { type Payment, type PaymentStatus, paymentStatuses } from '../../machines/model.js'
import type { Redis } from '../connection/connections.js'
import { keys, paymentIdOfKey } from '../keys.js'
import { type IndexRange, newestOf, referencePrefix } from './payment-indexes.js'
import { decodePayment } from './payment-record.js'

/** More than the largest page. */
const REFERENCE_SCAN_MAX = 500
/**
 * Bounds the size of a page. A hundred payments with the most metadata have 4 MB: ten such pages a second delay the requests of
 * other merchants by seconds. A page of usual payments is well below this.
 */
export const PAGE_CHARACTERS_MAX = 128 * 1_024
/** The usual page in one read: each one waits for the writes of others to be on the disk. */
const READ_AT_ONCE = 25

export interface PaymentPage {
  readonly payments: readonly Payment[]
  /** Id from which the next page starts; null on the last page. */
  readonly nextAfterId: string | null
}

/** Which payments of a merchant are listed. Null: any. */
export interface ListFilter extends IndexRange {
  readonly status: PaymentStatus | null
  readonly externalReference: string | null
  readonly limit: number
}

export interface ListQuery extends ListFilter {
  readonly partition: number
  readonly merchantId: string
}

/**
 * One page; rejects once `signal` aborts. An external reference has a handful of payments as a rule, so their status is compared
 * after loading. Of one that is used for thousands, a page looks through `REFERENCE_SCAN_MAX`, and the next page continues.
 */
export async function listPage(redis: Redis, query: ListQuery, signal?: AbortSignal): Promise<PaymentPage> {
  const { status, externalReference, limit } = query
  const prefix = externalReference === null ? '' : referencePrefix(externalReference)
  const count = externalReference === null || status === null ? limit + 1 : REFERENCE_SCAN_MAX
  const found = await newestOf(redis, indexesOf(query), prefix, query, count)
  return await readPage(redis, query, found, count, signal)
}

function indexesOf({ partition, merchantId, status, externalReference }: ListQuery): string[] {
  if (externalReference !== null) return [keys.byReference(partition, merchantId)]
  return (status === null ? paymentStatuses : [status]).map(one => keys.byStatus(partition, merchantId, one))
}

/**
 * The first of the payments `found` that fill a page; the index was read up to `count` of them. A payment whose status changed
 * between the index and its record is left out, so that a page may be short; so may one that is full of metadata.
 */
async function readPage(
  redis: Redis,
  { partition, status, externalReference, limit }: ListQuery,
  found: readonly string[],
  count: number,
  signal?: AbortSignal
): Promise<PaymentPage> {
  const payments: Payment[] = []
  let seen = 0
  let characters = 0
  const isWanted = ({ terms, progress }: Payment): boolean =>
    (status === null || progress.status === status) &&
    (externalReference === null || terms.externalReference === externalReference)
  let records: (string | null)[] = []
  while (seen < found.length && payments.length < limit && characters < PAGE_CHARACTERS_MAX) {
    const at = seen % READ_AT_ONCE
    if (at === 0) {
      signal?.throwIfAborted()
      const next = found.slice(seen, seen + READ_AT_ONCE)
      records = await redis.mget(next.map(paymentKey => keys.payment(partition, paymentKey)))
    }
    const [record, paymentKey = ''] = [records[at] ?? '', found[seen]]
    seen++
    characters += record.length
    const payment = record === '' ? null : decodePayment(record, paymentKey)
    if (payment !== null && isWanted(payment)) payments.push(payment)
  }
  const last = seen < found.length || found.length === count ? found[seen - 1] : undefined
  return { payments, nextAfterId: last === undefined ? null : paymentIdOfKey(last) }
}
