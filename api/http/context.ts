/** The state of a request on `ctx.state`, and its answer. */
import type { Middleware, ParameterizedContext } from 'koa'
import type { Permission } from '../../redis/merchants/merchants.js'
import type { Step } from '../../runtime/tracing.js'

/** The merchant's key behind a request. */
export interface Principal {
  readonly merchantId: string
  readonly keyId: string
  readonly permissions: readonly Permission[]
  readonly isPublishable: boolean
}

/** An answer in JSON. `body` undefined: none. `headers` come on top of those that every answer has. */
export interface Answer {
  readonly status: number
  readonly body?: unknown
  readonly headers?: Readonly<Record<string, string>>
}

export interface RequestState {
  requestId: string
  /** A UUID that the client chose; null when it sent none. */
  correlationId: string | null
  /** Of the span of this request, else of the header; null without a trace, and before the client is known. */
  traceparent: string | null
  /** The span of this request; null before the client is known. */
  step: Step | null
  /** By `performance.now()`. */
  startedAtMs: number
  /** Set by `authenticate`. */
  principal: Principal | null
  /** The JSON value of the request's body, set by `readJson`; undefined when the body was empty. */
  body: unknown
  /** Set by `readIdempotencyKey`. */
  idempotencyKey: string
  /** For the answer, also when it is an error. Names and values alternate. */
  headers: string[]
  /** Null: koa answers, from `ctx.body`. */
  answer: Answer | null
}

export type RequestContext = ParameterizedContext<RequestState>
export type RequestMiddleware = Middleware<RequestState>

/** The matched route, such as `/v1/payments/:id`, for metrics and logs, which must not have ids. */
export function matchedRoute(ctx: RequestContext): string | null {
  const path: unknown = ctx['_matchedRoute']
  return typeof path === 'string' ? path : null
}

/** The merchant's key behind the request. For routes that call `authenticate`. */
export function principalOf(ctx: { state: RequestState }): Principal {
  if (ctx.state.principal === null) throw new Error('This route does not call `authenticate`.')
  return ctx.state.principal
}
