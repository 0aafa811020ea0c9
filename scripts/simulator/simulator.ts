/**
 * The card-network simulator: the acquirer's wire format over its own ledger, on one listener.
 *
 * On request it loses, delays and fails answers (test cards, amounts with a fault, faults). Its ledger always shows what
 * was booked. Plain node:http, because it shares the machine with the service in benchmarks.
 */
import { setMaxListeners } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { setTimeout as delay } from 'node:timers/promises'
import type { Logger } from '../../runtime/log.js'
import { close, listen } from '../../runtime/ops-server.js'
import { Acquirer, type AcquirerAnswer } from './acquirer.js'
import { answerControl, type Controlled } from './control.js'
import { drawFaults, type Faults, NO_FAULTS, type RequestFaults } from './faults.js'
import { Ledger } from './ledger.js'
import { Notifier } from './notifier.js'

export interface SimulatorOptions {
  readonly host: string
  /** 0 takes a free one. */
  readonly port: number
  /** File of the ledger; `null` keeps it in memory. */
  readonly ledgerFile: string | null
  /** The credentials that the acquirer's routes ask for. */
  readonly merchantId: string
  readonly merchantKey: string
  readonly notificationsUrl: string
  readonly notificationsSecret: string
  /** Pauses before a notification is sent again; three, unless a test is in a hurry. */
  readonly notificationRetryDelaysMs?: readonly number[]
  /** Draws the faults: numbers from 0 up to, but not including, 1. */
  readonly random?: () => number
  readonly log: Logger
}

export type Moment = 'arrived' | 'booked'

export interface Simulator extends Controlled {
  readonly url: string
  readonly ledger: Ledger
  /** The fault set in force; may be replaced. */
  faults: Faults
  /**
   * Lets tests pause a call to the acquirer's routes: called when the call has arrived, and again when it is booked. The
   * simulator waits for the promise, and cuts the connection when it rejects.
   */
  pause: (moment: Moment, path: string) => Promise<void> | undefined
  /** Cuts every connection. Safe to call twice. */
  stop(): Promise<void>
}

const BODY_BYTES_MAX = 64 * 1024
/** As at real acquirers, and longer than clients keep idle connections. */
const KEEP_ALIVE_MS = 65_000

/** Reads the ledger and listens. Rejects when the port is taken or the ledger's file cannot be read. */
export async function startSimulator(options: SimulatorOptions): Promise<Simulator> {
  const server = createServer({ keepAliveTimeout: KEEP_ALIVE_MS })
  const port = await listen(server, options.port, options.host)
  const url = `http://${options.host.includes(':') ? `[${options.host}]` : options.host}:${port}`

  const ledger = openLedger(options.ledgerFile, () => server.close())
  const notifier = new Notifier({
    url: options.notificationsUrl,
    secret: options.notificationsSecret,
    retryDelaysMs: options.notificationRetryDelaysMs ?? [1_000, 5_000, 25_000],
    log: options.log
  })
  const stopping = new AbortController()
  // Every delayed answer waits for it.
  setMaxListeners(0, stopping.signal)
  let stopped: Promise<void> | null = null
  const simulator: Simulator = {
    url,
    ledger,
    notifier,
    faults: NO_FAULTS,
    pause: () => undefined,
    stop: () => {
      stopped ??= (async () => {
        stopping.abort()
        const closed = close(server)
        server.closeAllConnections()
        await Promise.all([closed, notifier.stop()])
        ledger.close()
      })()
      return stopped
    }
  }
  const acquirer = new Acquirer(ledger, url)
  const isKnown = ({ headers }: IncomingMessage) =>
    headers['merchantid'] === options.merchantId && headers['merchantkey'] === options.merchantKey
  server.on('request', (request: IncomingMessage, response: ServerResponse) => {
    receive(request, async body => {
      const { pathname, searchParams } = new URL(request.url ?? '/', url)
      const method = request.method ?? 'GET'
      if (pathname.startsWith('/simulator/'))
        return answerControl(simulator, { method, path: pathname, headers: request.headers, body }, response)
      const faults = drawFaults(simulator.faults, options.random ?? Math.random)
      await simulator.pause('arrived', pathname)
      await serve(faults, response, stopping.signal, async () => {
        if (!isKnown(request)) return { status: 401, body: '', isLost: false }
        if (faults.isDenied && method === 'GET') return { status: 404, body: '', isLost: false }
        const answer = acquirer.answer(method, pathname, searchParams, body)
        await simulator.pause('booked', pathname)
        return answer
      })
    }).catch((error: unknown) => {
      if (stopping.signal.aborted) return
      options.log.error({ err: error }, 'simulator could not answer')
      response.destroy()
    })
  })
  return simulator
}

/** What is answered without booking. */
const statusBefore = { throttle: 429, gateway_down: 503, error: 500 } as const

/** Applies the faults drawn for one request around `answer`, which books. */
async function serve(
  faults: RequestFaults,
  response: ServerResponse,
  signal: AbortSignal,
  answer: () => Promise<AcquirerAnswer>
): Promise<void> {
  if (faults.latencyMs > 0) await delay(faults.latencyMs / 2, undefined, { signal })
  if (faults.before === 'drop') return cut(response)
  if (faults.before !== null) {
    if (faults.before === 'throttle') response.setHeader('Retry-After', '1')
    return send(response, statusBefore[faults.before], '')
  }
  const { status, body, isLost } = await answer()
  if (faults.latencyMs > 0 || faults.lateMs > 0)
    await delay(faults.latencyMs / 2 + faults.lateMs, undefined, { signal })
  if (isLost || faults.after === 'drop') return cut(response)
  if (faults.after === 'error') return send(response, 500, '')
  send(response, status, body)
}

function send(response: ServerResponse, status: number, body: string): void {
  response.writeHead(status, {
    'Content-Length': Buffer.byteLength(body),
    ...(body === '' ? {} : { 'Content-Type': 'application/json; charset=utf-8' })
  })
  response.end(body)
}

function cut(response: ServerResponse): void {
  response.socket?.destroy()
}

/** Reads a body and passes it to `handle`. A body that is too long, or incomplete, ends the connection. */
function receive(request: IncomingMessage, handle: (body: string) => Promise<void>): Promise<void> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = []
    let bytes = 0
    request.on('data', (chunk: Buffer) => {
      bytes += chunk.length
      if (bytes > BODY_BYTES_MAX) request.destroy()
      else chunks.push(chunk)
    })
    request.on('error', () => resolve())
    request.on('end', () => {
      handle(Buffer.concat(chunks).toString('utf8')).then(resolve, reject)
    })
  })
}

function openLedger(file: string | null, onFailure: () => void): Ledger {
  try {
    return new Ledger(file)
  } catch (error) {
    onFailure()
    throw error
  }
}
