/**
 * An HTTP server for a koa application: limits against slow and oversized requests, and a stop that loses none.
 *
 * While stopping, requests under way are answered with `Connection: close`, idle connections are closed at once, and
 * connections that a load balancer still opens get an answer until the listener is closed.
 */
import { randomUUID } from 'node:crypto'
import { createServer, type IncomingMessage, type Server, type ServerResponse, STATUS_CODES } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import type Koa from 'koa'
import { delay } from '../../runtime/delay.js'
import { ServiceError } from '../../runtime/errors.js'
import type { Logger } from '../../runtime/log.js'
import { close, listen } from '../../runtime/ops-server.js'
import { isUuid } from '../../runtime/uuid.js'
import type { RequestState } from './context.js'
import { presentError } from './middleware/error-envelope.js'

/** What one client, or many, may cost. */
export interface HttpLimits {
  /** Time for a client to send its headers, and its whole request. Our bodies are small; slower ones are attacks. */
  readonly headersTimeoutMs: number
  readonly requestTimeoutMs: number
  /** Time for a client to take an answer that is ready: one that is not read is kept in memory. */
  readonly answerTimeoutMs: number
  /** Further connections are closed at once: those that are open still get their answers. */
  readonly connectionsMax: number
}

const LIMITS: HttpLimits = {
  headersTimeoutMs: 10_000,
  requestTimeoutMs: 20_000,
  answerTimeoutMs: 20_000,
  connectionsMax: 10_000
}
/** Node looks for slow clients only so often; its own default of 30 s would make the limits above three times as long. */
const SLOWNESS_CHECK_MS = 1_000
/** Longer than the idle timeout of the usual load balancers (60 s), so that they close first and no request is lost. */
const KEEP_ALIVE_TIMEOUT_MS = 65_000
const HEADER_BYTES_MAX = 16_384
/** No client or proxy sends half as many. */
const HEADERS_MAX = 100
/** Requests that a client may send ahead of its answers. Node takes thousands of them in one turn, while all others wait. */
const SENT_AHEAD_MAX = 16

export interface HttpServer {
  readonly port: number
  /** Answers what is under way, then resolves. Safe to call twice. */
  stop(): Promise<void>
}

/** Serves the application on `host` and `port` (0: a free one). Rejects when the port is taken. */
export async function serve(
  app: Koa<RequestState>,
  options: { host: string; port: number; log: Logger; limits?: HttpLimits; drainDelayMs?: number }
): Promise<HttpServer> {
  const { headersTimeoutMs, requestTimeoutMs, answerTimeoutMs, connectionsMax } = options.limits ?? LIMITS
  // koa reports here what it can no longer answer, such as a connection that is cut while the answer is sent. Without a
  // listener, `callback` adds its own, which prints.
  app.on('error', error => options.log.debug({ err: error }, 'an answer did not reach its client'))
  const handle = app.callback()
  const isTooFarAhead = watchSentAhead()
  const server = createServer(
    {
      maxHeaderSize: HEADER_BYTES_MAX,
      headersTimeout: headersTimeoutMs,
      requestTimeout: requestTimeoutMs,
      keepAliveTimeout: KEEP_ALIVE_TIMEOUT_MS,
      connectionsCheckingInterval: Math.min(SLOWNESS_CHECK_MS, headersTimeoutMs),
      // Node would refuse such requests without the envelope; see below.
      requireHostHeader: false
    },
    (request, response) => {
      if (isTooFarAhead(request, response)) return void request.socket.destroy()
      const problem = headerProblem(request)
      if (problem === null) void handle(request, response).then(() => cutUnread(response, answerTimeoutMs))
      else refuse(request, response, problem)
    }
  )
  server.maxConnections = connectionsMax
  // Node drops the headers behind its limit in silence; one more than ours shows that there are too many.
  server.maxHeadersCount = HEADERS_MAX + 1
  server.on('checkExpectation', (request: IncomingMessage, response: ServerResponse) =>
    refuse(request, response, { status: 417, message: 'expects what is not known: see the header Expect' })
  )
  server.on('clientError', answerUnreadable)

  await listen(server, options.port, options.host)
  const { port } = server.address() as AddressInfo
  options.log.info({ host: options.host, port }, 'listening')
  return { port, stop: () => drain(server, options.drainDelayMs ?? 0) }
}

