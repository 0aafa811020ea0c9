/**
 * Which process delivers the webhooks of which partition: one lease per partition, with an end.
 *
 * Every script that settles deliveries compares the lease, so a process that lost it without noticing can repeat a
 * delivery, but can change nothing.
 */
import type { Redis } from './connections.js'
import { keys } from './keys.js'
import { defineScript } from './scripts.js'
import { beat, livingConsumers, sayGoodbye } from './takeover.js'

const holdPartition = defineScript('hold_partition')
const releasePartition = defineScript('release_partition')

export interface PartitionLeases {
  /** Says that `owner` is alive, and answers with all living processes of its kind in an order that all agree on. */
  attend(): Promise<readonly string[]>
  /** Takes or keeps a partition. False while another process has it. */
  hold(partition: number): Promise<boolean>
  release(partition: number): Promise<void>
  leave(): Promise<void>
}

/** `ttlMs`: silence after which the partitions of a dead process are free. */
export function createPartitionLeases(redis: Redis, owner: string, ttlMs: number): PartitionLeases {
  return {
    attend: async () => {
      await beat(redis, owner, keys.webhookHeartbeats())
      return [...(await livingConsumers(redis, ttlMs, keys.webhookHeartbeats()))].sort()
    },
    hold: async partition => (await holdPartition(redis, [keys.webhookLease(partition)], [owner, ttlMs])) === 1,
    release: async partition => void (await releasePartition(redis, [keys.webhookLease(partition)], [owner])),
    leave: () => sayGoodbye(redis, owner, keys.webhookHeartbeats())
  }
}
