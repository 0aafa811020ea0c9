/** The list of payments that need manual review, and what operators ask of the workers. */
import type { Command } from '../../machines/commands.js'
import type { ReviewReason } from '../../machines/model.js'
import { encodeServiceCommand } from '../commands/command-entry.js'
import type { Redis } from '../connection/connections.js'
import { keys, partitionNumbers, partitionOfPayment, paymentIdOfKey, paymentKeyOf } from '../keys.js'

export interface ListedPayment {
  readonly paymentId: string
  readonly reason: ReviewReason
}

/** All listed payments, oldest first. */
export async function listReviews(redis: Redis, partitions: number): Promise<ListedPayment[]> {
  const lists = await Promise.all(partitionNumbers(partitions).map(partition => redis.hgetall(keys.review(partition))))
  return lists
    .flatMap(list => Object.entries(list))
    .map(([paymentKey, reason]) => ({ paymentId: paymentIdOfKey(paymentKey), reason: reason as ReviewReason }))
    .sort((a, b) => (a.paymentId < b.paymentId ? -1 : 1))
}

/** Why a payment is listed; null when it is not. */
export async function reviewReasonOf(redis: Redis, paymentId: string): Promise<string | null> {
  return await redis.hget(keys.review(partitionOfPayment(paymentId)), paymentKeyOf(paymentId))
}

/** Tells the workers that an operator has looked. They take the payment off the list and write it into its history. */
export async function resolveReview(redis: Redis, paymentId: string): Promise<void> {
  await send(redis, paymentId, { kind: 'resolve_review' })
}

/** Tells the workers what an operator has seen at the acquirer of an operation in doubt. They end the operation by that. */
export async function concludeOperation(redis: Redis, paymentId: string, isBooked: boolean): Promise<void> {
  await send(redis, paymentId, { kind: 'conclude_operation', isBooked })
}

/** Tells the workers to erase the personal data of the buyer (machines/payment/erasure.ts). */
export async function eraseBuyer(redis: Redis, paymentId: string): Promise<void> {
  await send(redis, paymentId, { kind: 'erase_buyer' })
}

async function send(redis: Redis, paymentId: string, command: Command): Promise<void> {
  await redis.xadd(keys.commands(partitionOfPayment(paymentId)), '*', ...encodeServiceCommand(paymentId, command))
}
