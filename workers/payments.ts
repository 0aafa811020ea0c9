/** Process `payments`: takes commands from the streams and runs them. The only process that opens card data. */
import { openPayments } from '../archive/open-archive.js'
import { createCardDeclineStore } from '../redis/cards/card-declines.js'
import { createCardStore } from '../redis/cards/cards.js'
import type { CommandEntry } from '../redis/commands/command-entry.js'
import { createCommandQueue } from '../redis/commands/command-queue.js'
import { paymentWork } from '../redis/commands/work-kind.js'
import { connect, disconnect } from '../redis/connection/connections.js'
import { followClock } from '../redis/connection/redis-clock.js'
import { requireOwnAcquirer } from '../redis/installation/acquirer-record.js'
import { openDurable } from '../redis/installation/durable.js'
import { requireOwnKeys } from '../redis/installation/key-record.js'
import { openMemoryOnly } from '../redis/installation/memory-only.js'
import { vouchForData } from '../redis/installation/vouch-for-data.js'
import { openLockServers } from '../redis/locks/lock-servers.js'
import { createPaymentLock } from '../redis/locks/payment-lock.js'
import { createNotificationStore } from '../redis/notifications/notifications.js'
import { createInspection } from '../redis/operator/inspection.js'
import { createCommitStore } from '../redis/payments/commits.js'
import { createKnownSaleStore } from '../redis/reconciliation/known-sale.js'
import { createReconcilePace } from '../redis/reconciliation/reconcile-pace.js'
import { createTokenStore } from '../redis/tokens/tokens.js'
import { type Config, lockTtlMs } from '../runtime/config.js'
import { newInstanceName } from '../runtime/instance-name.js'
import { runProcess } from '../runtime/lifecycle.js'
import { loadOpener } from '../vault/opener.js'
import { type CommandLoopOptions, startCommandLoop } from './command-loop/command-loop.js'
import { createCardNetwork } from './network/card-network.js'
import { createCardData } from './payments/card-data.js'
import { isLastDelivery } from './payments/dead-letter-command.js'
import { handleCommand } from './payments/handle-command.js'
import { repeatNotificationRounds } from './payments/notification-rounds.js'
import { createWorkerMetrics } from './payments/payments-metrics.js'
import { createReconcilingNetwork } from './payments/reconciling-network.js'
import { repeatUnvouchedRounds } from './payments/unvouched-rounds.js'
import type { WorkerDeps } from './payments/worker-deps.js'

await runProcess('payments', async context => {
  const { config, log, signal, onStop, onReadyCheck } = context
  const opener = loadOpener(config.vaultPrivateKeysFile)
  const opened = await openDurable(context, [redis => requireOwnAcquirer(redis, config)])
  const { durable, installation } = opened
  await requireOwnKeys(durable, 'vault', opener, context, { isFirst: true, needsNewest: true })
  const blocking = await connect(config.redisUrl, 'blocking', log)
  onStop('blocking reads', () => disconnect(blocking))
  const secrets = await openMemoryOnly(context, installation, 'optional')
  const { writes, vouching } = await vouchForData(context, 'payments', opened, secrets)
  const network = createCardNetwork(config, context)
  const metrics = createWorkerMetrics()
  onStop('card network', () => network.close())
  const clock = await followClock(durable, config.environment, { process: context })
  const { payments, archive } = await openPayments(context, writes)
  const pace = createReconcilePace(durable, config.reconcilePerSecond)
  const known = { knownSales: createKnownSaleStore(durable), account: config.networkMerchantId, log }
  const deps: WorkerDeps = {
    payments,
    commits: createCommitStore(writes),
    queue: createCommandQueue(durable),
    lock: createPaymentLock(openLockServers(context), lockTtlMs(config), log),
    network: createReconcilingNetwork(network, { ...known, pace, clock, onUnconfirmed: metrics.absenceUnconfirmed }),
    cardDeclines: createCardDeclineStore(durable, config.partitions),
    cardData: createCardData(createTokenStore(secrets), createCardStore(writes, config.partitions), opener),
    policy: config,
    unvouchedBeforeMs: partition => vouching.unvouchedBeforeMs(partition),
    networkRetryMs: config.networkRetryMs,
    deliveriesMax: config.deliveriesMax,
    inspection: createInspection(durable, `payments ${process.pid}`, log, signal),
    clock,
    metrics,
    log
  }
  const loop = await startCommandLoop({
    ...loopOf(config),
    blocking,
    redis: durable,
    handle: (entry, stopping) => handleCommand(entry, deps, stopping),
    readsLast: network.isUnusable,
    log
  })
  onStop('command loop', () => loop.stop())
  const unvouched = repeatUnvouchedRounds(deps, writes, () => vouching.unvouched(), signal)
  onStop('comparison of open payments', () => unvouched)
  const notifications = repeatNotificationRounds(
    {
      notifications: createNotificationStore(writes, config.partitions),
      archive,
      network,
      pace,
      clock,
      log,
      giveUpAfterMs: config.reconcileListAfterMs,
      leaseMs: 2 * (config.networkConnectTimeoutMs + config.networkTimeoutMs),
      metrics
    },
    signal
  )
  onStop('notifications', () => notifications)
  onReadyCheck('command loop', loop.problem)
})

type Loop = CommandLoopOptions<CommandEntry>

/** What the command loop takes from the configuration. */
function loopOf(
  config: Config
): Pick<Loop, 'work' | 'partitions' | 'consumer' | 'concurrency' | 'heartbeatMs' | 'isSuspect'> {
  const { partitions, workerConcurrency: concurrency, heartbeatMs, deliveriesMax } = config
  const isSuspect = (entry: CommandEntry): boolean => isLastDelivery(entry, deliveriesMax)
  return { work: paymentWork, partitions, consumer: newInstanceName(), concurrency, heartbeatMs, isSuspect }
}
