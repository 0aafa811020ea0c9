/**
 * An HTTP server for a koa application: limits against slow and oversized requests, and a graceful stop.
 *
 * While it stops, requests in flight are answered with `Connection: close` and idle connections are closed. Connections
 * that a load balancer still opens are served until the listener is closed.
 */
import { randomUUID } from 'node:crypto'
import { createServer, type IncomingMessage, type Server, type ServerResponse, STATUS_CODES } from 'node:http'
import type { Socket } from 'node:net'
import type Koa from 'koa'
import { presentError } from '../../contract/error-answer.js'
import { delay } from '../../runtime/delay.js'
import { descriptorsMax, OTHER_DESCRIPTORS } from '../../runtime/file-descriptors.js'
import { type Logger, warnRateLimited } from '../../runtime/log.js'
import { close, listen } from '../../runtime/ops-server.js'
import { isUuid } from '../../runtime/uuid.js'
import type { RequestState } from './context.js'
import { invalidRequest, ServiceError } from './service-error.js'

const CONNECTIONS_MAX = 10_000

/** Fewer where the process may open few descriptors: without a free one no event tells of a connection that is closed. */
export function connectionsMaxOf(descriptors: number): number {
  return Math.min(CONNECTIONS_MAX, descriptors - Math.min(OTHER_DESCRIPTORS, Math.ceil(descriptors / 2)))
}

const LIMITS = {
  /** For the headers of a request, and for the whole request. Bodies are small, so that slower clients are attacks. */
  headersTimeoutMs: 10_000,
  requestTimeoutMs: 20_000,
  /** For a client to read an answer, which stays in memory until then. */
  answerTimeoutMs: 20_000,
  /** Further connections are closed and logged: open ones still get their answers. */
  connectionsMax: connectionsMaxOf(descriptorsMax())
}
export type HttpLimits = typeof LIMITS
/** How often Node checks for slow clients. Its default of 30 s would triple the limits above. */
const SLOWNESS_CHECK_MS = 1_000
/** As the default of KEEP_ALIVE_TIMEOUT_MS. */
const KEEP_ALIVE_TIMEOUT_MS = 65_000
const HEADER_BYTES_MAX = 16_384
/** Twice as many as clients and proxies send. */
const HEADERS_MAX = 100
/** Pipelined requests per connection. Node would handle thousands in one turn of the event loop, which blocks all others. */
const SENT_AHEAD_MAX = 16
/** So many more are an attack: they would wait in memory for the answers before them. */
const FLOOD = 100

export interface HttpServer {
  readonly port: number
  /** Answers the requests in flight, then resolves. Idempotent. */
  stop(): Promise<void>
}

/** Serves the application on `host` and `port` (0: a free one). Rejects when the port is taken. */
export async function serve(
  app: Koa<RequestState>,
  options: {
    host: string
    port: number
    /** The setting of the port; absent: PORT. */
    portVariable?: string
    log: Logger
    limits?: HttpLimits
    drainDelayMs?: number
    keepAliveTimeoutMs?: number
  }
): Promise<HttpServer> {
  const { headersTimeoutMs, requestTimeoutMs, answerTimeoutMs, connectionsMax } = options.limits ?? LIMITS
  // koa emits what it can no longer answer, such as a connection that is cut during an answer. Without this listener,
  // `callback` adds one that prints.
  app.on('error', error => options.log.debug({ err: error }, 'an answer did not reach its client'))
  const handle = app.callback()
  const tooFarAhead = watchSentAhead()
  const server = createServer(
    {
      maxHeaderSize: HEADER_BYTES_MAX,
      headersTimeout: headersTimeoutMs,
      requestTimeout: requestTimeoutMs,
      keepAliveTimeout: options.keepAliveTimeoutMs ?? KEEP_ALIVE_TIMEOUT_MS,
      connectionsCheckingInterval: Math.min(SLOWNESS_CHECK_MS, headersTimeoutMs),
      // Node would refuse requests without Host, but not with our envelope: see `headerProblem`.
      requireHostHeader: false
    },
    (request, response) => {
      const excess = tooFarAhead(request, response)
      if (excess > FLOOD) return void request.socket.destroy()
      if (excess > 1) return
      const problem = excess === 1 ? TOO_FAR_AHEAD : headerProblem(request)
      if (problem === null) void handle(request, response).then(() => cutUnread(response, answerTimeoutMs))
      else refuse(request, response, problem)
    }
  )
  server.maxConnections = connectionsMax
  // Node silently drops headers above its limit: with a limit of one more than ours, an excess is visible.
  server.maxHeadersCount = HEADERS_MAX + 1
  server.on('checkExpectation', (request: IncomingMessage, response: ServerResponse) =>
    refuse(request, response, { status: 417, message: 'expects what is not known: see the header Expect' })
  )
  server.on('clientError', answerUnreadable)
  server.on('timeout', closeUnlessUsed)
  server.on('drop', () =>
    warnRateLimited(
      options.log,
      { connections_max: connectionsMax },
      'a connection was closed unanswered: too many are open. Start more processes, or find who opens them'
    )
  )

  const variables = { port: options.portVariable ?? 'PORT', host: 'HOST' }
  const port = await listen(server, options.port, options.host, variables)
  options.log.info({ host: options.host, port }, 'listening')
  return { port, stop: () => drain(server, options.drainDelayMs ?? 0) }
}

