/**
 * The archive: payments that have rested for long, outside Redis (decision 28). What Redis holds always counts; the archive
 * answers for what Redis does not have.
 */
import type { Payment } from '../machines/model.js'
import type { ListQuery, PaymentPage } from '../redis/payments/list-payments.js'
import { messageOf } from '../runtime/message-of.js'

export interface PaymentArchive {
  /**
   * Durable on return. A row with a newer version stays as it is, unless the payment changed hours after it. Payments of any
   * merchants and months.
   */
  put(payments: readonly Payment[]): Promise<void>
  /** The payment as it was when it left Redis. Null: it never did. */
  find(paymentId: string): Promise<Payment | null>
  /** The same, for a change: the newest committed row, marked as returned to Redis. */
  takeBack(paymentId: string): Promise<Payment | null>
  /** Newest first, like the list of Redis. Ownership, filters and range are those of the query. A statement that runs is not ended. */
  list(query: ListQuery, signal?: AbortSignal): Promise<PaymentPage>
  /** The payment whose sale this is. Null: none of the archive. */
  findBySale(saleId: string): Promise<string | null>
  /** Which of these payments, which left Redis for it, it lost: they are not here, and were not dropped with their month. */
  lostOf(paymentIds: readonly string[]): Promise<readonly string[]>
}

/** The fact of /readyz of a process that has an archive. */
export const ARCHIVE_FACT = 'archive'

/** The archive does not answer in time. The statement may have been executed. */
export class ArchiveUnavailable extends Error {
  constructor(cause: unknown) {
    super(`The archive (ARCHIVE_URL) can't be used: ${messageOf(cause)}`, { cause })
  }
}

/** Throws `ArchiveUnavailable` when the archive lost one of these payments, which left Redis for it. */
export async function assertNothingLost(archive: PaymentArchive, paymentIds: readonly string[]): Promise<void> {
  if (paymentIds.length > 0 && (await archive.lostOf(paymentIds)).length > 0)
    throw new ArchiveUnavailable(new Error(LOST))
}

const LOST =
  'it lacks payments that left Redis for it: it is another database, was made anew, or came back older (docs/ARCHIVE.md, When it lost payments)'
