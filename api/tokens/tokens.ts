/** Process `tokens`: the browser's side. It can seal card data, and never open it. */
import { watchClock } from '../../redis/clock.js'

import { awaitInstallation, connectDurable } from '../../redis/installation.js'

import { requireOwnKeys } from '../../redis/key-record.js'

import { openMemoryOnly } from '../../redis/memory-only.js'
import { MerchantStore } from '../../redis/merchants.js'
import { createTokenStore } from '../../redis/tokens.js'
import { runProcess } from '../../runtime/lifecycle.js'
import { loadSealer } from '../../vault/sealer.js'
import { createAuthenticator } from '../authenticator.js'
import { serve } from '../http-server.js'
import { aliveLimit, createTokenLimits } from './address-limit.js'
import { createTokensApp } from './app.js'
import { loadHostedFields } from './hosted-fields.js'

await runProcess('tokens', async context => {
  const { config, log, onStop } = context
  const sealer = loadSealer(config.vaultPublicKeysFile)

  const { durable, installation } = await connectDurable(context, redis => awaitInstallation(redis, context))
  await watchClock(durable, { process: context })
  await requireOwnKeys(durable, 'vault', sealer, context)
  const secrets = await openMemoryOnly(context, installation, 'required')

  const merchants = new MerchantStore(durable, config.environment)
  const limit = { perSecond: config.rateLimitPerSecond, burst: config.rateLimitBurst }
  const app = createTokensApp({
    environment: config.environment,
    sealer,
    tokens: createTokenStore(secrets),
    tokenTtlMs: config.tokenTtlMs,
    authenticator: createAuthenticator({
      environment: config.environment,
      findKey: keyId => merchants.findKey(keyId)
    }),
    limits: createTokenLimits(secrets, limit, aliveLimit(limit, config.tokensMaxPerKey, config.tokenTtlMs), log),
    trustedProxies: config.trustedProxies,
    hostedFields: loadHostedFields(config.fieldsReleasesDir),
    log
  })
  const server = await serve(app, {
    host: config.host,
    port: config.tokensPort,
    log,
    drainDelayMs: config.drainDelayMs
  })
  onStop('http server', () => server.stop())
})
