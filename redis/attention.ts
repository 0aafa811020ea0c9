/** The list of payments that need a person, and how one is taken off. */
import type { Attention } from '../machines/model.js'
import { encodeEntry } from './command-entry.js'
import type { Redis } from './connections.js'
import { compactId, expandId, keys, partitionOfPayment } from './keys.js'

export interface ListedPayment {
  readonly paymentId: string
  readonly reason: Attention
}

/** All listed payments, oldest first. */
export async function listAttention(redis: Redis, partitions: number): Promise<ListedPayment[]> {
  const lists = await Promise.all(
    Array.from({ length: partitions }, (_, partition) => redis.hgetall(keys.attention(partition)))
  )
  return lists
    .flatMap(list => Object.entries(list))
    .map(([compact, reason]) => ({ paymentId: expandId(compact), reason: reason as Attention }))
    .sort((a, b) => (a.paymentId < b.paymentId ? -1 : 1))
}

/** Why a payment is listed; null when it is not. */
export async function attentionOf(redis: Redis, paymentId: string): Promise<string | null> {
  return await redis.hget(keys.attention(partitionOfPayment(paymentId)), compactId(paymentId))
}

/** Tells the workers that a person has looked. They take the payment off the list and write it into its history. */
export async function settleAttention(redis: Redis, paymentId: string): Promise<void> {
  const entry = encodeEntry({
    compact: compactId(paymentId),
    command: { kind: 'settle_attention' },
    record: null,
    replyTo: null,
    correlationId: null,
    handedOut: 0,
    dueAtMs: null
  })
  await redis.xadd(keys.commands(partitionOfPayment(paymentId)), '*', ...entry)
}
