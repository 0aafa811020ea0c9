/**
 * Which process delivers the webhooks of which partition: one lease per partition, with an end.
 *
 * Every script that settles deliveries compares the holder, so a process that lost the lease without noticing can repeat
 * a delivery, but can change nothing: not even when the same process has taken the partition anew.
 */
import type { Redis } from './connections.js'
import { keys } from './keys.js'
import { defineScript } from './scripts.js'
import { livingConsumers, removeHeartbeat, writeHeartbeat } from './takeover.js'

const takePartition = defineScript('take_partition')
const keepPartition = defineScript('keep_partition')
const releasePartition = defineScript('release_partition')

/** One holding of a partition, from its taking to its loss. `holder` is no other holding's, of no process. */
export interface Lease {
  readonly partition: number
  readonly holder: string
}

export interface PartitionLeases {
  /** Says that `owner` is alive, and answers with all living processes of its kind in an order that all agree on. */
  attend(): Promise<readonly string[]>
  /** Takes a partition. Null while another process has it. */
  take(partition: number): Promise<Lease | null>
  /** Keeps what was taken. False when it is lost. */
  keep(lease: Lease): Promise<boolean>
  release(lease: Lease): Promise<void>
  leave(): Promise<void>
}

/** `owner`: the process, without spaces. `ttlMs`: silence after which the partitions of a dead process are free. */
export function createPartitionLeases(redis: Redis, owner: string, ttlMs: number): PartitionLeases {
  let takings = 0
  return {
    attend: async () => {
      await writeHeartbeat(redis, owner, keys.webhookHeartbeats())
      return [...(await livingConsumers(redis, ttlMs, keys.webhookHeartbeats()))].sort()
    },
    take: async partition => {
      const number = ++takings
      const isTaken = (await takePartition(redis, [keys.webhookLease(partition)], [owner, number, ttlMs])) === 1
      return isTaken ? { partition, holder: `${owner} ${number}` } : null
    },
    keep: async ({ partition, holder }) =>
      (await keepPartition(redis, [keys.webhookLease(partition)], [holder, ttlMs])) === 1,
    release: async ({ partition, holder }) =>
      void (await releasePartition(redis, [keys.webhookLease(partition)], [holder])),
    leave: () => removeHeartbeat(redis, owner, keys.webhookHeartbeats())
  }
}
