/** GET /v1/capabilities (docs/API.md#get-v1capabilities). */
import type { Shown } from '../../contract/answer-fields.js'
import type { capabilitiesSchema } from '../../contract/capabilities.js'
import { INSTALLMENTS_MAX } from '../../contract/request-fields.js'
import { routes } from '../../contract/routes.js'
import { CURRENCY } from '../../machines/model.js'
import type { Config } from '../../runtime/config.js'
import { RATE_LIMIT_BURST } from '../http/middleware/rate-limit.js'
import { merchantRoute } from '../http/route.js'

export const capabilitiesRoute = merchantRoute(routes.readCapabilities, deps => {
  const answer = { status: 200, body: capabilitiesOf(deps.config) } as const
  return () => answer
})

/** The answer, which depends on the configuration alone. */
export function capabilitiesOf(config: Config): Shown<typeof capabilitiesSchema> {
  return {
    key_environment: config.environment,
    currencies: [CURRENCY],
    max_installments: INSTALLMENTS_MAX,
    cnpj_with_letters: config.cnpjWithLetters === 'yes',
    authorize_within_seconds: config.authoriseWithinMs / 1_000,
    preauth_ttl_days: config.preauthTtlDays.days,
    preauth_ttl_days_by_brand: config.preauthTtlDays.byName,
    idempotency_retention_days: config.idempotencyRetentionDays,
    rate_limit:
      config.rateLimitPerSecond === 0
        ? null
        : { requests_per_second: config.rateLimitPerSecond, burst: RATE_LIMIT_BURST },
    tokenization: { available: true, sandbox: config.environment === 'test', url: config.tokensUrl }
  }
}
