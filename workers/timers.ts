/** Process `timers`: turns what is due into commands, and hands the commands of dead workers to the living. */
import { followClock } from '../redis/clock.js'
import { ensureGroups } from '../redis/command-stream.js'
import { connect, disconnect } from '../redis/connections.js'
import { assertPartitions } from '../redis/installation.js'
import { requirePermissions } from '../redis/permissions.js'
import { queueStatus } from '../redis/queue-status.js'
import { livingConsumers } from '../redis/takeover.js'
import { runProcess } from '../runtime/lifecycle.js'
import { createTimersMetrics, publishInstallation } from './timers/metrics.js'
import { startRounds } from './timers/rounds-loop.js'

await runProcess('timers', async context => {
  const { config, log, signal, onStop, onReadyCheck } = context
  const redis = await connect(config.redisUrl, 'commands', log)
  onStop('redis', () => disconnect(redis))
  await requirePermissions(redis, 'durable', context)
  await assertPartitions(redis, config.partitions)
  await ensureGroups(redis, config.partitions)
  const clock = await followClock(redis, config.environment, { process: context })
  publishInstallation(async () => ({
    partitions: await queueStatus(redis, config.partitions, clock.now()),
    workers: (await livingConsumers(redis, config.takeoverAfterMs)).size
  }))
  const rounds = startRounds({
    redis,
    metrics: createTimersMetrics(),
    partitions: config.partitions,
    timersIntervalMs: config.timersIntervalMs,
    takeoverAfterMs: config.takeoverAfterMs,
    clock,
    log,
    signal
  })
  onReadyCheck('rounds', rounds.problem)
  onStop('rounds', rounds.ended)
})
