/** The mark of the newest payment that left a partition, in the hands of an operator. */
import type { Redis } from '../connection/connections.js'
import { keys, partitionOfPayment, paymentKeyOf } from '../keys.js'
import { replaceRecord } from '../replace-record.js'

/** Replaces the mark of `paymentId` by that of an older payment; null: none has left. False: a newer one has left meanwhile. */
export async function lowerArchivedMark(redis: Redis, paymentId: string, olderId: string | null): Promise<boolean> {
  const mark = olderId === null ? '' : paymentKeyOf(olderId)
  return await replaceRecord(redis, keys.archived(partitionOfPayment(paymentId)), paymentKeyOf(paymentId), mark)
}
