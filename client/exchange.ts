/** One try: one HTTP request, and the whole answer to it. */
import { NoAnswerError } from './errors.js'
import { watchSending } from './sending.js'
import type { ApiAnswer } from './verdict.js'

export interface HttpRequest {
  readonly url: URL
  readonly method: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string | undefined
  /** The Idempotency-Key, with which its sending can be watched. */
  readonly key?: string | undefined
}

export interface ExchangeOptions {
  readonly fetch: typeof fetch
  readonly timeoutMs: number
  readonly signal: AbortSignal | undefined
}

/** Never rejects: a missing answer is a result, too. */
export async function exchange(request: HttpRequest, options: ExchangeOptions): Promise<ApiAnswer | NoAnswerError> {
  const { url, body, key, ...rest } = request
  const { signal, timeoutMs } = options
  const sending = key === undefined ? undefined : watchSending(key)
  const stop = new AbortController()
  const onAbort = (): void => stop.abort()
  const timer = setTimeout(onAbort, timeoutMs)
  signal?.addEventListener('abort', onAbort)
  try {
    const init = { ...rest, ...(body !== undefined && { body }), signal: stop.signal, redirect: 'manual' as const }
    const response = await options.fetch(url, init)
    const text = await unlessAborted(response.text(), stop.signal)
    return answerOf(response, text, url, key !== undefined)
  } catch (cause) {
    const isTimeout = stop.signal.aborted && !signal?.aborted
    const reason = isTimeout ? `no connection within ${timeoutMs} ms` : reasonOf(cause)
    if (sending?.isProvedUnsent() || isUnsent(cause))
      return new NoAnswerError('not_sent', `Nothing was sent to ${url.origin}: ${reason}.`, { cause })
    if (isTimeout)
      return new NoAnswerError('timeout', `${url.origin} gave no answer within ${timeoutMs} ms.`, { cause })
    return new NoAnswerError('no_connection', `${url.origin} gave no answer: ${reason}.`, { cause })
  } finally {
    sending?.stop()
    clearTimeout(timer)
    signal?.removeEventListener('abort', onAbort)
  }
}

/**
 * Rejects once the signal aborts. `fetch` of Node 20 and 22 loses its signal after the head of an answer: a body that stalls
 * would hold the call for minutes.
 */
async function unlessAborted<T>(reading: Promise<T>, signal: AbortSignal): Promise<T> {
  let onAbort = (): void => undefined
  const aborted = new Promise<never>((_, reject) => {
    onAbort = () => reject(signal.reason)
  })
  signal.addEventListener('abort', onAbort)
  if (signal.aborted) onAbort()
  try {
    return await Promise.race([reading, aborted])
  } finally {
    signal.removeEventListener('abort', onAbort)
  }
}

/** An answer of the service, or `unreadable` when something else answered, such as a proxy. `movesMoney`: it names what it made. */
function answerOf(
  { status, headers }: Response,
  text: string,
  { origin }: URL,
  movesMoney: boolean
): ApiAnswer | NoAnswerError {
  const body = status === 204 ? {} : parse(text)
  const isOurs = (found: object): boolean =>
    status < 300 ? !movesMoney || ('id' in found && typeof found.id === 'string') : hasOurError(found)
  if (isObject(body) && isOurs(body)) return { status, headers, body }
  return new NoAnswerError('unreadable', `${origin} answered ${status} with something that is not the API's.`, {
    status
  })
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Gateways, too, answer `{"error":{"code","message"}}`: the two other fields, which every error of the service has, are not theirs. */
const ourError = { code: 'string', message: 'string', retryable: 'boolean', request_id: 'string' }

function hasOurError(body: object): boolean {
  const error: unknown = 'error' in body ? body.error : undefined
  return isObject(error) && Object.entries(ourError).every(([name, type]) => typeof Reflect.get(error, name) === type)
}

/** Failures before a connection exists, whichever `fetch` reports them. */
function isUnsent(error: unknown): boolean {
  const cause: unknown = error instanceof Error ? error.cause : undefined
  if (cause instanceof AggregateError) return cause.errors.every(isConnectFailure)
  return isConnectFailure(cause)
}

function isConnectFailure(cause: unknown): boolean {
  if (!(cause instanceof Error)) return false
  const { syscall, code } = cause as NodeJS.ErrnoException
  // `bad port`: `fetch` refuses some ports, such as that of e-mail, unasked.
  return syscall === 'connect' || syscall === 'getaddrinfo' || code === CONNECT_TIMEOUT || cause.message === 'bad port'
}

const CONNECT_TIMEOUT = 'UND_ERR_CONNECT_TIMEOUT'
/** OpenSSL's words for an answer in HTTP to its greeting. */
const NO_TLS = ['ERR_SSL_WRONG_VERSION_NUMBER', 'ERR_SSL_PACKET_LENGTH_TOO_LONG', 'EPROTO']

/** The message of `fetch` is "fetch failed"; the reason is in its cause. */
function reasonOf(error: unknown): string {
  const { cause, message } = error instanceof Error ? error : new Error(String(error))
  if (!(cause instanceof Error)) return message
  const code = String(Reflect.get(cause, 'code'))
  if (NO_TLS.includes(code)) return `it does not speak TLS (${code}): is its address http, not https`
  return cause.message.trim() || code
}
