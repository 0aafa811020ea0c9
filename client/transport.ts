/** Sends a request until its result is known, or its deadline ends. Used by every call of the client. */
import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { below, checkedAddress } from './address.js'
import type { Payment } from './answer-types.js'
import { bodyText } from './body-text.js'
import { ApiError, NoAnswerError, OutcomeUnknownError } from './errors.js'
import { exchange } from './exchange.js'
import {
  type ClientOptions,
  checkCallOptions,
  checkClientOptions,
  checkEncryption,
  type MoneyOptions
} from './options.js'
import { type ApiAnswer, errorOf, pauseMs, type Verdict, verdictOf } from './verdict.js'

export interface ApiRequest {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE'
  readonly path: string
  readonly query?: object
  readonly body?: object
  /** It carries an Idempotency-Key. */
  readonly movesMoney?: boolean
}

const TIMEOUT_MS = 16_000
const DEADLINE_MS = 30_000
const RETRIES_MAX = 3
const RETRY_PAUSE_MS = 250

export class ApiTransport {
  readonly #options: ClientOptions
  readonly #address: URL

  /** Throws a `TypeError` for options that cannot work. */
  constructor(options: ClientOptions) {
    checkClientOptions(options)
    this.#address = checkedAddress('baseUrl', options.baseUrl)
    checkEncryption(this.#address, options.apiKey)
    this.#options = options
  }

  /**
   * Resolves to the body of a success. Rejects with `TypeError` before anything is sent, with `ApiError`, with
   * `OutcomeUnknownError` where money may have moved, and else with `NoAnswerError` or the reason of the signal.
   */
  async send<T>(request: ApiRequest, options: MoneyOptions = {}): Promise<T> {
    checkCallOptions(options)
    const { signal } = options
    signal?.throwIfAborted()
    const key = request.movesMoney ? keyOf(options) : undefined
    const attempt = this.#attempts(request, key, options)
    const { retriesMax, deadlineMs, retryPauseMs } = this.#patience(options)
    const endMs = performance.now() + deadlineMs
    let payment: Payment | null = null
    // An earlier call may have used the caller's key.
    let mayBeAccepted = options.idempotencyKey !== undefined
    let isSent = false
    for (let failures = 0; ; ) {
      const answer = await attempt()
      const verdict = verdictOf(answer, mayBeAccepted)
      if (verdict === 'success') return (answer as ApiAnswer).body as T
      if (verdict !== 'in_progress') failures++
      payment = acceptedPayment(answer) ?? payment
      isSent ||= verdict !== 'not_sent'
      mayBeAccepted = isStillOpen(verdict, mayBeAccepted)
      const waitMs = pauseMs(answer, failures, retryPauseMs)
      const isLast = verdict === 'refused' || failures > retriesMax || performance.now() + waitMs > endMs
      if (isLast || !(await hasPaused(waitMs, signal))) {
        const mayHaveMoved = key !== undefined && isSent && mayBeAccepted
        throw failureOf(answer, signal, mayHaveMoved ? { key, payment } : null)
      }
      this.#log('warn', { path: request.path, verdict, failures, key }, 'request is retried')
    }
  }

  /** What a logger throws must not hide the result of a call. */
  #log(level: 'debug' | 'warn', fields: object, message: string): void {
    try {
      this.#options.logger?.[level](fields, message)
    } catch {
      // Its own trouble.
    }
  }

  #patience(options: MoneyOptions): { retriesMax: number; deadlineMs: number; retryPauseMs: number } {
    const { maxRetries = RETRIES_MAX, deadlineMs = DEADLINE_MS, retryPauseMs = RETRY_PAUSE_MS } = this.#options
    return { retriesMax: options.maxRetries ?? maxRetries, deadlineMs: options.deadlineMs ?? deadlineMs, retryPauseMs }
  }

  /** A function that sends the same bytes each time. */
  #attempts(
    request: ApiRequest,
    key: string | undefined,
    options: MoneyOptions
  ): () => Promise<ApiAnswer | NoAnswerError> {
    const { method, path, query } = request
    const url = below(this.#address, path)
    for (const [name, value] of Object.entries(query ?? {})) {
      if (value !== undefined) url.searchParams.set(name, String(value))
    }
    const body = 'body' in request ? bodyText(request.body) : undefined
    const timeoutMs = options.timeoutMs ?? this.#options.timeoutMs ?? TIMEOUT_MS
    const { correlationId, signal, waitS } = options
    const { apiKey, fetch = globalThis.fetch } = this.#options
    const headers = {
      Authorization: `Bearer ${apiKey}`,
      ...(body !== undefined && { 'Content-Type': 'application/json' }),
      ...(key !== undefined && { 'Idempotency-Key': key }),
      ...(waitS !== undefined && { Prefer: `wait=${waitS}` }),
      ...(correlationId !== undefined && { 'X-Correlation-Id': correlationId })
    }
    return async () => {
      const beganMs = performance.now()
      const answer = await exchange({ url, method, headers, body, key }, { fetch, timeoutMs, signal })
      const tookMs = Math.round(performance.now() - beganMs)
      this.#log('debug', { method, path, ...wordsOf(answer), took_ms: tookMs }, 'request answered')
      return answer
    }
  }
}

function keyOf({ idempotencyKey }: MoneyOptions): string {
  return idempotencyKey ?? randomUUID()
}

/** Whether the request may have been accepted, after one more try of it. */
function isStillOpen(verdict: Verdict, mayBeAccepted: boolean): boolean {
  if (verdict === 'not_taken' || verdict === 'not_sent') return mayBeAccepted
  return verdict === 'unknown' || verdict === 'in_progress'
}

/** Methods of the client that belong together. */
export class MethodGroup {
  protected readonly send: ApiTransport['send']

  constructor(transport: ApiTransport) {
    this.send = (request, options) => transport.send(request, options)
  }
}

/** The payment of a 202. */
function acceptedPayment(answer: ApiAnswer | NoAnswerError): Payment | null {
  return 'body' in answer && answer.status === 202 ? (answer.body as Payment) : null
}

/** What a call ends with; `open`: what is known of a request that may have moved money. */
function failureOf(
  answer: ApiAnswer | NoAnswerError,
  signal: AbortSignal | undefined,
  open: { readonly key: string; readonly payment: Payment | null } | null
): unknown {
  const reason: unknown = signal?.aborted ? signal.reason : thrownFor(answer)
  return open === null ? reason : new OutcomeUnknownError(open.key, open.payment, reason)
}

function thrownFor(answer: ApiAnswer | NoAnswerError): Error {
  if (answer instanceof NoAnswerError) return answer
  if (answer.status === 202) return new Error('The request is accepted, and has no result yet.')
  return new ApiError(answer.status, errorOf(answer))
}

/** Fields of an answer for the log. */
function wordsOf(answer: ApiAnswer | NoAnswerError): object {
  if (answer instanceof NoAnswerError) return { code: answer.code, problem: answer.message }
  const { status, headers } = answer
  return { status, ...(status >= 400 && { code: errorOf(answer).code }), request_id: headers.get('X-Request-Id') }
}

/** False when the signal aborts the pause. */
async function hasPaused(waitMs: number, signal: AbortSignal | undefined): Promise<boolean> {
  return await sleep(waitMs, true, { signal }).catch(() => false)
}
