/** Process `api`: the merchant API. It accepts requests and waits for results. It can seal card data, but not open it. */
import { randomUUID } from 'node:crypto'
import { openPayments } from '../archive/open-archive.js'
import { createCardDeclineStore } from '../redis/cards/card-declines.js'
import { createCardStore } from '../redis/cards/cards.js'
import { watchBacklog } from '../redis/commands/backlog.js'
import { listenForReplies } from '../redis/commands/replies.js'
import { connect, disconnect } from '../redis/connection/connections.js'
import { followClock } from '../redis/connection/redis-clock.js'
import { openDurable } from '../redis/installation/durable.js'
import { requireOwnKeys } from '../redis/installation/key-record.js'
import { openMemoryOnly } from '../redis/installation/memory-only.js'
import { vouchForData } from '../redis/installation/vouch-for-data.js'
import { partitionOf } from '../redis/keys.js'
import { createKeyFinder } from '../redis/merchants/find-key.js'
import { createRateLimiter } from '../redis/merchants/rate-limit.js'
import { createTokenStore } from '../redis/tokens/tokens.js'
import { createWebhookEndpointStore } from '../redis/webhooks/webhook-endpoints.js'
import { runProcess } from '../runtime/lifecycle.js'
import { warnRateLimited } from '../runtime/log.js'
import { loadSealer } from '../vault/sealer.js'
import { storeCard } from './cards/store-card.js'
import { Admission } from './http/admission.js'
import { createApp } from './http/api-app.js'
import { createAuthenticator } from './http/authenticator.js'
import { serve } from './http/http-server.js'
import { RATE_LIMIT_BURST } from './http/middleware/rate-limit.js'
import { reportingDamage } from './payments/damaged-payments.js'
import { requireKnownBrands } from './payments/require-known-brands.js'
import { createPayments } from './payments/submit.js'
import { loadReference } from './reference/reference.js'
import { createTestEnvironment } from './test-environment/test-environment.js'
import { openWebhookSecrets } from './webhook-endpoint/open-secrets.js'
import { createWebhookEndpoints } from './webhook-endpoint/webhook-endpoints.js'

/** How long requests may still wait for a result after the drain of the process (ms). */
const STOP_PATIENCE_MS = 5_000

await runProcess('api', async context => {
  const { config, log, onStop } = context
  requireKnownBrands(config)
  const sealer = loadSealer(config.vaultPublicKeysFile)

  // It answers reads all the same, and says why it takes nothing else.
  const opened = await openDurable(context, [], 'warning')
  const { durable, installation } = opened
  await requireOwnKeys(durable, 'vault', sealer, context)
  const webhookSecrets = await openWebhookSecrets(durable, context)
  const subscriber = await connect(config.redisUrl, 'subscriber', log)
  onStop('subscriber', () => disconnect(subscriber))
  const secrets = await openMemoryOnly(context, installation, 'optional')
  const { writes, assertWhole } = await vouchForData(context, 'api', opened, secrets)
  const clock = await followClock(durable, config.environment, { process: context })
  const admission = new Admission()
  const backlog = watchBacklog(durable, config.partitions, log)
  onStop('backlog', () => backlog.stop())
  const replies = await listenForReplies(subscriber, randomUUID())
  const tokens = createTokenStore(secrets)
  const cards = createCardStore(writes, config.partitions)
  const cardDeclines = createCardDeclineStore(durable, config.partitions)
  const onDropFailed = (error: unknown): void =>
    void warnRateLimited(log, { err: error }, 'a used token was not dropped: it expires later')
  const limit = { perSecond: config.rateLimitPerSecond, burst: RATE_LIMIT_BURST }
  const { payments } = await openPayments(context, writes)
  const store = reportingDamage(payments, log)
  const app = createApp({
    config,
    log,
    reference: loadReference(config),
    admission,
    authenticator: createAuthenticator({
      environment: config.environment,
      findKey: createKeyFinder(durable, installation, () => clock.real.now())
    }),
    rateLimiter: createRateLimiter(secrets, limit, log),
    clock,
    assertWhole: merchantId => assertWhole(partitionOf(merchantId, config.partitions)),
    payments: createPayments({ config, clock, store, tokens, cards, cardDeclines, sealer, replies, backlog }),
    cards: {
      store: (merchantId, tokenId) => storeCard({ tokens, cards, onDropFailed }, merchantId, tokenId),
      read: cards.read,
      erase: cards.erase
    },
    webhookEndpoints: createWebhookEndpoints(
      createWebhookEndpointStore(writes, config.partitions),
      webhookSecrets,
      // Real time, which `webhooks` uses to retire an old secret.
      clock.real
    ),
    testEnvironment: createTestEnvironment({ redis: durable, config, store, clock: clock.real })
  })
  const { host, port, drainDelayMs, keepAliveTimeoutMs } = config
  const server = await serve(app, { host, port, log, drainDelayMs, keepAliveTimeoutMs })
  onStop('http server', () => server.stop())
  // A request may wait for 30 s, but a stop may not: its client gets 202, and reads the result later.
  onStop('long waits', () => void setTimeout(() => replies.stopWaiting(), config.drainDelayMs + STOP_PATIENCE_MS))
})
