/**
 * How fast the card network gets calls that no request waits for, such as reconciliations and expiries: one pace for all
 * processes, on the durable Redis.
 *
 * After an outage thousands of payments are due at once, and the acquirer has only just recovered. So are holds that were made
 * at the same time, and new sales share what the acquirer allows. The script says how the pace follows the answers.
 */
import type { Redis } from '../connection/connections.js'
import { keys } from '../keys.js'
import { defineNamedScript } from '../scripts.js'

const paceReconciliations = defineNamedScript<{
  keys: 'pace'
  given: { perSecond: number; wanted: number; returned: number }
}>('pace_reconciliations')

export interface ReconcilePace {
  /** How many of `wanted` calls may be sent now: each of them must be sent, or returned. */
  take(wanted: number): Promise<number>
  /** Calls that were not sent; also 1 for an answer that is not accepted as proof. */
  returnUnused(count: number): Promise<void>
  /** The network answered a call, and the answer counts. */
  noteAnswer(): Promise<void>
}

/** What an answer returns: its own call, and one more. */
const PER_ANSWER = 2

/** At most `perSecond` calls a second, and as many without an answer at the same time. */
export function createReconcilePace(redis: Redis, perSecond: number): ReconcilePace {
  const pace = async (wanted: number, returned: number): Promise<number> =>
    Number(await paceReconciliations(redis, { pace: keys.reconcilePace() }, { perSecond, wanted, returned }))
  return {
    take: wanted => pace(wanted, 0),
    returnUnused: async count => void (await pace(0, count)),
    noteAnswer: async () => void (await pace(0, PER_ANSWER))
  }
}
