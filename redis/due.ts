/** What is due: expiries and questions to the network, turned into commands when their time has come. */
import type { Redis } from './connections.js'
import { keys } from './keys.js'
import { defineScript } from './scripts.js'

const fireDue = defineScript('fire_due')

/** Commands that one call writes at the most; a long outage is worked off in turns. */
export const FIRE_MAX = 500

/** Turns what is due in a partition into commands. Returns how many; `FIRE_MAX` means that there may be more. */
export async function fireDueCommands(redis: Redis, partition: number, nowMs: number): Promise<number> {
  return Number(await fireDue(redis, [keys.due(partition), keys.commands(partition)], [nowMs, FIRE_MAX]))
}
