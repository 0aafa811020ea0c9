/** The payments that operators look at: in manual review, or in doubt. And the commands that they send to the workers. */
import type { Command } from '../../machines/commands.js'
import { encodeServiceCommand } from '../commands/command-entry.js'
import type { Redis } from '../connection/connections.js'
import { fieldsOf } from '../connection/reply-fields.js'
import { keys, partitionNumbers, partitionOfPayment, paymentIdOfKey, paymentKeyOf } from '../keys.js'
import { readable } from '../stored-fields.js'

export interface ListedPayment {
  readonly paymentId: string
  /** A `ReviewReason`, or that of another version. */
  readonly reason: string
}

/** All listed payments, oldest first. */
export async function listReviews(redis: Redis, partitions: number): Promise<ListedPayment[]> {
  const lists = await Promise.all(partitionNumbers(partitions).map(partition => redis.hgetall(keys.review(partition))))
  return lists
    .flatMap(list => Object.entries(list))
    .map(([paymentKey, reason]) => ({ paymentId: shownId(paymentKey), reason }))
    .sort((a, b) => (a.paymentId < b.paymentId ? -1 : 1))
}

/** A damaged payment key is shown as it is: it does not hide the others. */
function shownId(paymentKey: string): string {
  return readable(paymentKey, paymentIdOfKey)[0] ?? paymentKey
}

/** Why a payment is listed; null when it is not. */
export async function reviewReasonOf(redis: Redis, paymentId: string): Promise<string | null> {
  return await redis.hget(keys.review(partitionOfPayment(paymentId)), paymentKeyOf(paymentId))
}

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
    .map(([paymentKey, score]) => ({ paymentId: shownId(paymentKey), sinceMs: Number(score) }))
    .sort((a, b) => a.sinceMs - b.sinceMs)
    .slice(0, limit)
  return { payments, count: lists.reduce((sum, list) => sum + list.count, 0) }
}

/** Asks the workers to take a payment off the list. They write it into its history. */
export async function resolveReview(redis: Redis, paymentId: string): Promise<void> {
  await send(redis, paymentId, { kind: 'resolve_review' })
}

/** Asks the workers to end an operation in doubt by what the acquirer says of it. */
export async function concludeOperation(redis: Redis, paymentId: string, isBooked: boolean): Promise<void> {
  await send(redis, paymentId, { kind: 'conclude_operation', isBooked })
}

/** Asks the workers to erase the personal data of the buyer (machines/payment/erasure.ts). */
export async function requestErasure(redis: Redis, paymentId: string): Promise<void> {
  await send(redis, paymentId, { kind: 'erase_buyer' })
}

async function send(redis: Redis, paymentId: string, command: Command): Promise<void> {
  await redis.xadd(keys.commands(partitionOfPayment(paymentId)), '*', ...encodeServiceCommand(paymentId, command))
}
