/** Process `api`: the merchant API. It accepts requests and waits for results; it can seal card data, and never open it. */
import { randomUUID } from 'node:crypto'
import { register } from 'prom-client'
import { watchBacklog } from '../redis/backlog.js'
import { createCardStore } from '../redis/cards.js'
import { followClock } from '../redis/clock.js'
import { connect, disconnect } from '../redis/connections.js'
import { openDurable } from '../redis/installation.js'
import { requireOwnKeys } from '../redis/key-record.js'
import { openMemoryOnly } from '../redis/memory-only.js'
import { MerchantStore } from '../redis/merchants.js'
import { createPaymentStore } from '../redis/payments.js'
import { createRateLimiter } from '../redis/rate-limit.js'
import { listenForReplies } from '../redis/replies.js'
import { createTokenStore } from '../redis/tokens.js'
import { createWebhookEndpointStore } from '../redis/webhook-endpoints.js'
import { systemClock } from '../runtime/clock.js'
import { runProcess } from '../runtime/lifecycle.js'
import { loadSealer } from '../vault/sealer.js'
import { loadWebhookSecrets } from '../vault/webhook-secrets.js'
import { Admission } from './admission.js'
import { createApp } from './app.js'
import { createAuthenticator } from './authenticator.js'
import { serve } from './http-server.js'
import { meterLimiter, meterReplies, meterStore, meterTokens } from './metered.js'
import { apiMetrics, publishAdmission } from './metrics.js'
import { shedWhenBehind } from './shed-when-behind.js'
import { storeCard } from './store-card.js'
import { createPayments } from './submit.js'
import { createWebhookEndpoints } from './webhook-endpoints.js'

/** How long requests that wait for a result may go on doing so when the process has drained (ms). */
const STOP_PATIENCE_MS = 5_000

await runProcess('api', async context => {
  const { config, log, onStop } = context
  const sealer = loadSealer(config.vaultPublicKeysFile)
  const webhookSecrets = loadWebhookSecrets(config.webhookKeysFile)

  const { durable, writes, installation } = await openDurable(context)
  await requireOwnKeys(durable, 'vault', sealer, context)
  await requireOwnKeys(durable, 'webhook', webhookSecrets, context, true)
  const subscriber = await connect(config.redisUrl, 'subscriber', log)
  onStop('subscriber', () => disconnect(subscriber))
  const secrets = await openMemoryOnly(context, installation, 'optional')
  const clock = await followClock(durable, config.environment, { process: context })
  const metrics = apiMetrics()
  const admission = new Admission(config.maxInFlight)
  publishAdmission(register, () => admission.figures)
  const backlog = watchBacklog(durable, config.partitions, log)
  onStop('backlog', () => backlog.stop())
  const replies = meterReplies(await listenForReplies(subscriber, randomUUID()), metrics)
  const tokens = meterTokens(createTokenStore(secrets), metrics)
  const cards = createCardStore(durable, config.partitions, writes)
  const merchants = new MerchantStore(durable, config.environment)
  const onDropFailed = (error: unknown): void =>
    log.warn({ err: error }, 'a used token was not dropped, it will expire')
  const limit = { perSecond: config.rateLimitPerSecond, burst: config.rateLimitBurst }
  const store = meterStore(createPaymentStore(durable, writes), metrics)
  const payments = createPayments({
    config,
    clock,
    store,
    tokens,
    cards,
    sealer,
    replies
  })
  const app = createApp({
    config,
    log,
    admission,
    authenticator: createAuthenticator({
      environment: config.environment,
      findKey: keyId => merchants.findKey(keyId)
    }),
    rateLimiter: meterLimiter(createRateLimiter(secrets, limit, log), metrics),
    payments: shedWhenBehind(payments, {
      backlog,
      store,
      partitions: config.partitions,
      maxAgeMs: config.shedAfterMs,
      metrics
    }),
    cards: { store: (merchantId, tokenId) => storeCard({ tokens, cards, onDropFailed }, merchantId, tokenId) },
    webhookEndpoints: createWebhookEndpoints(
      createWebhookEndpointStore(durable, config.partitions, writes),
      webhookSecrets,
      // Not the clock that the test environment can move: `webhooks`, which asks until when an old secret signs, keeps the real time.
      systemClock
    )
  })
  const server = await serve(app, { host: config.host, port: config.port, log, drainDelayMs: config.drainDelayMs })
  onStop('http server', () => server.stop())
  // A request may wait for 30 s, a stop may not: a client that waits too long gets 202, and reads the result later.
  onStop('long waits', () => void setTimeout(() => replies.stopWaiting(), config.drainDelayMs + STOP_PATIENCE_MS))
})
