/** One try: one HTTP request, and the whole answer to it. */
import { NoAnswerError } from './errors.js'
import type { Answer } from './verdict.js'

export interface HttpRequest {
  readonly url: URL
  readonly method: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string | undefined
}

export interface ExchangeOptions {
  readonly fetch: typeof fetch
  readonly timeoutMs: number
  readonly signal: AbortSignal | undefined
}

/** Never rejects: a missing answer is a result, too. */
export async function exchange(request: HttpRequest, options: ExchangeOptions): Promise<Answer | NoAnswerError> {
  const { url, body, ...rest } = request
  const { signal, timeoutMs } = options
  const stop = new AbortController()
  const onAbort = (): void => stop.abort()
  const timer = setTimeout(onAbort, timeoutMs)
  signal?.addEventListener('abort', onAbort)
  try {
    const init = { ...rest, ...(body !== undefined && { body }), signal: stop.signal, redirect: 'error' as const }
    const response = await options.fetch(url, init)
    return answerOf(response, await response.text(), url)
  } catch (cause) {
    const isTimeout = stop.signal.aborted && !signal?.aborted
    if (isTimeout)
      return new NoAnswerError('timeout', `${url.origin} gave no answer within ${timeoutMs} ms.`, { cause })
    return new NoAnswerError('no_connection', `${url.origin} gave no answer: ${reasonOf(cause)}.`, { cause })
  } finally {
    clearTimeout(timer)
    signal?.removeEventListener('abort', onAbort)
  }
}

/** An answer of the service, or `unreadable` when something else answered, such as a proxy. */
function answerOf({ status, headers }: Response, text: string, { origin }: URL): Answer | NoAnswerError {
  const body = status === 204 ? {} : parse(text)
  if (isObject(body) && (status < 300 || hasErrorCode(body))) return { status, headers, body }
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
  return typeof value === 'object' && value !== null
}

function hasErrorCode(body: object): boolean {
  return 'error' in body && isObject(body.error) && 'code' in body.error && typeof body.error.code === 'string'
}

/** The message of `fetch` is "fetch failed"; the reason is in its cause. */
function reasonOf(error: unknown): string {
  const { cause, message } = error instanceof Error ? error : new Error(String(error))
  return cause instanceof Error ? cause.message || String(Reflect.get(cause, 'code')) : message
}
