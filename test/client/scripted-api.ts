/** A `fetch` that answers from a list, for tests of the client. */
import { type ClientOptions, PaymentsClient } from '../../client/index.js'

/** Status, body and headers of an answer; text is sent as it is; `cut`: the connection breaks; `hang`: no answer; `stall`: its head and
 * a beginning, from a `fetch` that has lost its signal. */
export type Step =
  | readonly [status: number, body: object | string, headers?: Readonly<Record<string, string>>]
  | 'cut'
  | 'hang'
  | 'stall'

export interface SentRequest {
  /** `POST /v1/payments`, with its query. */
  readonly line: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string | undefined
}

export interface ScriptedApi {
  readonly client: PaymentsClient
  readonly sent: readonly SentRequest[]
}

export const API_KEY = 'svc_test.kid.secret'

/** A client that gets `steps`, one for each try, the last one again and again. */
export function scriptedApi(steps: readonly Step[], options: Partial<ClientOptions> = {}): ScriptedApi {
  const sent: SentRequest[] = []
  const answer: typeof fetch = async (input, init) => {
    const url = new URL(String(input))
    const step = steps[Math.min(sent.length, steps.length - 1)] ?? 'cut'
    sent.push({
      line: `${init?.method} ${url.pathname}${url.search}`,
      headers: Object.fromEntries(new Headers(init?.headers)),
      body: init?.body?.toString()
    })
    if (step === 'cut') throw new TypeError('fetch failed', { cause: new Error('socket hang up') })
    if (step === 'hang') return await untilAborted(init?.signal)
    if (step === 'stall') return new Response(new ReadableStream({ start: body => body.enqueue(Buffer.from('{')) }))
    const [status, body, headers = {}] = step
    return new Response(typeof body === 'string' ? body : JSON.stringify(body), { status, headers })
  }
  const client = new PaymentsClient({
    baseUrl: 'http://api.test',
    apiKey: API_KEY,
    fetch: answer,
    retryPauseMs: 1,
    ...options
  })
  return { client, sent }
}

/** An answer from 400 on. */
export function refusal(status: number, code: string, more: object = {}): Step {
  return [status, { error: { code, message: `${code}.`, retryable: false, request_id: 'r1', ...more } }]
}

function untilAborted(signal: AbortSignal | null | undefined): Promise<never> {
  return new Promise((_, reject) => signal?.addEventListener('abort', () => reject(signal.reason)))
}
