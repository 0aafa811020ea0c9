/**
 * One HTTP exchange with the card network, at most once, and what is proven about it afterwards.
 *
 * undici's dispatcher gets a handler of our own, because only the handler sees the moment that matters:
 * `onRequestStart` runs right before the first byte of the request is written. An earlier failure is `not_sent`; a
 * later one is `ambiguous`. undici may move a request to a second connection when the first one closes. This handler
 * refuses a second start, so that nothing that moves money is sent twice.
 */
import { buildConnector, type Dispatcher, Pool } from 'undici'
import type { Lease } from '../../machines/lease.js'
import { retryAfterMs } from '../../runtime/retry-after.js'
import { droppingContinue } from './drop-100-continue.js'

export interface WireRequest {
  readonly method: 'GET' | 'POST' | 'PUT'
  /** Path with query, below the base URL. */
  readonly path: string
  readonly body: string | null
  /** Time for the whole answer, from the first byte sent to the last byte received. */
  readonly timeoutMs: number
}

/** `reason` is for logs and operators; it never holds anything of the request's or the answer's body. */
export type Exchange =
  | {
      readonly kind: 'answered'
      readonly status: number
      readonly text: string
      /** What the answer says in `Retry-After`, from its arrival. */
      readonly retryAfterMs?: number
    }
  | { readonly kind: 'not_sent'; readonly reason: string; readonly isCircuitOpen?: true }
  /** `isCut`: the connection broke before the whole answer. */
  | { readonly kind: 'ambiguous'; readonly reason: string; readonly isCut?: true }

export interface Transport {
  /**
   * Never rejects. A call whose lease is lost is given up: `not_sent` if it had not started. A query that has started is
   * `ambiguous` then. A call that moves money and has started runs to its end, because its answer is worth more.
   */
  send(request: WireRequest, lease: Lease): Promise<Exchange>
  /** Ends after the calls in flight; abort them first if that must not take long. Safe to call twice. */
  close(): Promise<void>
}

export interface TransportOptions {
  readonly baseUrl: string
  readonly headers: Readonly<Record<string, string>>
  readonly connections: number
  /** Time until the request is on a connection: waiting for a free one, DNS, TCP and TLS. */
  readonly connectTimeoutMs: number
}

/** An answer of the network is a few KiB; anything beyond is not one. */
const ANSWER_BYTES_MAX = 256 * 1024

/** Calls to one base URL over a pool of connections, each of which has one call at a time. */
export function createTransport(options: TransportOptions): Transport {
  const { origin, pathname } = new URL(options.baseUrl)
  const prefix = pathname.replace(/\/$/, '')
  const pool = new Pool(origin, {
    connections: options.connections,
    pipelining: 1,
    allowH2: false,
    connect: droppingContinue(buildConnector({ timeout: options.connectTimeoutMs, allowH2: false })),
    // Each call has its own deadline for the whole answer.
    headersTimeout: 0,
    bodyTimeout: 0
  })
  let closing: Promise<void> | null = null
  return {
    send: (request, lease) =>
      new Promise(resolve => {
        const inFlight = new RequestInFlight(request, options.connectTimeoutMs, lease, resolve)
        if (inFlight.isSettled) return
        const { method, body } = request
        pool.dispatch({ method, path: prefix + request.path, headers: options.headers, body }, inFlight)
      }),
    close: () => {
      closing ??= pool.close()
      return closing
    }
  }
}

/** One call: settled exactly once, by the answer, an error, a deadline or the loss of the caller's lease. */
class RequestInFlight implements Dispatcher.DispatchHandler {
  isSettled = false
  readonly #isQuery: boolean
  readonly #timeoutMs: number
  readonly #lease: Lease
  readonly #resolve: (exchange: Exchange) => void
  #stopListening = (): void => undefined
  #timer: NodeJS.Timeout | undefined
  /** Set from the moment in which bytes may have left. */
  #controller: Dispatcher.DispatchController | null = null
  #status = 0
  #retryAfterMs: number | null = null
  #bytes = 0
  readonly #chunks: Buffer[] = []

  constructor(
    { method, timeoutMs }: WireRequest,
    connectTimeoutMs: number,
    lease: Lease,
    resolve: (exchange: Exchange) => void
  ) {
    this.#isQuery = method === 'GET'
    this.#timeoutMs = timeoutMs
    this.#lease = lease
    this.#resolve = resolve
    if (lease.isLost()) {
      this.#giveUp('the caller gave up')
      return
    }
    this.#stopListening = lease.onLost(() => {
      if (this.#controller === null || this.#isQuery) this.#giveUp('the caller gave up')
    })
    this.#timer = setTimeout(() => this.#giveUp(`no connection within ${connectTimeoutMs} ms`), connectTimeoutMs)
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    const isSecondStart = this.#controller !== null
    if (isSecondStart) this.#giveUp('the connection was lost before the answer')
    // Aborting here, before anything is written, keeps the request from leaving. A lock can expire while the call waits for
    // a connection, and its holder may learn that only by asking.
    if (this.#lease.isLost() || this.isSettled) {
      controller.abort(new Error('The call was given up.'))
      return
    }
    this.#controller = controller
    clearTimeout(this.#timer)
    this.#timer = setTimeout(() => this.#giveUp(`no whole answer within ${this.#timeoutMs} ms`), this.#timeoutMs)
  }

  onResponseStart(
    _controller: Dispatcher.DispatchController,
    status: number,
    headers: Readonly<Record<string, string | string[] | undefined>>
  ): void {
    this.#status = status
    this.#retryAfterMs = retryAfterMs(headers['retry-after'], Date.now())
  }

  onResponseData(_controller: Dispatcher.DispatchController, chunk: Buffer): void {
    this.#bytes += chunk.length
    if (this.#bytes > ANSWER_BYTES_MAX) this.#giveUp(`an answer of more than ${ANSWER_BYTES_MAX} bytes`)
    else this.#chunks.push(chunk)
  }

  onResponseEnd(): void {
    this.#settle({
      kind: 'answered',
      status: this.#status,
      text: withoutMark(Buffer.concat(this.#chunks).toString('utf8')),
      ...(this.#retryAfterMs === null ? {} : { retryAfterMs: this.#retryAfterMs })
    })
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    if (this.#controller === null) this.#giveUp(nameOf(error))
    else this.#settle({ kind: 'ambiguous', reason: nameOf(error), isCut: true })
  }

  #giveUp(reason: string): void {
    this.#settle({ kind: this.#controller === null ? 'not_sent' : 'ambiguous', reason })
  }

  #settle(exchange: Exchange): void {
    if (this.isSettled) return
    this.isSettled = true
    clearTimeout(this.#timer)
    this.#stopListening()
    this.#resolve(exchange)
    if (exchange.kind === 'ambiguous') this.#controller?.abort(new Error(exchange.reason))
  }
}

/** Some systems begin UTF-8 with a byte order mark, which JSON does not know. */
function withoutMark(text: string): string {
  return text.startsWith('\uFEFF') ? text.slice(1) : text
}

/** The code of a network error (`ECONNREFUSED`), which is all that a reason may say about it. */
function nameOf(error: Error): string {
  return 'code' in error && typeof error.code === 'string' ? error.code : error.name
}
