/** Repeats the rounds of the timers until it is stopped. A failed round is logged and repeated. */

import { expiries, type PacedWakeUps, reconciliations } from '../../redis/commands/fire-wake-ups.js'
import { watchWorkers } from '../../redis/commands/takeover.js'
import { paymentWork } from '../../redis/commands/work-kind.js'
import type { Redis } from '../../redis/connection/connections.js'
import type { FollowedClock } from '../../redis/connection/redis-clock.js'
import { isRedisUnavailable } from '../../redis/connection/redis-errors.js'
import { problemOfTurn } from '../../redis/connection/unreachable.js'
import type { ReconcilePace } from '../../redis/reconciliation/reconcile-pace.js'
import { deliveryWork } from '../../redis/webhooks/webhook-queue.js'
import { delay } from '../../runtime/delay.js'
import { type Logger, warnRateLimited } from '../../runtime/log.js'
import { ConsumerWatch } from './consumer-watch.js'
import { deliveryRound, sweepRound, takeoverRound, wakeRound } from './rounds.js'
import type { TimersMetrics } from './timers-metrics.js'

/** While nothing is due, the pause between two rounds is so many times as long. */
const IDLE_PAUSES = 4
/** Of expiries: days pass until a hold is voided, and minutes until a new payment is too old. */
const IDLE_PAUSES_OF_EXPIRIES = 8
/** How often dead workers are looked for (ms). */
const TAKEOVER_INTERVAL_MS = 1_000
/** How often commands are looked for that no worker would get (ms). */
const SWEEP_INTERVAL_MS = 30_000

/** A round that failed is a problem of the process until it succeeds, however seldom it runs (ms). */
const FAILED_RETRY_MS = 500

export interface RoundsOptions {
  readonly redis: Redis
  readonly pace: ReconcilePace
  readonly metrics: TimersMetrics
  readonly partitions: number
  readonly timersIntervalMs: number
  readonly webhookPollMs: number
  readonly takeoverAfterMs: number
  readonly clock: Pick<FollowedClock, 'now' | 'real' | 'isApart'>
  readonly log: Logger
  readonly stopping: AbortSignal
}

export interface RoundsLoop {
  /** Sentence that says which round fails at the moment, or undefined. Rejects when it fails because Redis can't be asked. */
  problem(): Promise<string | undefined>
  /** Resolves when the last round has ended, after `stopping` aborted. */
  ended(): Promise<void>
}

/** Starts all rounds at once. */
export function startRounds(options: RoundsOptions): RoundsLoop {
  const { redis, partitions, takeoverAfterMs, metrics, log, stopping } = options
  const problems = new Map<string, unknown>()
  // While Redis was unavailable no worker could write a heartbeat: after an outage the time to a takeover starts again.
  let redisBackAtMs = performance.now()

  /** A round that resolves to 0 found nothing due: the next one comes later. */
  const repeat = async (
    name: string,
    intervalMs: number,
    round: () => Promise<unknown>,
    idlePauses = IDLE_PAUSES
  ): Promise<void> => {
    while (!stopping.aborted) {
      let pauses = 1
      try {
        if ((await round()) === 0) pauses = idlePauses
        problems.delete(name)
      } catch (error) {
        problems.set(name, error)
        warnRateLimited(log, { err: error, round: name }, 'a round failed and is repeated')
        if (isRedisUnavailable(error)) redisBackAtMs = performance.now()
      }
      await delay(problems.has(name) ? Math.min(intervalMs, FAILED_RETRY_MS) : pauses * intervalMs, stopping)
    }
  }
  const noteFired = (fired: number): number => {
    if (fired > 0) log.debug({ fired }, 'due commands written')
    return fired
  }
  // A hold that is voided too early, or a horizon that is over too early, can't be undone.
  const wake = async (list: PacedWakeUps): Promise<number> => {
    if (options.clock.isApart()) return 0
    return noteFired(await wakeRound(redis, list, options.pace, partitions, options.clock.now()))
  }
  const consumers = new ConsumerWatch()
  const rounds = [
    repeat('due', options.timersIntervalMs, () => wake(expiries), IDLE_PAUSES_OF_EXPIRIES),
    repeat('reconcile', options.timersIntervalMs, () => wake(reconciliations)),
    repeat('webhooks', options.webhookPollMs, async () =>
      noteFired(await deliveryRound(redis, partitions, options.clock.real.now()))
    ),
    repeat('takeover', TAKEOVER_INTERVAL_MS, async () => {
      const living = await watchWorkers(redis, takeoverAfterMs)
      consumers.saw([...living.payments, ...living.webhooks])
      const nowMs = performance.now()
      if (nowMs - redisBackAtMs < takeoverAfterMs || !consumers.isLookDue(nowMs)) return
      const moved: Record<string, number> = {}
      const count = (worker: string): void => {
        moved[worker] = (moved[worker] ?? 0) + 1
      }
      try {
        await takeoverRound(redis, paymentWork, partitions, living.payments, count)
        await takeoverRound(redis, deliveryWork, partitions, living.webhooks, count)
        if (Object.keys(moved).length === 0) consumers.looked(nowMs)
      } finally {
        metrics.tookOver(Object.values(moved).reduce((sum, commands) => sum + commands, 0))
        if (Object.keys(moved).length > 0) log.warn({ commands: moved }, 'commands of silent workers were handed over')
      }
    }),
    repeat('sweep', SWEEP_INTERVAL_MS, async () => {
      const found =
        (await sweepRound(redis, paymentWork, partitions)) + (await sweepRound(redis, deliveryWork, partitions))
      metrics.found(found)
      if (found > 0) log.error({ commands: found }, 'commands had no owner: a consumer or a group was changed by hand')
    })
  ]
  return {
    problem: async () => {
      const [first] = problems
      if (first === undefined) return undefined
      const [name, error] = first
      return problemOfTurn(redis, `the last ${name} round failed`, error)
    },
    ended: async () => void (await Promise.all(rounds))
  }
}
