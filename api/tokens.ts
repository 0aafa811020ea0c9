/** Process `tokens`: the API for browsers. It can seal card data, but not open it. */
import { watchClock } from '../redis/connection/redis-clock.js'
import { publishMemory, readMemory } from '../redis/connection/redis-memory.js'
import { connectDurable } from '../redis/installation/durable.js'
import { requireOwnKeys } from '../redis/installation/key-record.js'
import { openMemoryOnly } from '../redis/installation/memory-only.js'
import { createKeyFinder } from '../redis/merchants/find-key.js'
import { createTokenStore } from '../redis/tokens/tokens.js'
import { runProcess } from '../runtime/lifecycle.js'
import { loadSealer } from '../vault/sealer.js'
import { createAuthenticator } from './http/authenticator.js'
import { serve } from './http/http-server.js'
import { RATE_LIMIT_BURST } from './http/middleware/rate-limit.js'
import { createTokenLimits, issueLimit } from './tokens/address-limit.js'
import { loadHostedFields } from './tokens/hosted-fields.js'
import { createTokensApp } from './tokens/tokens-app.js'

await runProcess('tokens', async context => {
  const { config, log, onStop } = context
  const sealer = loadSealer(config.vaultPublicKeysFile)

  const { durable, installation } = await connectDurable(context, 'unnoticed')
  const clock = await watchClock(durable, { process: context })
  await requireOwnKeys(durable, 'vault', sealer, context)
  const secrets = await openMemoryOnly(context, installation, 'required')
  publishMemory('memory_only', () => readMemory([secrets]))

  const limit = { perSecond: config.rateLimitPerSecond, burst: RATE_LIMIT_BURST }
  const app = createTokensApp({
    environment: config.environment,
    sealer,
    tokens: createTokenStore(secrets),
    tokenTtlMs: config.tokenTtlMs,
    clock,
    authenticator: createAuthenticator({
      environment: config.environment,
      findKey: createKeyFinder(durable, installation, () => clock.now())
    }),
    limits: createTokenLimits(secrets, limit, issueLimit(limit, config.tokensMaxPerKey, config.tokenTtlMs), log),
    trustedProxies: config.trustedProxies,
    hostedFields: loadHostedFields(),
    log,
    requestLogLevel: config.requestLogLevel
  })
  const server = await serve(app, {
    host: config.host,
    port: config.tokensPort,
    portVariable: 'TOKENS_PORT',
    log,
    drainDelayMs: config.drainDelayMs,
    keepAliveTimeoutMs: config.keepAliveTimeoutMs
  })
  onStop('http server', () => server.stop())
})
