/**
 * One POST to a webhook receiver, which may be slow, huge, hostile or broken. It ends within the timeout.
 *
 * https only; the certificate is verified; redirects are not followed; at most 64 KiB of the answer are read, and a
 * little of it is kept for the operator. The status alone decides, so an endless body after a 2xx is a success.
 */
import { isIP } from 'node:net'
import { Agent, buildConnector, type Dispatcher } from 'undici'
import { holdsCardData } from '../../machines/card-data-in-text.js'
import type { Lease } from '../../machines/lease.js'
import type { Clock } from '../../runtime/clock.js'
import type { EgressPolicy } from '../../runtime/egress-policy.js'
import { retryAfterMs } from '../../runtime/retry-after.js'
import { droppingContinue } from '../network/drop-100-continue.js'
import { assertAllowed, checkedLookup, type Resolve } from './resolver.js'

/** The outcome of an attempt. */
export interface SendOutcome {
  /** Null: there was no answer. */
  readonly status: number | null
  readonly retryAfterMs: number | null
  /** First characters of the answer, on one line; or why there was none. */
  readonly note: string
}

export function unanswered(reason: string): SendOutcome {
  return { status: null, retryAfterMs: null, note: reason }
}

export interface Sender {
  /** Never rejects. */
  post(url: string, headers: Readonly<Record<string, string>>, body: string, lease: Lease): Promise<SendOutcome>
  /** Aborts the requests in flight. */
  close(): Promise<void>
}

export interface SenderOptions {
  readonly policy: EgressPolicy
  /** For the whole exchange, DNS and TLS included (ms). */
  readonly timeoutMs: number
  /** Further certificate authorities (PEM), for tests; processes use NODE_EXTRA_CA_CERTS. */
  readonly ca?: string
  readonly resolve?: Resolve
  /** For a `Retry-After` that is a date. */
  readonly clock: Clock
  /** A connection in use is replaced after so long: the name of its host may stand for another address by now. */
  readonly connectionLifeMs?: number
}

const ANSWER_BYTES_MAX = 64 * 1_024
/** Answers 1xx before the answer. Each is work for this process, and a receiver can send millions until the deadline. */
const ANNOUNCEMENTS_MAX = 16
const NOTE_LENGTH_MAX = 200
/** What is judged of an answer before it is cut: a card number that the cut parts must not be kept either. */
const JUDGED_BYTES_MAX = 2_048
/** Servers close an idle connection after 5 s or more: one that is being closed just then would fail an attempt. */
const KEEP_ALIVE_MS = 4_000
const CONNECTION_LIFE_MS = 60_000
/** Of an answer that is no text. */
const ENCODINGS = ['gzip', 'deflate', 'br', 'zstd']

export function createSender(options: SenderOptions): Sender {
  const { policy, timeoutMs, ca, resolve, clock, connectionLifeMs = CONNECTION_LIFE_MS } = options
  const connectTls = droppingContinue(
    buildConnector({
      timeout: timeoutMs,
      allowH2: false,
      lookup: checkedLookup(policy, resolve),
      ...(ca === undefined ? {} : { ca })
    })
  )
  const agent = new Agent({
    pipelining: 1,
    allowH2: false,
    keepAliveTimeout: KEEP_ALIVE_MS,
    clientTtl: connectionLifeMs,
    headersTimeout: 0,
    bodyTimeout: 0,
    maxHeaderSize: 16 * 1_024,
    connect: (options, callback) => {
      try {
        // An address in the place of a name skips the DNS lookup, which checks all others.
        if (isIP(bare(options.hostname)) !== 0) assertAllowed(policy, bare(options.hostname), bare(options.hostname))
        connectTls(options, callback)
      } catch (error) {
        callback(error instanceof Error ? error : new Error(String(error)), null)
      }
    }
  })
  return {
    post: (url, headers, body, lease) =>
      new Promise(done => {
        const target = new URL(url)
        if (target.protocol !== 'https:') return done(unanswered('the URL is not https'))
        const inFlight = new RequestInFlight(timeoutMs, lease, clock, done)
        agent.dispatch(
          { origin: target.origin, path: target.pathname + target.search, method: 'POST', headers, body },
          inFlight
        )
      }),
    close: () => agent.destroy()
  }
}

/** `[::1]` is `::1`. */
function bare(hostname: string): string {
  return hostname.replace(/^\[|\]$/g, '')
}

