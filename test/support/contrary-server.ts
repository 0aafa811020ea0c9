/**
 * The contrary acquirer over HTTP, in front of another acquirer: it takes some sales and all later calls about them, and
 * hands every other call on.
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import { Agent, request } from 'undici'
import { ContraryAcquirer } from './contrary-acquirer.js'
import { type AnswerFormName, answerForms } from './contrary-forms.js'
import type { Choices, Dice } from './contrary-plan.js'

export interface ContraryServerOptions {
  /** Whether it takes a sale of this amount (cents). */
  readonly takes: (amountCents: number) => boolean
  readonly dice: Dice
  /** How many times as fast as real time its time passes; absent: as fast. */
  readonly speed?: number
  /** The share of its answers that come in an unusual form (contrary-forms.ts). */
  readonly unusual?: number
}

/** Where the service takes notifications, and the secret that it expects. */
export interface NotificationTarget {
  readonly url: string
  readonly secret: string
}

/** Before each try to notify. As at the acquirer, whose pauses are hours, a notification outlives every outage of a run. */
const NOTIFICATION_PAUSES_MS = [0, 1_000, 4_000, ...Array.from({ length: 60 }, () => 10_000)]
const NOTIFICATION_TIMEOUT_MS = 10_000
const POLL_MS = 50
const formNames = Object.keys(answerForms) as unknown as Choices<AnswerFormName>

export class ContraryServer {
  readonly acquirer: ContraryAcquirer
  /** Gets every other call; null: there is none, and such calls are cut. */
  behindUrl: string | null = null
  /** Null: nothing is notified. */
  notifications: NotificationTarget | null = null
  /** Its gateway turns every call away, and nothing is booked, also not behind it. */
  isClosed = false
  readonly #options: ContraryServerOptions
  readonly #server: Server
  readonly #connections = new Agent()
  readonly #timers = new Set<NodeJS.Timeout>()
  #isStopped = false
  #notifying = 0

  constructor(options: ContraryServerOptions) {
    this.#options = options
    const { speed = 1 } = options
    const beganMs = Date.now()
    this.acquirer = new ContraryAcquirer({
      nowMs: () => beganMs + speed * (Date.now() - beganMs),
      later: (delayMs, run) => this.#later(delayMs / speed, run),
      notify: saleId => void this.#notify(saleId),
      dice: options.dice
    })
    this.#server = createServer((incoming, response) => {
      // A connection that breaks on either side is what the service has to live with.
      this.#take(incoming, response).catch(() => response.destroy())
    })
  }

  /** Listens on a free port of the loopback interface. */
  start(): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#server.once('error', reject)
      this.#server.listen(0, '127.0.0.1', () => resolve())
    })
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`
  }

  /**
   * Resolves when what it does late is over: the last call was so long ago (ms of its own time), and each notification was
   * received or is lost.
   */
  async untilQuiet(quietMs: number): Promise<void> {
    const { calls, nowMs } = this.acquirer
    while (this.#notifying > 0 || nowMs() < (calls.at(-1)?.atMs ?? 0) + quietMs) await pause(POLL_MS)
  }

  /** Ends connections and what was planned. */
  async stop(): Promise<void> {
    this.#isStopped = true
    for (const timer of this.#timers) clearTimeout(timer)
    this.#server.close()
    this.#server.closeAllConnections()
    await this.#connections.destroy()
  }

  #later(delayMs: number, run: () => void): void {
    const timer = setTimeout(() => {
      this.#timers.delete(timer)
      run()
    }, delayMs)
    this.#timers.add(timer)
  }

  async #take(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    let body = ''
    for await (const chunk of incoming) body += String(chunk)
    if (this.isClosed) return void response.writeHead(503).end('upstream connect error')
    const url = new URL(incoming.url ?? '/', 'http://acquirer')
    const method = incoming.method ?? 'GET'
    if (!this.#isOwn(method, url, body)) return await this.#handOn(incoming, body, response)
    const answer = this.acquirer.answer(method, url.pathname, url.searchParams, body)
    if (answer.isLost) return void response.destroy()
    const { dice, unusual = 0 } = this.#options
    if (dice.chance(unusual)) return void response.socket?.end(answerForms[dice.pick(formNames)].bytes(answer))
    response.writeHead(answer.status, { 'Content-Type': 'application/json' }).end(answer.body)
  }

  #isOwn(method: string, url: URL, body: string): boolean {
    const [, , , saleId] = url.pathname.replace(/\/$/, '').split('/')
    if (saleId !== undefined) return this.acquirer.knows(saleId)
    if (method === 'GET') return this.acquirer.ofOrder(url.searchParams.get('merchantOrderId') ?? '').length > 0
    return method === 'POST' && this.#options.takes(amountIn(body))
  }

  async #handOn(incoming: IncomingMessage, body: string, response: ServerResponse): Promise<void> {
    if (this.behindUrl === null) return void response.destroy()
    const { host: _host, connection: _connection, ...headers } = incoming.headers
    const answer = await request(this.behindUrl + incoming.url, {
      dispatcher: this.#connections,
      method: incoming.method === 'POST' || incoming.method === 'PUT' ? incoming.method : 'GET',
      headers,
      body: body === '' ? null : body
    })
    const text = await answer.body.text()
    response.writeHead(answer.statusCode, { 'Content-Type': 'application/json' }).end(text)
  }

  /** Until it is answered 200, a limited number of times, as the acquirer does; then it is lost. */
  async #notify(saleId: string): Promise<void> {
    this.#notifying++
    for (const pauseMs of NOTIFICATION_PAUSES_MS) {
      await pause(pauseMs)
      if (this.#isStopped || (await this.#isReceived(saleId))) break
    }
    this.#notifying--
  }

  async #isReceived(saleId: string): Promise<boolean> {
    if (this.notifications === null) return true
    const { url, secret } = this.notifications
    const answer = await request(url, {
      dispatcher: this.#connections,
      method: 'POST',
      headers: { 'Content-Type': 'application/json', 'X-Notification-Secret': secret },
      body: JSON.stringify({ PaymentId: saleId, ChangeType: 1 }),
      signal: AbortSignal.timeout(NOTIFICATION_TIMEOUT_MS)
    }).catch(() => null)
    await answer?.body.dump().catch(() => undefined)
    return answer?.statusCode === 200
  }
}

/** The amount of a sale; 0 when the body is none. */
function amountIn(body: string): number {
  const amount = /"Amount":(\d+)/.exec(body)?.[1]
  return Number(amount ?? 0)
}
