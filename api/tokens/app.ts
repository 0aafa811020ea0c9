/** The browser's side as a koa application: the only HTTP surface that a card number enters. */
import cors from '@koa/cors'
import Router from '@koa/router'
import Koa from 'koa'
import type { Environment } from '../../machines/model.js'
import type { Logger } from '../../runtime/log.js'
import type { Authenticator } from '../authenticator.js'
import { principalOf, type RequestState } from '../context.js'
import { authenticate } from '../middleware/authenticate.js'
import { noticeBrowserUse } from '../middleware/browser-use.js'
import { errorEnvelope } from '../middleware/error-envelope.js'
import { jsonBody } from '../middleware/json-body.js'
import { measure } from '../middleware/measure.js'
import { securityHeaders } from '../middleware/security-headers.js'
import { correlationId, requestId } from '../middleware/tracing.js'
import { unmatched } from '../middleware/unmatched.js'
import { limitAddress, limitTokens, type TokenLimits } from './address-limit.js'
import { readCardInput } from './card-input.js'
import { type CreateTokenDeps, createToken } from './create-token.js'
import { addFieldsRoutes } from './fields-routes.js'
import type { HostedFields } from './hosted-fields.js'

export interface TokensAppDeps extends CreateTokenDeps {
  readonly authenticator: Authenticator
  readonly environment: Environment
  readonly limits: TokenLimits
  /** Proxies in front of this process that add to `X-Forwarded-For`; 0: the connection tells the client's address. */
  readonly trustedProxies: number
  readonly hostedFields: HostedFields
  readonly log: Logger
}

const PREFLIGHT_AGE_S = 86_400

/** Builds the application; it holds no state of its own. */
export function createTokensApp(deps: TokensAppDeps): Koa<RequestState> {
  const router = new Router<RequestState>({ sensitive: true, strict: true })
  router.post(
    '/v1/tokens',
    authenticate(deps.authenticator, 'tokens:write'),
    jsonBody({ isOptional: false }),
    async ctx => {
      const card = readCardInput(ctx.state.body, { environment: deps.environment, nowMs: Date.now() })
      await limitTokens(ctx, deps.limits)
      ctx.body = await createToken(deps, principalOf(ctx).merchantId, card)
      ctx.status = 201
    }
  )
  addFieldsRoutes(router, deps.hostedFields)

  const app = new Koa<RequestState>({ proxy: deps.trustedProxies > 0, maxIpsCount: deps.trustedProxies })
  app.use(requestId())
  app.use(measure(deps.log))
  app.use(allowAnyOrigin())
  app.use(securityHeaders())
  app.use(errorEnvelope(deps.log))
  app.use(noticeBrowserUse(deps.log))
  app.use(correlationId())
  app.use(limitAddress(deps.limits))
  app.use(router.routes())
  app.use(unmatched())
  return app
}

/** Any page may ask: the publishable key is public, and no cookie or other credential of the browser is used. */
function allowAnyOrigin(): Koa.Middleware<RequestState> {
  return cors({
    origin: '*',
    allowMethods: 'POST',
    allowHeaders: 'Authorization, Content-Type, X-Correlation-Id',
    exposeHeaders: 'X-Request-Id, X-Correlation-Id, RateLimit, RateLimit-Policy, Retry-After, X-Service-Warning',
    maxAge: PREFLIGHT_AGE_S
  })
}
