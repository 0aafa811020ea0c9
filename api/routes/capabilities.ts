/** GET /v1/capabilities (interface 2.5, design 9). */
import type { Config } from '../../runtime/config.js'
import { guards, type Route, type RouteDeps } from '../route.js'
import { INSTALLMENTS_MAX } from '../schemas/fields.js'

export function capabilitiesRoute(deps: RouteDeps): Route {
  const capabilities = capabilitiesOf(deps.config)
  return {
    method: 'GET',
    path: '/v1/capabilities',
    handlers: [
      ...guards(deps, 'payments:read'),
      ctx => {
        ctx.body = capabilities
      }
    ]
  }
}

function capabilitiesOf(config: Config): Record<string, unknown> {
  return {
    key_environment: config.environment,
    currencies: ['BRL'],
    max_installments: INSTALLMENTS_MAX,
    preauth_ttl_days: config.preauthTtlDays,
    idempotency_retention_days: config.idempotencyRetentionDays,
    rate_limit:
      config.rateLimitPerSecond === 0
        ? null
        : { requests_per_second: config.rateLimitPerSecond, burst: config.rateLimitBurst },
    tokenization: { available: true, sandbox: config.environment === 'test', url: config.tokensUrl }
  }
}
