/** Process `payments`: takes commands from the streams and drives each payment to its end. The only one that opens cards. */
import { createCardStore } from '../redis/cards.js'
import { followClock } from '../redis/clock.js'
import { buryCommand, releaseCommand, requeueCommand } from '../redis/command-stream.js'
import { createCommitStore } from '../redis/commits.js'
import { connect, disconnect, type Redis } from '../redis/connections.js'
import { createInspection } from '../redis/inspection.js'
import { assertPartitions, requireDurability } from '../redis/installation.js'
import { assertMemoryOnly } from '../redis/memory-only.js'
import { createNoticeStore } from '../redis/notices.js'
import { createPaymentLock } from '../redis/payment-lock.js'
import { createPaymentStore } from '../redis/payments.js'
import { createTokenStore } from '../redis/tokens.js'
import { openWrites, type Writes } from '../redis/writes.js'
import { lockTtlMs } from '../runtime/config.js'
import { newInstanceName } from '../runtime/instance-name.js'
import { type ProcessContext, runProcess } from '../runtime/lifecycle.js'
import { loadOpener } from '../vault/opener.js'
import { createCardNetwork } from './network/card-network.js'
import { createCardData } from './payments/card-data.js'
import { startCommandLoop } from './payments/command-loop.js'
import type { WorkerDeps } from './payments/deps.js'
import { handleCommand } from './payments/handle-command.js'
import { measureCommand, meterNetwork, meterQueue } from './payments/metered.js'
import { createWorkerMetrics } from './payments/metrics.js'
import { repeatNoticeRounds } from './payments/notice-rounds.js'

await runProcess('payments', async context => {
  const { config, log, signal, onStop, onReadyCheck } = context
  const opener = loadOpener(config.vaultPrivateKeysFile)

  const { redis, writes, blocking, secrets, lockClients } = await connectAll(context)
  const network = createCardNetwork(config)
  const inWork = { commands: 0 }
  const metrics = createWorkerMetrics(() => inWork.commands)
  onStop('card network', () => network.close())

  const clock = await followClock(redis, config.environment, { log })
  onStop('clock', () => clock.stop())
  const deps: WorkerDeps = {
    payments: createPaymentStore(redis),
    commits: createCommitStore(redis, writes),
    queue: meterQueue(
      {
        requeue: entry => requeueCommand(redis, entry),
        release: entry => releaseCommand(redis, entry),
        bury: (entry, burial) => buryCommand(redis, entry, burial)
      },
      metrics
    ),
    lock: createPaymentLock(lockClients, lockTtlMs(config), log),
    network,
    cardData: createCardData(createTokenStore(secrets), createCardStore(redis, config.partitions), opener),
    policy: config,
    environment: config.environment,
    networkRetryMs: config.networkRetryMs,
    deliveriesMax: config.deliveriesMax,
    inspection: createInspection(redis, `payments ${process.pid}`, log, signal),
    clock,
    log
  }
  const loop = await startCommandLoop({
    blocking,
    redis,
    partitions: config.partitions,
    consumer: newInstanceName(),
    concurrency: config.workerConcurrency,
    heartbeatMs: config.heartbeatMs,
    handle: async (entry, stopping) => {
      inWork.commands++
      const outcome = await measureCommand(entry, deps, metrics, measured => handleCommand(entry, measured, stopping))
      inWork.commands--
      return outcome
    },
    log
  })
  onStop('command loop', () => loop.stop())
  const notices = repeatNoticeRounds(
    {
      notices: createNoticeStore(redis, config.partitions, writes),
      network: meterNetwork(network, metrics),
      clock,
      log,
      giveUpAfterMs: config.reconcileListAfterMs,
      leaseMs: 2 * (config.networkConnectTimeoutMs + config.networkTimeoutMs),
      onGivenUp: () => metrics.gaveNoticeUp()
    },
    signal
  )
  onStop('notices', () => notices)
  onReadyCheck('command loop', loop.problem)
})

/** The connections of this process, once it is proved that both Redis are what they must be. */
async function connectAll({ config, log, onStop, onReadyCheck }: ProcessContext): Promise<{
  readonly redis: Redis
  readonly writes: Writes
  readonly blocking: Redis
  readonly secrets: Redis
  readonly lockClients: readonly Redis[]
}> {
  const redis = await connect(config.redisUrl, 'commands', log)
  const blocking = await connect(config.redisUrl, 'blocking', log)
  const secrets = await connect(config.secretsRedisUrl, 'commands', log)
  const lockUrls = config.redlockUrls.length === 0 ? [config.secretsRedisUrl] : config.redlockUrls
  const lockClients = await Promise.all(lockUrls.map(url => connect(url, 'lock', log)))
  for (const connection of [redis, blocking, secrets, ...lockClients]) onStop('redis', () => disconnect(connection))
  const { writes, close } = await openWrites(redis, config, log)
  onStop('redis', close)
  await assertPartitions(redis, config.partitions)
  await requireDurability(redis, { config, onReadyCheck })
  await assertMemoryOnly(secrets)
  onReadyCheck('memory-only redis', () => assertMemoryOnly(secrets))
  return { redis, writes, blocking, secrets, lockClients }
}
