/**
 * The inspector's own server: its page, what-if, and the payments as server-sent events.
 *
 * It listens on 127.0.0.1 only. Other pages in the same browser must not read it: a request has to name a loopback host,
 * which stops DNS rebinding, and has to come from this page, or from a program.
 */
import { readFile } from 'node:fs/promises'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { resolve } from 'node:path'
import getRawBody from 'raw-body'
import { messageOf } from '../../runtime/message-of.js'
import { closeServer, isLoopbackHost, listenHere } from '../start/tool-ports.js'
import { machineView } from './machine-view.js'
import type { SeenPayment } from './view-model.js'
import { whatIf } from './what-if.js'

export interface InspectorOptions {
  readonly port: number
  /** The payments for a new viewer. */
  readonly replay: () => readonly SeenPayment[]
  /** Sentence about the connection to the service, shown on the page. */
  readonly status: () => string
}

export interface InspectorServer {
  readonly url: string
  /** Sends to all viewers. */
  send(payment: SeenPayment): void
  stop(): Promise<void>
}

const HOST = '127.0.0.1'
const BODY_BYTES_MAX = 65_536
/** Payments for a page that does not read are dropped beyond this. */
const BUFFERED_BYTES_MAX = 8_000_000
/** Markup and styles are read from the sources, scripts from the build. */
const PAGE_DIR = resolve(import.meta.dirname, '../../../scripts/inspector/browser')
const SCRIPT_DIR = resolve(import.meta.dirname, 'browser')
const FILES: Readonly<Record<string, { readonly dir: string; readonly type: string }>> = {
  html: { dir: PAGE_DIR, type: 'text/html' },
  css: { dir: PAGE_DIR, type: 'text/css' },
  js: { dir: SCRIPT_DIR, type: 'text/javascript' }
}

/** Rejects when the port is taken. */
export async function startInspectorServer(options: InspectorOptions): Promise<InspectorServer> {
  const view = JSON.stringify(await machineView())
  const viewers = new Set<ServerResponse>()
  const beginFeed = (response: ServerResponse): void => {
    response.writeHead(200, headersOf('text/event-stream'))
    response.flushHeaders()
    for (const payment of options.replay()) response.write(eventOf(payment))
    viewers.add(response)
    response.once('close', () => viewers.delete(response))
  }
  const server = createServer((request, response) => {
    answer(request, response, { ...options, view, beginFeed }).catch((error: unknown) => {
      reply(response, 400, 'text/plain', messageOf(error))
    })
  })
  const port = await listenHere(server, options.port, '--port')
  return {
    url: `http://${HOST}:${port}/`,
    send(payment) {
      const event = eventOf(payment)
      for (const viewer of viewers) if (viewer.writableLength <= BUFFERED_BYTES_MAX) viewer.write(event)
    },
    stop: () => closeServer(server)
  }
}

interface Answers extends Pick<InspectorOptions, 'status'> {
  /** The machine, as JSON. */
  readonly view: string
  readonly beginFeed: (response: ServerResponse) => void
}

async function answer(
  request: IncomingMessage,
  response: ServerResponse,
  { status, view, beginFeed }: Answers
): Promise<void> {
  if (!isOwn(request)) return reply(response, 403, 'text/plain', 'Only for the page of the inspector.')
  const { pathname } = new URL(request.url ?? '/', `http://${HOST}`)
  const route = `${request.method} ${pathname}`
  if (route === 'GET /machine.json') return reply(response, 200, 'application/json', view)
  if (route === 'GET /status') return reply(response, 200, 'text/plain', status())
  if (route === 'GET /payments') return beginFeed(response)
  if (route === 'POST /what-if') {
    const body = await getRawBody(request, { limit: BODY_BYTES_MAX, encoding: 'utf8' })
    return reply(response, 200, 'application/json', JSON.stringify(whatIf(JSON.parse(body))))
  }
  if (route === 'GET /') return await sendFile(response, 'page.html')
  await sendFile(response, /^GET \/([a-z-]+\.(?:js|css))$/.exec(route)?.[1] ?? '')
}

async function sendFile(response: ServerResponse, name: string): Promise<void> {
  const kind = FILES[name.split('.')[1] ?? '']
  const content = kind === undefined ? null : await readFile(resolve(kind.dir, name), 'utf8').catch(() => null)
  if (kind === undefined || content === null) return reply(response, 404, 'text/plain', 'There is no such page.')
  reply(response, 200, kind.type, content)
}

function reply(response: ServerResponse, status: number, type: string, body: string): void {
  response.writeHead(status, headersOf(type))
  response.end(body)
}

function headersOf(type: string): Readonly<Record<string, string>> {
  return {
    'Content-Type': `${type}; charset=utf-8`,
    'Content-Security-Policy':
      "default-src 'self'; img-src 'self' data:; frame-ancestors 'none'; base-uri 'none'; form-action 'none'",
    'Cache-Control': 'no-store',
    'X-Content-Type-Options': 'nosniff'
  }
}

function eventOf(payment: SeenPayment): string {
  return `data: ${JSON.stringify(payment)}\n\n`
}

/**
 * From the inspector's page or from a program. Browsers leave out Origin where another page may send a request but not read the
 * answer. The page itself may be opened by a link.
 */
function isOwn({ url, headers }: IncomingMessage): boolean {
  const isOwnOrigin = headers.origin === undefined || headers.origin === `http://${headers.host}`
  const site = headers['sec-fetch-site'] ?? 'none'
  const isOwnSite = url === '/' || site === 'none' || site === 'same-origin'
  return isLoopbackHost(headers.host) && isOwnOrigin && isOwnSite
}