/** Whether a connection has brought too many requests before the answer to the first of them: only that one has its socket. */
function watchSentAhead(): (request: IncomingMessage, response: ServerResponse) => boolean {
  const waiting = new WeakMap<Socket, number>()
  return ({ socket }, response) => {
    if (response.socket === null) waiting.set(socket, (waiting.get(socket) ?? 0) + 1)
    else waiting.delete(socket)
    return socket.destroyed || (waiting.get(socket) ?? 0) > SENT_AHEAD_MAX
  }
}

/** Most answers are with the kernel at once; of the others, Node would wait for their client for ever. */
function cutUnread(response: ServerResponse, timeoutMs: number): void {
  if (response.destroyed || response.socket?.writableLength === 0) return
  const timer = setTimeout(() => response.destroy(), timeoutMs)
  response.once('close', () => clearTimeout(timer))
}

async function drain(server: Server, delayMs: number): Promise<void> {
  server.prependListener('request', (_request, response) => response.setHeader('Connection', 'close'))
  // A load balancer that asks /readyz sends requests until it has asked again.
  if (delayMs > 0) await delay(delayMs)
  const closed = close(server)
  // An answer that was begun before the stop leaves its connection open and idle; those are swept until none is left.
  const sweep = setInterval(() => server.closeIdleConnections(), SWEEP_MS)
  await closed.finally(() => clearInterval(sweep))
}

const SWEEP_MS = 50

/** RFC 9112, section 3.2: a request of HTTP/1.1 has one Host. Two keys would leave the merchant of the request open. */
const ONCE = ['Host', 'Authorization']

interface HeaderProblem {
  readonly status: 400 | 417 | 431
  /** Follows the word "request". */
  readonly message: string
}

function headerProblem({ httpVersion, headers, rawHeaders }: IncomingMessage): HeaderProblem | null {
  // Names and values stand in turn.
  if (rawHeaders.length > 2 * HEADERS_MAX) return { status: 431, message: `has more than ${HEADERS_MAX} headers` }
  if (httpVersion === '1.1' && headers.host === undefined) return { status: 400, message: 'has no header Host' }
  // Of a repeated header of this list, Node keeps the first in silence. Most requests have none twice.
  if (rawHeaders.length === 2 * Object.keys(headers).length) return null
  const names = rawHeaders.filter((_, at) => at % 2 === 0).map(name => name.toLowerCase())
  const repeated = ONCE.find(name => names.indexOf(name.toLowerCase()) !== names.lastIndexOf(name.toLowerCase()))
  return repeated === undefined ? null : { status: 400, message: `has the header ${repeated} more than once` }
}

/** Answers a request that was parsed, and that the application does not get. */
function refuse(request: IncomingMessage, response: ServerResponse, { status, message }: HeaderProblem): void {
  const given = request.headers['x-correlation-id']
  const correlationId = typeof given === 'string' && isUuid(given) ? given : null
  const { headers, body } = refusal(invalid(message), correlationId)
  response.writeHead(status, headers)
  response.end(body)
}

function invalid(message: string): ServiceError {
  return new ServiceError('invalid_request', { fields: [{ path: 'request', message }] })
}

/** An answer that is made without the application: with the same envelope and ids as all others. */
function refusal(
  error: ServiceError,
  correlationId: string | null
): { headers: Readonly<Record<string, string>>; body: string } {
  const requestId = randomUUID()
  const body = JSON.stringify(presentError(error, { requestId, correlationId }))
  const headers = {
    'Content-Type': 'application/json; charset=utf-8',
    'Content-Length': String(Buffer.byteLength(body)),
    'X-Request-Id': requestId,
    ...(correlationId === null ? {} : { 'X-Correlation-Id': correlationId }),
    Connection: 'close'
  }
  return { headers, body }
}

/** Requests that Node's parser gives up before koa sees them; all others are 400. */
function unreadable(code: string | undefined): { status: number; error: ServiceError } {
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') return { status: 408, error: new ServiceError('request_timeout') }
  if (code !== 'HPE_HEADER_OVERFLOW') return { status: 400, error: invalid('is not readable as HTTP/1.1') }
  return { status: 431, error: invalid(`has a request line and headers of more than ${HEADER_BYTES_MAX} bytes`) }
}

function answerUnreadable(error: NodeJS.ErrnoException, socket: Socket): void {
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy()
    return
  }
  const { status, error: problem } = unreadable(error.code)
  const { headers, body } = refusal(problem, null)
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`)
  socket.end([`HTTP/1.1 ${status} ${STATUS_CODES[status]}`, ...lines, '', body].join('\r\n'))
}
