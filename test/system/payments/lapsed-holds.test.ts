/** Eight hundred holds lapse in one second, at a gateway that takes 150 calls a second of all kinds. */
import { createServer, type IncomingMessage, type Server, type ServerResponse, request as send } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect } from 'chai'
import { delay } from '../../../runtime/delay.js'
import { demoCard } from '../../../scripts/start/demo-customer.js'
import { until } from '../../support/conditions.js'
import { asOperator, Merchant } from '../../support/merchant.js'
import { type ServiceUnderTest, startService } from '../../support/service.js'

const HOLDS = 800
const AT_ONCE = 60
const CALLS_PER_SECOND = 150
/** Where the holds go at once, hundreds are. */
const REFUSED_MAX = 50
const SALES = 80
const SALE_EVERY_MS = 100

/** Passes calls to the network. */
class Gateway {
  refused = 0
  networkUrl = ''
  #limit = Number.POSITIVE_INFINITY
  #taken: number[] = []
  readonly #server: Server = createServer((request, response) => this.#pass(request, response))

  async start(): Promise<string> {
    await new Promise<void>(resolve => this.#server.listen(0, '127.0.0.1', resolve))
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`
  }

  /** From now on more calls than this within a second get 429. */
  limitTo(callsPerSecond: number): void {
    this.#limit = callsPerSecond
    this.#taken = []
  }

  stop(): void {
    this.#server.closeAllConnections()
    this.#server.close()
  }

  #pass(request: IncomingMessage, response: ServerResponse): void {
    const nowMs = performance.now()
    this.#taken = this.#taken.filter(atMs => atMs > nowMs - 1_000)
    if (this.#taken.length >= this.#limit) {
      this.refused++
      request.resume()
      response.writeHead(429).end()
      return
    }
    this.#taken.push(nowMs)
    const { method, headers, url = '/' } = request
    const forward = send(new URL(url, this.networkUrl), { method, headers }, answer => {
      response.writeHead(answer.statusCode ?? 502, answer.headers)
      answer.pipe(response)
    })
    forward.on('error', () => response.destroy())
    request.pipe(forward)
  }
}

describe('holds that lapse at the same time', function () {
  this.timeout(180_000)
  const gateway = new Gateway()
  let service: ServiceUnderTest
  let merchant: Merchant
  before(async () => {
    const url = await gateway.start()
    const env = { LOG_LEVEL: 'warn', NETWORK_TRANSACTION_URL: url, NETWORK_QUERY_URL: url, RATE_LIMIT_PER_SECOND: '0' }
    service = await startService({ env, scale: ['payments=2'] })
    gateway.networkUrl = service.networkUrl
    merchant = new Merchant(() => service)
  })
  after(async () => {
    await service?.stop()
    gateway.stop()
  })

  async function storedCard(): Promise<string> {
    const post = async (url: string, key: string, body: object): Promise<Readonly<Record<string, unknown>>> => {
      const headers = { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' }
      return Object(await (await fetch(url, { method: 'POST', headers, body: JSON.stringify(body) })).json())
    }
    const token = await post(`${service.tokensUrl}/v1/tokens`, service.publishableKey, demoCard)
    const card = await post(`${service.baseUrl}/v1/cards`, service.apiKey, { token_id: token['token_id'] })
    return String(card['card_id'])
  }

  it('are voided at a pace that leaves new sales their part: none is in doubt or refused', async () => {
    const source = { source_type: 'card', card_id: await storedCard() }
    const held: string[] = []
    const hold = async (): Promise<void> => {
      while (held.length < HOLDS) held.push((await merchant.create({ source, capture: false })).payment.id)
    }
    await Promise.all(Array.from({ length: AT_ONCE }, hold))
    gateway.limitTo(CALLS_PER_SECOND)
    expect((await asOperator(service, 'clock', 'advance', '60d')).code).to.equal(0)

    const sales: ReturnType<typeof merchant.create>[] = []
    for (let index = 0; index < SALES; index++) {
      sales.push(merchant.create({ source }))
      await delay(SALE_EVERY_MS)
    }
    for (const { status, payment } of await Promise.all(sales)) {
      if (status === 201) continue
      // A busy machine is late. It must not be a doubt that made it so.
      expect(status).to.equal(202)
      await until('the sale is captured', async () => (await merchant.read(payment.id)).status === 'captured')
      expect((await asOperator(service, 'payment', 'history', payment.id)).out).not.to.contain('unknown')
    }
    expect(gateway.refused).to.be.below(REFUSED_MAX)
    const ended = async (): Promise<boolean> => (await merchant.read(held[0] ?? '')).status === 'expired'
    await until('the first hold is voided', ended)
  })
})
