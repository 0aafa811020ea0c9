/** What the middleware leaves on `ctx.state` for those that come after it. */
import type { Middleware, ParameterizedContext } from 'koa'
import type { Principal } from './authenticator.js'

export interface RequestState {
  requestId: string
  /** A UUID that the client chose; null when it sent none. */
  correlationId: string | null
  /** Set by `authenticate`. */
  principal: Principal | null
  /** The JSON value of the request's body, set by `jsonBody`; undefined when the body was empty. */
  body: unknown
  /** Set by `idempotencyKey`. */
  idempotencyKey: string
}

export type RequestContext = ParameterizedContext<RequestState>
export type RequestMiddleware = Middleware<RequestState>

/** The route that the router has found, such as `/v1/payments/:id`; for metrics and logs, which must not have ids. */
export function matchedRoute(ctx: RequestContext): string | null {
  const path: unknown = ctx['_matchedRoute']
  return typeof path === 'string' ? path : null
}

/** The merchant's key behind the request. For routes behind `authenticate`. */
export function principalOf(ctx: { state: RequestState }): Principal {
  if (ctx.state.principal === null) throw new Error('This route has no `authenticate` before it.')
  return ctx.state.principal
}
