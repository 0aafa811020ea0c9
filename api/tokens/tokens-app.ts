/** The application of process `tokens`, the only HTTP interface that receives card numbers. */
import cors from '@koa/cors'
import type Koa from 'koa'
import type { Shown } from '../../contract/answer-fields.js'
import type { tokenSchema } from '../../contract/token.js'
import type { Environment } from '../../machines/model.js'
import { newCvvTokenId, newTokenId, type TokenStore } from '../../redis/tokens/tokens.js'
import type { Clock } from '../../runtime/clock.js'
import type { Logger } from '../../runtime/log.js'
import type { Sealer } from '../../vault/sealer.js'
import { createJsonApp, routerOf } from '../http/api-app.js'
import { type Authenticator, authenticate } from '../http/authenticator.js'
import type { RequestMiddleware, RequestState } from '../http/context.js'
import type { RequestLogLevel } from '../http/middleware/answer.js'
import { readJson } from '../http/middleware/json-body.js'
import { refuseParameters } from '../http/query.js'
import type { Route } from '../http/route.js'
import { limitAddress, limitTokens, type TokenLimits } from './address-limit.js'
import type { FieldsToken } from './browser/fields-values.js'
import { type CardInput, readTokenInput } from './card-input.js'
import { addFieldsRoutes, type HostedFields } from './hosted-fields.js'

export interface TokensAppDeps {
  readonly sealer: Sealer
  readonly tokens: Pick<TokenStore, 'put' | 'putCvvToken'>
  readonly tokenTtlMs: number
  /** Real time. */
  readonly clock: Clock
  readonly authenticator: Authenticator
  readonly environment: Environment
  readonly limits: TokenLimits
  readonly trustedProxies: number
  readonly hostedFields: HostedFields
  readonly log: Logger
  readonly requestLogLevel: RequestLogLevel
}

const PREFLIGHT_AGE_S = 86_400

/** Builds the application. It has no state. */
export function createTokensApp(deps: TokensAppDeps): Koa<RequestState> {
  const router = routerOf([tokenRoute(deps), keyRoute(deps)])
  addFieldsRoutes(router, deps.hostedFields)
  const { log, requestLogLevel, trustedProxies, limits } = deps
  return createJsonApp(log, router, {
    requestLogLevel,
    trustedProxies,
    before: [allowAnyOrigin(), limitAddress(limits)]
  })
}

function tokenRoute(deps: TokensAppDeps): Route {
  return {
    method: 'POST',
    path: '/v1/tokens',
    async answer(ctx) {
      const { merchantId } = await authenticate(ctx, deps.authenticator, 'tokens:write')
      refuseParameters(ctx.querystring)
      await readJson(ctx, { isOptional: false })
      const input = readTokenInput(ctx.state.body, { environment: deps.environment, nowMs: deps.clock.now() })
      await limitTokens(ctx, deps.limits)
      const create =
        input.kind === 'card' ? cardToken(deps, merchantId, input.card) : cvvToken(deps, merchantId, input.cvv)
      return { status: 201, body: await create }
    }
  }
}

/**
 * Seals a card and its CVV apart, and stores both under a new token of `merchantId` (docs/SECURITY.md, The way of a card
 * number). Rejects when the memory-only Redis is unavailable.
 */
async function cardToken(deps: TokensAppDeps, merchantId: string, card: CardInput): Promise<FieldsToken> {
  const { number, cvv, brand, ...holder } = card
  const tokenId = newTokenId()
  const context = { merchantId, subjectId: tokenId }
  const last4 = number.slice(-4)
  const token = {
    tokenId,
    merchantId,
    brand,
    last4,
    ...holder,
    cardBox: deps.sealer.sealCard({ number, ...holder }, context),
    typedBox: deps.sealer.sealTyped({ number, ...holder, cvv }, context)
  }
  await deps.tokens.put(token, deps.tokenTtlMs)
  return { token_id: tokenId, brand, last4, expires_at: expiryOf(deps) }
}

/** Seals the CVV for a stored card, and stores it under a new token of `merchantId`. Rejects as `cardToken` does. */
async function cvvToken(deps: TokensAppDeps, merchantId: string, cvv: string): Promise<Shown<typeof tokenSchema>> {
  const tokenId = newCvvTokenId()
  const cvvBox = deps.sealer.sealCvv(cvv, { merchantId, subjectId: tokenId })
  await deps.tokens.putCvvToken({ tokenId, merchantId, cvvBox }, deps.tokenTtlMs)
  return { token_id: tokenId, brand: null, last4: null, expires_at: expiryOf(deps) }
}

function expiryOf({ clock, tokenTtlMs }: TokensAppDeps): string {
  return new Date(clock.now() + tokenTtlMs).toISOString()
}

/** The hosted fields check their key while they load: a wrong key fails during development, not with the first card. */
function keyRoute(deps: TokensAppDeps): Route {
  return {
    method: 'GET',
    path: '/v1/fields/key',
    async answer(ctx) {
      await authenticate(ctx, deps.authenticator, 'tokens:write')
      return { status: 200, body: {} }
    }
  }
}

/** Every origin is allowed: the publishable key is public, and browsers send no cookies or other credentials. */
function allowAnyOrigin(): RequestMiddleware {
  return cors({
    origin: '*',
    allowMethods: 'POST',
    // No `allowHeaders`: those that are asked for, such as `traceparent`, `sentry-trace` and `baggage`, which tracing tools add.
    exposeHeaders: 'X-Request-Id, X-Correlation-Id, RateLimit, RateLimit-Policy, Retry-After, X-Service-Warning',
    maxAge: PREFLIGHT_AGE_S,
    // Koa would drop the headers of an error; ours stay.
    keepHeadersOnError: false
  })
}
