/** Which payments are in doubt, and since when: for the operator who calls the network about them. */
import type { Redis } from '../connection/connections.js'
import { fieldsOf } from '../connection/reply-fields.js'
import { keys, partitionNumbers, paymentIdOfKey } from '../keys.js'

export interface PaymentInDoubt {
  readonly paymentId: string
  /** By the clock of the service (ms). */
  readonly sinceMs: number
}

/** The payments in doubt since `untilMs` or longer, longest first: at most `limit` of them, and how many there are. */
export async function listInDoubt(
  redis: Redis,
  partitions: number,
  { untilMs, limit }: { untilMs: number; limit: number }
): Promise<{ payments: PaymentInDoubt[]; count: number }> {
  const lists = await Promise.all(
    partitionNumbers(partitions).map(async partition => {
      const key = keys.inDoubt(partition)
      const [members, count] = await Promise.all([
        redis.zrangebyscore(key, '-inf', untilMs, 'WITHSCORES', 'LIMIT', 0, limit),
        redis.zcount(key, '-inf', untilMs)
      ])
      return { members: [...fieldsOf(members)], count }
    })
  )
  const payments = lists
    .flatMap(({ members }) => members)
    .map(([paymentKey, score]) => ({ paymentId: paymentIdOfKey(paymentKey), sinceMs: Number(score) }))
    .sort((a, b) => a.sinceMs - b.sinceMs)
    .slice(0, limit)
  return { payments, count: lists.reduce((sum, list) => sum + list.count, 0) }
}
