/** What is due: expiries, reconciliations at the pace that is allowed, retries of webhooks, turned into commands. */
import { CALL_MAX_MS } from '../../machines/payment/decide.js'
import type { Redis } from '../connection/connections.js'
import { keys } from '../keys.js'
import { defineScript } from '../scripts.js'
import { DELIVERY_TEMPLATE } from '../webhooks/delivery-entry.js'
import { WAKE_TEMPLATE } from './command-entry.js'

const fireDue = defineScript('fire_due')

/** Commands that one call writes at the most; a long outage is worked off in turns. */
export const FIRE_MAX = 500

/** Turns expiries of a partition that are due into commands. Returns how many; `FIRE_MAX`: there may be more. */
export async function fireExpiries(redis: Redis, partition: number, nowMs: number): Promise<number> {
  return await fire(redis, keys.due(partition), { partition, nowMs, max: FIRE_MAX })
}

/** Turns retries of webhooks that are due into commands. Returns how many; `FIRE_MAX`: there may be more. */
export async function fireRetries(redis: Redis, partition: number, nowMs: number): Promise<number> {
  const places = [keys.webhookDue(partition), keys.deliveries(partition)]
  return Number(await fireDue(redis, places, [nowMs, FIRE_MAX, DELIVERY_TEMPLATE, '']))
}

/** How many queries of a partition are due. */
export async function countReconciliations(redis: Redis, partition: number, nowMs: number): Promise<number> {
  return await redis.zcount(keys.reconcile(partition), '-inf', nowMs)
}

/** Turns at most `max` queries of a partition that are due into commands, the longest due first. Returns how many. */
export async function fireReconciliations(
  redis: Redis,
  due: { readonly partition: number; readonly nowMs: number; readonly max: number }
): Promise<number> {
  return await fire(redis, keys.reconcile(due.partition), due)
}

async function fire(
  redis: Redis,
  list: string,
  { partition, nowMs, max }: { partition: number; nowMs: number; max: number }
): Promise<number> {
  return Number(
    await fireDue(redis, [list, keys.commands(partition)], [nowMs, max, WAKE_TEMPLATE, nowMs + CALL_MAX_MS])
  )
}
