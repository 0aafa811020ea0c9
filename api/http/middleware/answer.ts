/**
 * Around every request: its ids, its metrics, its log line, and its answer, which is written at once with all headers. One
 * `ctx.set` per header and one middleware per concern would cost a sixth of the CPU of `api`.
 */
import { createHash, randomUUID } from 'node:crypto'
import { isRecord } from '../../../runtime/json.js'
import type { Logger } from '../../../runtime/log.js'
import { traceIdOf } from '../../../runtime/tracing.js'
import { isUuid } from '../../../runtime/uuid.js'
import { apiMetrics } from '../api-metrics.js'
import { type Answer, matchedRoute, type RequestContext, type RequestMiddleware } from '../context.js'
import { invalidRequest } from '../service-error.js'
import { browserWarning } from './browser-use.js'
import { answerToError } from './error-envelope.js'

/** Other methods share one label of the metrics, because clients can send any text. */
const KNOWN_METHODS = new Set(['GET', 'HEAD', 'POST', 'PUT', 'DELETE', 'OPTIONS'])

/**
 * For answers that no browser should render, frame, sniff or keep (OWASP REST Security Cheat Sheet). Names and values alternate.
 */
export const SECURITY_HEADERS = [
  ...['Cache-Control', 'no-store'],
  ...['Content-Security-Policy', "default-src 'none';frame-ancestors 'none'"],
  ...['Referrer-Policy', 'no-referrer'],
  ...['Strict-Transport-Security', 'max-age=31536000; includeSubDomains'],
  ...['X-Content-Type-Options', 'nosniff'],
  ...['X-Frame-Options', 'DENY']
]

/** Level of the line that is logged for each answered request. */
export type RequestLogLevel = 'debug' | 'info'

/** The outermost middleware. Turns errors of the inner ones into answers. */
export function answerRequests(log: Logger, logLevel: RequestLogLevel): RequestMiddleware {
  const warnOfBrowserUse = browserWarning(log)
  // Registered before the first request: Prometheus and `operator doctor` look for the series of a process at rest, too.
  const metrics = apiMetrics()
  return async (ctx, next) => {
    const startedAtMs = performance.now()
    ctx.state = beginning(startedAtMs)
    let answer: Answer | null
    try {
      takeCorrelationId(ctx)
      await next()
      answer = ctx.state.answer
    } catch (thrown) {
      answer = answerToError(thrown, ctx, log)
    }
    warnOfBrowserUse(ctx)
    if (answer === null) setHeaders(ctx, ctx.state.headers)
    else send(ctx, answer)
    const durationMs = performance.now() - startedAtMs
    const route = matchedRoute(ctx)
    const labels = {
      method: KNOWN_METHODS.has(ctx.method) ? ctx.method : 'other',
      // By route, never by path, which holds ids.
      route: route ?? 'none',
      status: answer?.status ?? ctx.status
    }
    metrics.answered(durationMs, labels)
    const { step } = ctx.state
    if (step?.isRecorded) {
      const { method, status } = labels
      const attributes = { 'http.request.method': method, 'http.response.status_code': status, ...idsOf(ctx, answer) }
      step.end(route === null ? attributes : { 'http.route': route, ...attributes }, `${method} ${route ?? ''}`.trim())
    }
    if (!log.isLevelEnabled(logLevel)) return
    const line = { ...labels, route, duration_ms: Math.round(durationMs), ...idsOf(ctx, answer) }
    log[logLevel](line, 'request answered')
  }
}

function beginning(startedAtMs: number): RequestContext['state'] {
  const requestId = randomUUID()
  return {
    requestId,
    correlationId: null,
    traceparent: null,
    step: null,
    startedAtMs,
    principal: null,
    body: undefined,
    idempotencyKey: '',
    headers: ['X-Request-Id', requestId],
    answer: null
  }
}

/** Takes over the client's `X-Correlation-Id` and echoes it (docs/API.md#headers). Anything but one UUID is 400. */
function takeCorrelationId(ctx: RequestContext): void {
  if (ctx.req.headers['x-correlation-id'] === undefined) return
  const given = ctx.get('X-Correlation-Id')
  if (!isUuid(given)) throw invalidRequest('header X-Correlation-Id', 'must be one UUID, or absent')
  ctx.state.correlationId = given
  ctx.state.headers.push('X-Correlation-Id', given)
}

function send(ctx: RequestContext, { status, body, headers }: Answer): void {
  const text = body === undefined ? '' : JSON.stringify(body)
  const all = [...SECURITY_HEADERS, ...ctx.state.headers]
  for (const name in headers) all.push(name, headers[name] ?? '')
  if (body !== undefined) {
    all.push('Content-Type', 'application/json; charset=utf-8', 'Content-Length', String(Buffer.byteLength(text)))
  }
  ctx.respond = false
  ctx.res.writeHead(status, all)
  ctx.res.end(text)
}

/** For an answer that koa sends. `headers`: names and values alternate. */
export function setHeaders(ctx: RequestContext, headers: readonly string[]): void {
  for (let at = 0; at < headers.length; at += 2) ctx.set(headers[at] ?? '', headers[at + 1] ?? '')
}

/** Equal contents have equal tags, on every machine. */
export function etagOf(content: string): string {
  return `"${createHash('sha256').update(content).digest('base64url').slice(0, 22)}"`
}

export interface StaticFile {
  readonly type: string
  readonly body: string | Buffer
  readonly etag: string
}

/** Answers with a file; 304 when the browser has it already. */
export function sendFile(
  ctx: RequestContext,
  { type, body, etag }: StaticFile,
  headers: Readonly<Record<string, string>>
): void {
  setHeaders(ctx, SECURITY_HEADERS)
  ctx.set({ ...headers, ETag: etag })
  ctx.status = 200
  if (ctx.fresh) {
    ctx.status = 304
    return
  }
  ctx.type = type
  ctx.body = body
}

/** Fields of the log line of a request: only ids, and the code of an error. */
function idsOf(ctx: RequestContext, answer: Answer | null): Record<string, string | undefined> {
  const { requestId, correlationId, traceparent, principal } = ctx.state
  const body = isRecord(answer?.body) ? answer.body : {}
  const error = isRecord(body['error']) ? body['error'] : {}
  return {
    payment_id: textOf(error['payment_id'] ?? (matchedRoute(ctx)?.startsWith('/v1/payments') ? body['id'] : undefined)),
    code: textOf(error['code']),
    request_id: requestId,
    correlation_id: correlationId ?? undefined,
    trace_id: traceIdOf(traceparent),
    merchant_id: principal?.merchantId,
    key_id: principal?.keyId
  }
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined
}
