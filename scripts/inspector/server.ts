/**
 * The inspector's own server: its page, what-if, and the payments over a WebSocket.
 *
 * It listens on 127.0.0.1 only. Other pages in the same browser must not read it: a request has to name a loopback host,
 * which stops DNS rebinding. A WebSocket has to come from this page, or from a program.
 */
import { readFile } from 'node:fs/promises'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { resolve } from 'node:path'
import { WebSocket, WebSocketServer } from 'ws'
import { messageOf } from '../../runtime/message-of.js'
import { isLoopbackHost, listenHere } from '../start/tool-ports.js'
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
  const server = createServer((request, response) => {
    answer(request, response, options, view).catch((error: unknown) => {
      reply(response, 400, 'text/plain', messageOf(error))
    })
  })
  const port = await listenHere(server, options.port, '--port')
  const sockets = new WebSocketServer({ server, maxPayload: 1_024, verifyClient: mayConnect })
  sockets.on('connection', socket => {
    for (const payment of options.replay()) socket.send(JSON.stringify(payment))
  })
  return {
    url: `http://${HOST}:${port}/`,
    send(payment) {
      const text = JSON.stringify(payment)
      for (const socket of sockets.clients) {
        if (socket.readyState === WebSocket.OPEN && socket.bufferedAmount <= BUFFERED_BYTES_MAX) socket.send(text)
      }
    },
    async stop() {
      for (const socket of sockets.clients) socket.terminate()
      server.closeAllConnections()
      await new Promise(done => server.close(done))
    }
  }
}

async function answer(
  request: IncomingMessage,
  response: ServerResponse,
  options: InspectorOptions,
  view: string
): Promise<void> {
  if (!isLoopbackHost(request.headers.host)) return reply(response, 403, 'text/plain', 'Only for this machine.')
  const { pathname } = new URL(request.url ?? '/', `http://${HOST}`)
  const route = `${request.method} ${pathname}`
  if (route === 'GET /machine.json') return reply(response, 200, 'application/json', view)
  if (route === 'GET /status') return reply(response, 200, 'text/plain', options.status())
  if (route === 'POST /what-if') {
    if (!isOwn(request)) return reply(response, 403, 'text/plain', 'Only for the page of the inspector.')
    const result = whatIf(JSON.parse(await bodyOf(request)))
    return reply(response, 200, 'application/json', JSON.stringify(result))
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
  response.writeHead(status, {
    'Content-Type': `${type}; charset=utf-8`,
    'Content-Security-Policy':
      "default-src 'self'; img-src 'self' data:; frame-ancestors 'none'; base-uri 'none'; form-action 'none'",
    'Cache-Control': 'no-store',
    'X-Content-Type-Options': 'nosniff'
  })
  response.end(body)
}

function mayConnect({ req }: { req: IncomingMessage }): boolean {
  return isOwn(req)
}

/** From the inspector's page, or from a program, which has no Origin. */
function isOwn({ headers }: IncomingMessage): boolean {
  return isLoopbackHost(headers.host) && (headers.origin === undefined || headers.origin === `http://${headers.host}`)
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  const parts: Buffer[] = []
  let bytes = 0
  for await (const part of request) {
    bytes += part.length
    if (bytes > BODY_BYTES_MAX) throw new Error(`The body is longer than ${BODY_BYTES_MAX} bytes.`)
    parts.push(part)
  }
  return Buffer.concat(parts).toString('utf8')
}
