/** The merchant API: its routes, and the middleware in the order of a request. */
import Router, { type Layer } from '@koa/router'
import Koa from 'koa'
import type { Logger } from '../../runtime/log.js'
import { eraseCardRoute, readCardRoute, storeCardRoute } from '../cards/card-routes.js'
import { capabilitiesRoute } from '../payments/capabilities-route.js'
import { createPaymentRoute } from '../payments/create-payment-route.js'
import { operatePaymentRoute } from '../payments/operate-payment-route.js'
import { listPaymentsRoute, readPaymentRoute } from '../payments/read-payments-routes.js'
import { addReferenceRoutes, type Reference } from '../reference/reference.js'
import { testRoutes } from '../test-environment/test-routes.js'
import { readWebhookEndpointRoute, registerWebhookEndpointRoute } from '../webhook-endpoint/webhook-endpoint-route.js'
import type { RequestMiddleware, RequestState } from './context.js'
import { answerRequests, type RequestLogLevel } from './middleware/answer.js'
import { type MerchantRoute, type Route, type RouteDeps, routeOf } from './route.js'
import { ServiceError } from './service-error.js'

const liveRoutes: readonly MerchantRoute[] = [
  createPaymentRoute,
  operatePaymentRoute('capture'),
  operatePaymentRoute('cancel'),
  readPaymentRoute,
  listPaymentsRoute,
  storeCardRoute,
  readCardRoute,
  eraseCardRoute,
  registerWebhookEndpointRoute,
  readWebhookEndpointRoute,
  capabilitiesRoute
]

/** Every route of the merchant API, with those of the test environment. */
export const merchantRoutes: readonly MerchantRoute[] = [...liveRoutes, ...testRoutes]

interface AppDeps extends RouteDeps {
  readonly log: Logger
  /** Null: no reference page is served. */
  readonly reference: Reference | null
}

/** Builds the application; `api/http/http-server.ts` serves it. */
export function createApp(deps: AppDeps): Koa<RequestState> {
  const { log, config, reference } = deps
  const routes = config.environment === 'test' ? merchantRoutes : liveRoutes
  const router = routerOf(routes.map(route => routeOf(route, deps)))
  if (reference !== null) addReferenceRoutes(router, reference)
  return createJsonApp(log, router, { requestLogLevel: config.requestLogLevel })
}

interface JsonAppOptions {
  /** Of the line that is logged for each answered request. */
  readonly requestLogLevel?: RequestLogLevel
  /** Proxies in front of this process that append to `X-Forwarded-For`; 0: the client's address is that of the connection. */
  readonly trustedProxies?: number
  /** Run before the router. */
  readonly before?: readonly RequestMiddleware[]
}

/** An application with the routes of `router`, and with our error envelope, headers and logs. */
export function createJsonApp(
  log: Logger,
  router: Router<RequestState>,
  options: JsonAppOptions = {}
): Koa<RequestState> {
  const { requestLogLevel = 'debug', trustedProxies = 0, before = [] } = options
  const app = new Koa<RequestState>({ proxy: trustedProxies > 0, maxIpsCount: trustedProxies })
  app.use(answerRequests(log, requestLogLevel))
  for (const middleware of before) app.use(middleware)
  app.use(router.routes())
  app.use(unmatched())
  return app
}

export function routerOf(routes: readonly Route[]): Router<RequestState> {
  const router = new Router<RequestState>({ sensitive: true, strict: true })
  for (const { method, path, answer } of routes) {
    router.register(path, [method], async ctx => {
      ctx.state.answer = await answer(ctx)
    })
  }
  return router
}

/**
 * What no route has answered: OPTIONS, a method that the path does not have (405), an unknown path (404). Comes after the
 * router, which leaves in `ctx.matched` the routes that have this path with any method.
 */
function unmatched(): RequestMiddleware {
  return ctx => {
    const matched: readonly Layer[] = ctx['matched'] ?? []
    const methods = new Set(matched.flatMap(layer => layer.methods))
    if (methods.size === 0) throw new ServiceError('not_found')
    const headers = { Allow: [...methods, 'OPTIONS'].sort().join(', ') }
    if (ctx.method !== 'OPTIONS') throw new ServiceError('method_not_allowed', { headers })
    ctx.state.answer = { status: 204, headers }
  }
}
