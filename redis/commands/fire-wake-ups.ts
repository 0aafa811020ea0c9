/** What is due: expiries and reconciliations, at the pace that is allowed, turned into commands. */
import { CALL_MAX_MS } from '../../machines/payment/wake-ups.js'
import type { Redis } from '../connection/connections.js'
import { keys } from '../keys.js'
import { defineNamedScript } from '../scripts.js'
import { WAKE_TEMPLATE } from './command-entry.js'

const fireDue = defineNamedScript<{
  keys: 'list' | 'commands'
  given: { nowMs: number; againAtMs: number; max: number; entry: string }
}>('fire_due')

/** Wake-ups that call the network: by kind, and how many calls one makes. */
export interface PacedWakeUps {
  readonly list: (partition: number) => string
  readonly calls: number
}

export const reconciliations: PacedWakeUps = { list: keys.reconcile, calls: 1 }
/** The sale is queried, by its order and by its id, and voided. */
export const expiries: PacedWakeUps = { list: keys.due, calls: 3 }

/** How many of a partition are due. */
export async function countDue(
  redis: Redis,
  { list }: PacedWakeUps,
  partition: number,
  nowMs: number
): Promise<number> {
  return await redis.zcount(list(partition), '-inf', nowMs)
}

/** Turns at most `max` of a partition that are due into commands, the longest due first. Returns how many. */
export async function fireWakeUps(
  redis: Redis,
  { list }: PacedWakeUps,
  { partition, nowMs, max }: { readonly partition: number; readonly nowMs: number; readonly max: number }
): Promise<number> {
  const named = { list: list(partition), commands: keys.commands(partition) }
  return Number(await fireDue(redis, named, { nowMs, againAtMs: nowMs + CALL_MAX_MS, max, entry: WAKE_TEMPLATE }))
}
