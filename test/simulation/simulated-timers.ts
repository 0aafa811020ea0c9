/** A `timers` process of a world: the real rounds. */
import { ensureGroups } from '../../redis/commands/read-commands.js'
import { paymentWork } from '../../redis/commands/work-kind.js'
import type { Redis } from '../../redis/connection/connections.js'
import { followClock } from '../../redis/connection/redis-clock.js'
import { createReconcilePace } from '../../redis/reconciliation/reconcile-pace.js'
import { deliveryWork } from '../../redis/webhooks/webhook-queue.js'
import type { Config } from '../../runtime/config.js'
import type { Logger } from '../../runtime/log.js'
import { startRounds } from '../../workers/timers/rounds-loop.js'
import type { RedisServer } from './redis-server.js'
import type { Process } from './world.js'

/** What it needs of the installation (simulated-installation.ts). */
interface RedisHome {
  readonly config: Config
  readonly durable: RedisServer
  connect(process: Process, server: RedisServer): Redis
}

export async function runTimers(
  process: Process,
  installation: RedisHome,
  { environment, log }: { environment: Config['environment']; log: Logger }
): Promise<void> {
  const { config } = installation
  const redis = installation.connect(process, installation.durable)
  const clock = await followClock(redis, environment)
  await ensureGroups(redis, config.partitions, paymentWork)
  await ensureGroups(redis, config.partitions, deliveryWork)
  const { partitions, timersIntervalMs, takeoverAfterMs, webhookPollMs } = config
  const stopping = new AbortController().signal
  const silent = (): void => undefined
  const metrics = { tookOver: silent, found: silent }
  const intervals = { timersIntervalMs, takeoverAfterMs, webhookPollMs }
  const pace = createReconcilePace(redis, config.reconcilePerSecond)
  startRounds({ redis, pace, partitions, ...intervals, clock, metrics, log, stopping })
}