/**
 * Returns how many requests above the limit a connection has sent ahead of its answers. The first of them is refused, which
 * ends the connection after the answers before it. Only the response of the first unanswered request has the socket.
 */
function watchSentAhead(): (request: IncomingMessage, response: ServerResponse) => number {
  const waiting = new WeakMap<Socket, number>()
  return ({ socket }, response) => {
    if (response.socket !== null) return 0
    if (socket.destroyed) return Number.POSITIVE_INFINITY
    const ahead = (waiting.get(socket) ?? 0) + 1
    waiting.set(socket, ahead)
    response.once('close', () => waiting.set(socket, (waiting.get(socket) ?? 1) - 1))
    return ahead - SENT_AHEAD_MAX
  }
}

/** Cuts the connection of a client that does not read its answer: Node has no timeout for that. */
function cutUnread(response: ServerResponse, timeoutMs: number): void {
  if (response.destroyed || response.socket?.writableLength === 0) return
  const timer = setTimeout(() => response.destroy(), timeoutMs)
  response.once('close', () => clearTimeout(timer))
}

/**
 * Closes a connection that was idle for the whole time. Timers run before sockets are read: on a busy process a request may
 * have arrived by now, and must be answered.
 */
function closeUnlessUsed(socket: Socket): void {
  const { bytesRead } = socket
  setImmediate(() => {
    if (socket.bytesRead === bytesRead) socket.destroy()
  })
}

async function drain(server: Server, delayMs: number): Promise<void> {
  server.prependListener('request', (_request, response) => response.setHeader('Connection', 'close'))
  // A load balancer sends requests until its next check of /readyz.
  if (delayMs > 0) await delay(delayMs)
  // Idle connections are closed right after sockets were read: a request that has arrived makes its connection a busy one.
  await new Promise(setImmediate)
  const closed = close(server)
  // A connection whose answer began before the stop becomes idle later, and has to be closed then.
  const sweep = setInterval(() => setImmediate(() => server.closeIdleConnections()), SWEEP_MS)
  await closed.finally(() => clearInterval(sweep))
}

const SWEEP_MS = 50

/** RFC 9112, section 3.2: exactly one Host. With two keys, the merchant of the request would be ambiguous. */
const ONCE = ['Host', 'Authorization']

interface HeaderProblem {
  readonly status: 400 | 417 | 431
  /** The predicate of a sentence about the request. */
  readonly message: string
}

const TOO_FAR_AHEAD: HeaderProblem = {
  status: 400,
  message: `was sent with more than ${SENT_AHEAD_MAX} requests before it that have no answer yet`
}

function headerProblem({ httpVersion, headers, rawHeaders }: IncomingMessage): HeaderProblem | null {
  // Names and values alternate.
  if (rawHeaders.length > 2 * HEADERS_MAX) return { status: 431, message: `has more than ${HEADERS_MAX} headers` }
  if (httpVersion === '1.1' && headers.host === undefined) return { status: 400, message: 'has no header Host' }
  // Node silently keeps the first of a repeated header. Most requests repeat none.
  if (rawHeaders.length === 2 * Object.keys(headers).length) return null
  const names = rawHeaders.filter((_, at) => at % 2 === 0).map(name => name.toLowerCase())
  const repeated = ONCE.find(name => names.indexOf(name.toLowerCase()) !== names.lastIndexOf(name.toLowerCase()))
  return repeated === undefined ? null : { status: 400, message: `has the header ${repeated} more than once` }
}

/** Answers a readable request that must not reach the application. */
function refuse(request: IncomingMessage, response: ServerResponse, { status, message }: HeaderProblem): void {
  const given = request.headers['x-correlation-id']
  const correlationId = typeof given === 'string' && isUuid(given) ? given : null
  const fields = [{ path: 'request', message }]
  const error = new ServiceError(status === 431 ? 'headers_too_large' : 'invalid_request', { fields })
  const { headers, body } = refusal(error, correlationId)
  response.writeHead(status, headers)
  response.end(body)
}

/** An answer without the application, with the same envelope and ids as all others. */
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

/** The answer to a request that Node's parser rejects. */
function unreadable(code: string | undefined): { status: number; error: ServiceError } {
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') return { status: 408, error: new ServiceError('request_timeout') }
  if (code !== 'HPE_HEADER_OVERFLOW')
    return { status: 400, error: invalidRequest('request', 'is not readable as HTTP/1.1') }
  const message = `has a request line and headers of more than ${HEADER_BYTES_MAX} bytes`
  return { status: 431, error: new ServiceError('headers_too_large', { fields: [{ path: 'request', message }] }) }
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
