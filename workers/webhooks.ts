/** Process `webhooks`: delivers the events of the outboxes. It can sign, and can open no card. */
import { spanMs, standardRetries } from '../machines/webhook-schedule.js'
import { watchClock } from '../redis/clock.js'
import { connect, disconnect } from '../redis/connections.js'
import { connectDurable } from '../redis/installation.js'
import { requireOwnKeys } from '../redis/key-record.js'

import { createPartitionLeases } from '../redis/partition-leases.js'
import { createWebhookEndpointStore } from '../redis/webhook-endpoints.js'
import { createWebhookQueue } from '../redis/webhook-queue.js'
import { createWebhookSwitches } from '../redis/webhook-switches.js'
import { systemClock } from '../runtime/clock.js'
import { newInstanceName } from '../runtime/instance-name.js'
import { runProcess } from '../runtime/lifecycle.js'
import { createNetworkPolicy } from '../runtime/network-policy.js'
import { loadWebhookSecrets } from '../vault/webhook-secrets.js'
import { startWebhookDelivery } from './webhooks/delivery.js'
import { createWebhookMetrics, publishBacklog } from './webhooks/metrics.js'
import { createSender } from './webhooks/sender.js'

const DAY_MS = 24 * 3_600_000

await runProcess('webhooks', async context => {
  const { config, log, onStop, onReadyCheck } = context
  const secrets = loadWebhookSecrets(config.webhookKeysFile)
  const { durable: redis } = await connectDurable(context)
  const blocking = await connect(config.redisUrl, 'blocking', log)
  onStop('blocking reads', () => disconnect(blocking))
  await watchClock(redis, { process: context })
  await requireOwnKeys(redis, 'webhook', secrets, context)

  const owner = newInstanceName()
  const metrics = createWebhookMetrics()
  const retries = { ...standardRetries, delaysMs: config.webhookRetryDelaysMs }
  const retentionMs = config.webhookRetentionDays * DAY_MS
  const delivery = await startWebhookDelivery({
    deps: {
      queue: createWebhookQueue(redis, blocking, {
        retentionMs,
        // Counted from the last attempt that an event may get: a short retention must not drop it at once.
        undeliverableAgeMaxMs: retentionMs + Math.ceil(spanMs(retries)),
        undeliverableMax: config.webhookUndeliverableMax,
        onDropped: (merchantId, count) => {
          metrics.dropped(count)
          log.warn({ merchant_id: merchantId, count }, 'the oldest undeliverable webhook events are dropped')
        },
        onUnreadable: (entryId, reason) => log.error({ entry_id: entryId, reason }, 'an unreadable event is buried'),
        // The real time, also where the clock of the test environment was moved: receivers refuse a signature of another time.
        now: systemClock.now
      }),
      endpoints: createWebhookEndpointStore(redis, config.partitions),
      switches: createWebhookSwitches(redis, config.partitions),
      secrets,
      sender: createSender({
        policy: createNetworkPolicy(config.webhookAllowedNetworks),
        timeoutMs: config.webhookTimeoutMs
      }),
      retries,
      concurrency: config.webhookConcurrency,
      clock: systemClock,
      random: Math.random,
      metrics,
      log
    },
    leases: createPartitionLeases(redis, owner, config.takeoverAfterMs),
    owner,
    partitions: config.partitions,
    heartbeatMs: config.heartbeatMs,
    leaseMs: config.takeoverAfterMs,
    pollMs: config.webhookPollMs
  })
  onStop('delivery', () => delivery.stop())
  onReadyCheck('delivery', delivery.problem)
  publishBacklog(delivery.backlog)
})
