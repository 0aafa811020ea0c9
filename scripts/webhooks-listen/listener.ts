/** The https server behind `webhooks:listen`. */

import type { IncomingHttpHeaders } from 'node:http'
import { createServer } from 'node:https'
import { buffer } from 'node:stream/consumers'
import { InvalidArgumentError } from 'commander'
import { webhooks } from '../../client/index.js'
import { parsedUrl } from '../../runtime/parsed-url.js'
import type { TlsMaterial } from '../start/loopback-tls.js'
import { closeServer, listenHere } from '../start/tool-ports.js'

export interface ListenerOptions {
  readonly tls: TlsMaterial
  /** 0 takes a free one. */
  readonly port: number
  /** Null: the listener itself answers 204. */
  readonly forwardTo: URL | null
  readonly write: (line: string) => void
}

export interface Listener {
  readonly url: string
  /** Checks signatures with this secret from now on. */
  expect(secret: string): void
  stop(): Promise<void>
}

/** After this status the service retries. */
const UNANSWERED = 502
/** The service waits 10 s for an answer: the line about an event comes before it is sent again. */
const FORWARD_TIMEOUT_MS = 9_000
const PASSED_ON = ['content-type', 'user-agent', 'x-service-event', 'x-service-signature']

/** Rejects when the port is taken. */
export async function startListener({ tls, forwardTo, write, ...options }: ListenerOptions): Promise<Listener> {
  let secret: string | undefined
  const server = createServer({ cert: tls.cert, key: tls.key }, async (request, response) => {
    // Undefined: the connection ended within the event, which is sent again.
    const body = await buffer(request).catch(() => undefined)
    if (body === undefined) return
    const answer = forwardTo === null ? { status: 204, headers: {} } : await forward(forwardTo, request.headers, body)
    const outcome = forwardTo === null ? '' : ` -> ${answer?.status ?? 'no answer there'}`
    write(describe(request.headers, body, secret, outcome))
    response.writeHead(answer?.status ?? UNANSWERED, answer?.headers).end()
  })
  const port = await listenHere(server, options.port, '--port')
  return {
    url: `https://localhost:${port}/`,
    expect: given => {
      secret = given
    },
    stop: () => closeServer(server)
  }
}

/** The value of `--forward-to`. Throws a sentence when it is no http address. */
export function forwardTarget(text: string): URL {
  // `localhost:4000/hook` is a URL too, of the scheme "localhost".
  const url = parsedUrl(text)
  if (url !== null && /^https?:$/.test(url.protocol)) return url
  throw new InvalidArgumentError('Give an http address, such as http://localhost:8080/hook.')
}

/** Forwards the raw bytes and the headers of the event, so that the signature stays valid. Null: no answer. */
async function forward(
  target: URL,
  headers: IncomingHttpHeaders,
  body: Buffer
): Promise<{ status: number; headers: Record<string, string> } | null> {
  const passed = PASSED_ON.flatMap((name): [string, string][] => {
    const value = headers[name]
    return typeof value === 'string' ? [[name, value]] : []
  })
  try {
    const response = await fetch(target, {
      method: 'POST',
      headers: passed,
      body: Uint8Array.from(body),
      redirect: 'manual',
      signal: AbortSignal.timeout(FORWARD_TIMEOUT_MS)
    })
    await response.body?.cancel()
    const retryAfter = response.headers.get('retry-after')
    return {
      status: response.status === 0 ? UNANSWERED : response.status,
      headers: retryAfter === null ? {} : { 'Retry-After': retryAfter }
    }
  } catch {
    return null
  }
}

/** `12:00:01 {"event_id":…} (valid signature) -> 200` */
function describe(headers: IncomingHttpHeaders, body: Buffer, secret: string | undefined, outcome: string): string {
  const time = new Date().toISOString().slice(11, 19)
  return `${time} ${body.toString('utf8')} (${signatureWords(headers, body, secret)})${outcome}`
}

function signatureWords(headers: IncomingHttpHeaders, body: Buffer, secret: string | undefined): string {
  try {
    webhooks.verify(body, String(headers['x-service-signature']), secret ?? '')
    return 'valid signature'
  } catch {
    return 'INVALID SIGNATURE'
  }
}
