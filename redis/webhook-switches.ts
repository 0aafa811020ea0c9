/**
 * The webhooks of a merchant, switched off by an operator because no endpoint receives them any more: events are then
 * neither sent nor kept. The merchant's next registration switches them on again.
 *
 * Beside the endpoint and not in it: a merchant who never registered one can be switched off too.
 */
import type { Redis } from './connections.js'
import { keys, partitionOf } from './keys.js'
import { createWrites, type Writes } from './writes.js'

/** All methods reject when the durable Redis is away; each may be repeated. */
export interface WebhookSwitches {
  /** Since when a merchant's webhooks are switched off (ms); null while they are on. */
  offSince(merchantId: string): Promise<number | null>
  /** In effect within a second. What is off stays off since its first time. */
  switchOff(merchantId: string, nowMs: number): Promise<void>
  /** False when they were on. In effect at once: no event that happens later is forgotten. */
  switchOn(merchantId: string): Promise<boolean>
}

export function createWebhookSwitches(
  redis: Redis,
  partitions: number,
  writes: Writes = createWrites(redis, 0)
): WebhookSwitches {
  const keyOf = (merchantId: string): string => keys.webhooksOff(partitionOf(merchantId, partitions), merchantId)
  return {
    offSince: async merchantId => {
      const since = await redis.get(keyOf(merchantId))
      return since === null ? null : Number(since)
    },
    switchOff: async (merchantId, nowMs) => {
      await writes.run(keyOf(merchantId), node => node.setnx(keyOf(merchantId), String(nowMs)))
    },
    switchOn: async merchantId => (await writes.run(keyOf(merchantId), node => node.del(keyOf(merchantId)))) === 1
  }
}