/** One POST: settled exactly once, by the answer, an error, the deadline or the caller. */
class RequestInFlight implements Dispatcher.DispatchHandler {
  readonly #clock: Clock
  readonly #done: (outcome: SendOutcome) => void
  readonly #timer: NodeJS.Timeout
  readonly #stopListening: () => void
  #isSettled = false
  #controller: Dispatcher.DispatchController | null = null
  #answer: { status: number; retryAfterMs: number | null } | null = null
  #announcements = 0
  #encoding = 'identity'
  #bytes = 0
  #start: Buffer = Buffer.alloc(0)

  constructor(timeoutMs: number, lease: Lease, clock: Clock, done: (outcome: SendOutcome) => void) {
    this.#clock = clock
    this.#done = done
    this.#timer = setTimeout(() => this.#end(`no answer within ${timeoutMs} ms`), timeoutMs)
    const interrupt = (): void => this.#end('the delivery was interrupted')
    this.#stopListening = lease.onLost(interrupt)
    if (lease.isLost()) interrupt()
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller
    if (this.#isSettled) controller.abort(new Error('The delivery was given up.'))
  }

  onResponseStart(
    _controller: Dispatcher.DispatchController,
    status: number,
    headers: Record<string, string | string[] | undefined>
  ): void {
    if (status >= 200) {
      this.#answer = { status, retryAfterMs: retryAfterMs(headers['retry-after'], this.#clock.now()) }
      this.#encoding = headers['content-encoding']?.toString() ?? 'identity'
    } else if (++this.#announcements > ANNOUNCEMENTS_MAX) this.#end('announcements (1xx) and no answer')
  }

  onResponseData(_controller: Dispatcher.DispatchController, chunk: Buffer): void {
    if (this.#bytes < JUDGED_BYTES_MAX) this.#start = Buffer.concat([this.#start, chunk.subarray(0, JUDGED_BYTES_MAX)])
    this.#bytes += chunk.length
    if (this.#bytes > ANSWER_BYTES_MAX) this.#end('the answer is too long')
  }

  onResponseEnd(): void {
    this.#settle('')
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    this.#settle(reasonOf(error))
  }

  /** Ends what is in flight: the connection can't be used again. */
  #end(reason: string): void {
    this.#settle(reason)
    this.#controller?.abort(new Error(reason))
  }

  #settle(reason: string): void {
    if (this.#isSettled) return
    this.#isSettled = true
    clearTimeout(this.#timer)
    this.#stopListening()
    this.#done(
      this.#answer === null ? unanswered(reason) : { ...this.#answer, note: noteOf(this.#start, this.#encoding) }
    )
  }
}

/** What is kept of an answer, for the operator. */
function noteOf(start: Buffer, encoding: string): string {
  if (encoding !== 'identity') return `(an answer in ${ENCODINGS.find(known => known === encoding) ?? 'an encoding'})`
  const text = oneLine(start.toString('utf8'))
  return holdsCardData(text) ? '(an answer with card data)' : cut(text)
}

/** The text of a receiver on one line, without what a terminal could act on. */
function oneLine(text: string): string {
  return text.replace(/[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]+/gu, ' ').trim()
}

function cut(text: string): string {
  // Not half of a character.
  return text.slice(0, NOTE_LENGTH_MAX).replace(/\p{Cs}$/u, '')
}

/** Words for what merchants and operators read of their attempts, by the code of the error. */
const REASONS: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'the connection was refused',
  ECONNRESET: 'the connection was reset',
  EPIPE: 'the connection was reset',
  ETIMEDOUT: 'no connection in time',
  EHOSTUNREACH: 'the address cannot be reached',
  ENETUNREACH: 'the address cannot be reached',
  ENOTFOUND: 'the name of the host is not known',
  EAI_AGAIN: 'the name of the host could not be looked up',
  UND_ERR_SOCKET: 'the connection was closed before the answer',
  UND_ERR_CONNECT_TIMEOUT: 'no connection in time',
  UND_ERR_HEADERS_OVERFLOW: 'the headers of the answer are too long',
  UND_ERR_RES_CONTENT_LENGTH_MISMATCH: 'the answer is not as long as its Content-Length'
}

function reasonOf(error: Error): string {
  const code = 'code' in error && typeof error.code === 'string' ? error.code : error.name
  if (code === 'FORBIDDEN_TARGET') return cut(oneLine(error.message))
  if (/^HPE_|^HTTPParserError$/.test(code)) return 'the answer is not HTTP/1.1'
  if (/CERT|^ERR_SSL|^ERR_TLS|SIGNATURE|ISSUER/.test(code)) return cut(oneLine(`no secure connection (${code})`))
  return REASONS[code] ?? cut(oneLine(`the exchange failed (${code})`))
}
