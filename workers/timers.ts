/** Process `timers`: turns what is due into commands, and hands the commands of dead workers to the living. */

import { queueStatus } from '../redis/commands/queue-status.js'
import { ensureGroups } from '../redis/commands/read-commands.js'
import { livingConsumers } from '../redis/commands/takeover.js'
import { paymentWork } from '../redis/commands/work-kind.js'
import { mastersOf } from '../redis/connection/cluster-nodes.js'
import { followClock } from '../redis/connection/redis-clock.js'
import { publishMemory, readMemory } from '../redis/connection/redis-memory.js'
import { growthWarning } from '../redis/installation/append-only-file.js'
import { connectDurable } from '../redis/installation/durable.js'
import { createReconcilePace } from '../redis/reconciliation/reconcile-pace.js'
import { deliveryWork } from '../redis/webhooks/webhook-queue.js'
import { runProcess } from '../runtime/lifecycle.js'
import { startRounds } from './timers/rounds-loop.js'
import { createTimersMetrics, publishInstallation } from './timers/timers-metrics.js'

await runProcess('timers', async context => {
  const { config, log, signal, onStop, onReadyCheck, onWarning } = context
  const { durable: redis } = await connectDurable(context)
  await ensureGroups(redis, config.partitions, paymentWork)
  await ensureGroups(redis, config.partitions, deliveryWork)
  const clock = await followClock(redis, config.environment, { process: context })
  publishInstallation(async () => ({
    partitions: await queueStatus(redis, config.partitions, clock.now()),
    workers: (await livingConsumers(redis, config.takeoverAfterMs)).size
  }))
  publishMemory('durable', () => readMemory(mastersOf(redis)))
  onWarning('append-only file', () => growthWarning(redis))
  const rounds = startRounds({
    redis,
    pace: createReconcilePace(redis, config.reconcilePerSecond),
    metrics: createTimersMetrics(),
    partitions: config.partitions,
    timersIntervalMs: config.timersIntervalMs,
    webhookPollMs: config.webhookPollMs,
    takeoverAfterMs: config.takeoverAfterMs,
    clock,
    log,
    stopping: signal
  })
  onReadyCheck('rounds', rounds.problem)
  onReadyCheck('clock', () =>
    clock.isApart()
      ? 'The clocks of this machine and of Redis differ by more than a minute. Set the wrong one right (NTP): until then no hold is voided, and no outcome in doubt is reconciled.'
      : undefined
  )
  onStop('rounds', rounds.ended)
})
