/** The merchant API as a list: what every request passes through, then the routes. */
import Router from '@koa/router'
import Koa from 'koa'
import type { Logger } from '../../runtime/log.js'
import { eraseCardRoute, readCardRoute } from '../cards/card-routes.js'
import { storeCardRoute } from '../cards/store-card-route.js'
import { capabilitiesRoute } from '../payments/capabilities-route.js'
import { createPaymentRoute } from '../payments/create-payment-route.js'
import { listPaymentsRoute } from '../payments/list-payments-route.js'
import { operatePaymentRoute } from '../payments/operate-payment-route.js'
import { readPaymentRoute } from '../payments/read-payment-route.js'
import type { Reference } from '../reference/reference.js'
import { addReferenceRoutes } from '../reference/reference-routes.js'
import { testRoutes } from '../test-environment/test-routes.js'
import { readWebhookEndpointRoute, registerWebhookEndpointRoute } from '../webhook-endpoint/webhook-endpoint-route.js'
import type { RequestState } from './context.js'
import { answerRequests, type RequestLogLevel } from './middleware/answer.js'
import { unmatched } from './middleware/unmatched.js'
import { type MerchantRoute, type Route, type RouteDeps, routeOf } from './route.js'

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
  return createJsonApp(log, router, config.requestLogLevel)
}

/**
 * An application that speaks JSON with our envelope, headers and logs, and knows the routes of `router`. `requestLogLevel`: of the
 * line that tells of each answered request.
 */
export function createJsonApp(
  log: Logger,
  router: Router<RequestState>,
  requestLogLevel: RequestLogLevel = 'debug'
): Koa<RequestState> {
  const app = new Koa<RequestState>()
  app.use(answerRequests(log, requestLogLevel))
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
