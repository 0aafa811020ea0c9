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
import { readWebhookEndpointRoute, registerWebhookEndpointRoute } from '../webhook-endpoint/webhook-endpoint-route.js'
import type { RequestState } from './context.js'
import { answerRequests, type RequestLogLevel } from './middleware/answer.js'
import { unmatched } from './middleware/unmatched.js'
import { type MerchantRoute, type Route, type RouteDeps, routeOf } from './route.js'

/** Every route of the merchant API. */
export const merchantRoutes: readonly MerchantRoute[] = [
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

/** Builds the application; `api/http/http-server.ts` serves it. */
export function createApp(deps: RouteDeps & { readonly log: Logger }): Koa<RequestState> {
  return createJsonApp(
    deps.log,
    merchantRoutes.map(route => routeOf(route, deps)),
    deps.config.requestLogLevel
  )
}

/**
 * An application that speaks JSON with our envelope, headers and logs, and knows these routes. `requestLogLevel`: of the
 * line that tells of each answered request.
 */
export function createJsonApp(
  log: Logger,
  routes: readonly Route[],
  requestLogLevel: RequestLogLevel = 'debug'
): Koa<RequestState> {
  const app = new Koa<RequestState>()
  app.use(answerRequests(log, requestLogLevel))
  app.use(routerOf(routes).routes())
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
