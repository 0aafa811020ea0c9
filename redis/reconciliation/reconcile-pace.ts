/**
 * How fast the card network is asked about payments in doubt: one pace for all processes, on the durable Redis.
 *
 * After an outage thousands of payments are due at once, and the acquirer has only just recovered. The script says how
 * the pace follows the answers.
 */
import type { Redis } from '../connection/connections.js'
import { keys } from '../keys.js'
import { defineScript } from '../scripts.js'

const paceReconciliations = defineScript('pace_reconciliations')

export interface ReconcilePace {
  /** How many of `wanted` queries may be sent now: each of them must be sent, or returned. */
  take(wanted: number): Promise<number>
  /** Queries that were not sent; also 1 for an answer that is not accepted as proof. */
  returnUnused(count: number): Promise<void>
  /** The network answered a query, and the answer counts. */
  noteAnswer(): Promise<void>
}

/** What an answer returns: its own query, and one more. */
const PER_ANSWER = 2

/** At most `perSecond` queries a second, and as many without an answer at the same time. */
export function createReconcilePace(redis: Redis, perSecond: number): ReconcilePace {
  const pace = async (wanted: number, returned: number): Promise<number> =>
    Number(await paceReconciliations(redis, [keys.reconcilePace()], [perSecond, wanted, returned]))
  return {
    take: wanted => pace(wanted, 0),
    returnUnused: async count => void (await pace(0, count)),
    noteAnswer: async () => void (await pace(0, PER_ANSWER))
  }
}
