/** Process `webhooks`: delivers the webhook events of payments. It can sign, and can open no card. */
import { connect, disconnect } from '../redis/connection/connections.js'
import { watchClock } from '../redis/connection/redis-clock.js'
import { connectDurable } from '../redis/installation/durable.js'
import { requireOwnKeys } from '../redis/installation/key-record.js'
import { openLockServers } from '../redis/locks/lock-servers.js'
import { createPaymentLock } from '../redis/locks/payment-lock.js'
import { deliveryBacklog } from '../redis/webhooks/webhook-lines.js'
import { createWebhookQueue, deliveryWork } from '../redis/webhooks/webhook-queue.js'
import { lockTtlMs } from '../runtime/config.js'
import { createEgressPolicy } from '../runtime/egress-policy.js'
import { newInstanceName } from '../runtime/instance-name.js'
import { runProcess } from '../runtime/lifecycle.js'
import { ENDPOINTS_HANGING } from '../runtime/settings/webhooks-settings.js'
import { loadWebhookSecrets } from '../vault/webhook-secrets.js'
import { startCommandLoop } from './command-loop/command-loop.js'
import { createDeliveryHandler } from './webhooks/deliver.js'
import { createSender } from './webhooks/sender.js'
import { createWebhookMetrics, publishBacklog, warnOfFailures } from './webhooks/webhooks-metrics.js'

/** How long a stop waits for deliveries in flight (ms); lifecycle.ts allows 12 s for everything. */
const PATIENCE_MS = 6_000

await runProcess('webhooks', async context => {
  const { config, log, onStop, onReadyCheck } = context
  const secrets = loadWebhookSecrets(config.webhookKeysFile)
  const { durable: redis } = await connectDurable(context)
  const blocking = await connect(config.redisUrl, 'blocking', log)
  onStop('blocking reads', () => disconnect(blocking))
  // Real time, also where the clock of the test environment was moved: receivers refuse signatures of another time.
  const clock = await watchClock(redis, { process: context })
  await requireOwnKeys(redis, 'webhook', secrets, context, { needsNewest: true })

  const metrics = warnOfFailures(createWebhookMetrics(), clock, context)
  const delaysMs = config.webhookRetryDelaysMs
  const policy = createEgressPolicy(config.webhookAllowedNetworks)
  const sender = createSender({ policy, timeoutMs: config.webhookTimeoutMs, clock })
  const interruption = new AbortController()
  const handle = createDeliveryHandler(
    {
      queue: createWebhookQueue(redis, {
        delaysMs,
        undeliverableMax: config.webhookUndeliverableMax,
        onDropped: (merchantId, count) => {
          metrics.dropped(count)
          log.warn({ merchant_id: merchantId, count }, 'the oldest undeliverable webhook events were dropped')
        },
        now: clock.now
      }),
      lock: createPaymentLock(openLockServers(context), lockTtlMs(config), log),
      secrets,
      sender,
      delaysMs,
      concurrency: config.webhookConcurrency,
      clock,
      random: Math.random,
      metrics,
      log
    },
    interruption.signal
  )
  const loop = await startCommandLoop({
    blocking,
    redis,
    work: deliveryWork,
    partitions: config.partitions,
    consumer: newInstanceName(),
    concurrency: ENDPOINTS_HANGING * config.webhookConcurrency,
    heartbeatMs: config.heartbeatMs,
    handle,
    log
  })
  onStop('delivery', async () => {
    const patience = setTimeout(() => {
      interruption.abort()
      void sender.close()
    }, PATIENCE_MS)
    await loop.stop()
    clearTimeout(patience)
    await sender.close()
  })
  onReadyCheck('delivery', loop.problem)
  publishBacklog(() => deliveryBacklog(redis, config.partitions))
})
