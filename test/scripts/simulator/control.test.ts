/** The simulator's own routes, and a ledger that outlives its process. */

import { appendFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, request, type Server } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'chai'
import { close, listen } from '../../../runtime/ops-server.js'
import { drawFaults, NO_FAULTS } from '../../../scripts/simulator/faults.js'
import type { Simulator, SimulatorOptions } from '../../../scripts/simulator/simulator.js'
import { createCardNetwork } from '../../../workers/network/card-network.js'
import { endlessLease } from '../../../workers/network/leases.js'
import { networkConfig, purchase, startTestSimulator } from '../../support/card-network.js'

async function sell(simulator: Simulator, orderId: string, capture = true): Promise<void> {
  const network = createCardNetwork(networkConfig(simulator.url))
  await network.authorise(purchase({ orderId, capture }), endlessLease)
  await network.close()
}

async function call(simulator: Simulator, method: string, path: string, body?: unknown) {
  const headers = { 'Content-Type': 'application/json' }
  const init = { method, ...(body === undefined ? {} : { headers, body: JSON.stringify(body) }) }
  const response = await fetch(`${simulator.url}/simulator/${path}`, init)
  return { status: response.status, json: JSON.parse(await response.text()) }
}

describe('the control routes of the simulator', () => {
  let simulator: Simulator
  let receiver: Server
  let received: { secret: unknown; body: string }[]
  let answers: number[]
  let onReceived: () => void

  /** Resolves with the notifications when there are `count` of them; mocha's time limit is the bound. */
  function notifications(count: number) {
    return new Promise<typeof received>(resolve => {
      onReceived = () => {
        if (received.length >= count) resolve(received)
      }
      onReceived()
    })
  }

  beforeEach(async () => {
    received = []
    answers = []
    onReceived = () => {}
    receiver = createServer((request, response) => {
      let body = ''
      request.on('data', chunk => {
        body += chunk
      })
      request.on('end', () => {
        received.push({ secret: request.headers['x-notification-secret'], body: `${request.url} ${body}` })
        response.writeHead(answers.shift() ?? 200).end()
        onReceived()
      })
    })
    await listen(receiver, 0, '127.0.0.1')
    const address = receiver.address()
    const port = typeof address === 'object' ? address?.port : 0
    const notificationsUrl = `http://127.0.0.1:${port}/notifications`
    simulator = await startTestSimulator({ notificationsUrl, notificationRetryDelaysMs: [1, 1, 1] })
  })

  afterEach(async () => {
    await simulator.stop()
    receiver.closeAllConnections()
    await close(receiver)
  })

  it('list the ledger, one JSON object a line', async () => {
    for (let index = 0; index < 3; index++) await sell(simulator, `order${index}`)
    const lines = (await (await fetch(`${simulator.url}/simulator/sales`)).text()).trimEnd().split('\n')
    expect(lines).to.have.length(3)
    const [first] = simulator.ledger.ofOrder('order0')
    expect(JSON.parse(lines[0] ?? '')).to.deep.equal({
      merchant_order_id: 'order0',
      payment_id: first?.paymentId,
      status: 2,
      amount: 10_000,
      captured_amount: 10_000,
      voided_amount: 0,
      requests: { authorise: 1, capture: 0, void: 0 }
    })
  })

  it('replace the whole set of faults, {} being none', async () => {
    const set = await call(simulator, 'PUT', 'faults', { drop_after: 0.5, latency_ms: { median: 10, p99: 100 } })
    expect(set.status).to.equal(200)
    expect(await call(simulator, 'PUT', 'faults', { late: 1, late_ms: 5 })).to.include({ status: 200 })
    expect((await call(simulator, 'GET', 'faults')).json).to.deep.equal({ ...NO_FAULTS, late: 1, late_ms: 5 })
    expect((await call(simulator, 'PUT', 'faults', {})).json).to.deep.equal(NO_FAULTS)
  })

  it('name every bad field of a fault set, and keep the old one', async () => {
    await call(simulator, 'PUT', 'faults', { drop_before: 0.25 })
    const bad = { drop_after: 2, late_ms: -1, latency_ms: { median: 10, p99: 5 }, dropp: 1, error_after: '1' }
    const { status, json } = await call(simulator, 'PUT', 'faults', bad)
    expect(status).to.equal(400)
    expect(json.error.fields.map((field: { path: string }) => field.path)).to.have.members(Object.keys(bad))
    expect((await call(simulator, 'PUT', 'faults', [])).status).to.equal(400)
    expect(simulator.faults.drop_before).to.equal(0.25)
  })

  it('dispute a captured sale and notify, with the secret', async () => {
    await sell(simulator, 'order1')
    const { status, json } = await call(simulator, 'POST', 'chargebacks', { merchant_order_id: 'order1' })
    expect(status).to.equal(201)
    const body = `/notifications {"PaymentId":"${json.payment_id}","ChangeType":7}`
    expect(await notifications(1)).to.deep.equal([{ secret: 'secret-of-the-tests', body }])
    const network = createCardNetwork(networkConfig(simulator.url))
    expect(await network.query('order1', endlessLease)).to.have.nested.property('sales[0].isChargedBack', true)
    expect(await network.findOrderId(json.payment_id, endlessLease)).to.equal('order1')
    await network.close()
  })

  it('repeat a notification until it gets 200, at most three times', async () => {
    answers = [500, 204, 302]
    await sell(simulator, 'order1')
    await call(simulator, 'POST', 'chargebacks', { merchant_order_id: 'order1' })
    expect(await notifications(4)).to.have.length(4)
  })

  it('refuse a dispute of an unknown, uncaptured or unnamed sale', async () => {
    await sell(simulator, 'held', false)
    expect(await call(simulator, 'POST', 'chargebacks', { merchant_order_id: 'none' })).to.include({ status: 404 })
    expect(await call(simulator, 'POST', 'chargebacks', { merchant_order_id: 'held' })).to.include({ status: 409 })
    expect(await call(simulator, 'POST', 'chargebacks', {})).to.include({ status: 400 })
    expect(await call(simulator, 'GET', 'nothing')).to.include({ status: 404 })
  })
})

describe('the dice of the faults', () => {
  it('give nothing for no faults and everything for certain ones', () => {
    expect(drawFaults(NO_FAULTS, () => 0)).to.deep.equal({
      before: null,
      after: null,
      isDenied: false,
      lateMs: 0,
      latencyMs: 0
    })
    const certain = { ...NO_FAULTS, error_before: 1, drop_after: 1, late: 1, late_ms: 7, latency_ms: 3 }
    expect(drawFaults(certain, () => 0.999)).to.deep.equal({
      before: 'error',
      after: 'drop',
      isDenied: false,
      lateMs: 7,
      latencyMs: 3
    })
  })

  it('spread the latency around its median, with 1 in 100 above its p99', () => {
    const faults = { ...NO_FAULTS, latency_ms: { median: 100, p99: 1_000 } }
    // A linear congruential generator: the same numbers on every run.
    let seed = 42
    const random = () => {
      seed = (seed * 1_664_525 + 1_013_904_223) % 2 ** 32
      return seed / 2 ** 32
    }
    const samples = Array.from({ length: 20_000 }, () => drawFaults(faults, random).latencyMs).sort((a, b) => a - b)
    expect(samples[10_000]).to.be.within(90, 110)
    expect(samples[19_800]).to.be.within(800, 1_250)
  })
})

describe('the ledger file', () => {
  let folder: string
  let file: string

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'network-ledger-'))
    file = join(folder, 'data', 'ledger.jsonl')
  })
  afterEach(() => rmSync(folder, { recursive: true }))

  async function run<T>(use: (simulator: Simulator) => Promise<T>, options: Partial<SimulatorOptions> = {}) {
    const simulator = await startTestSimulator({ ledgerFile: file, ...options })
    try {
      return await use(simulator)
    } finally {
      await simulator.stop()
    }
  }

  it('brings every sale back after a restart, in its last state', async () => {
    const before = await run(async simulator => {
      await sell(simulator, 'order1')
      await sell(simulator, 'order2', false)
      const [sale] = simulator.ledger.ofOrder('order2')
      const network = createCardNetwork(networkConfig(simulator.url))
      await network.capture(sale?.paymentId ?? '', 500, endlessLease)
      await network.close()
      return [...simulator.ledger.sales()]
    })
    expect(before.map(sale => sale.capturedAmount)).to.deep.equal([10_000, 500])
    expect(await run(async simulator => [...simulator.ledger.sales()])).to.deep.equal(before)
  })

  it('holds no card number and no security code', async () => {
    await run(simulator => sell(simulator, 'order1'))
    const text = readFileSync(file, 'utf8')
    expect(text).to.include('402400******0060').and.not.to.include('4024007153760060').and.not.to.match(/"123"/)
  })

  it('ignores an incomplete last line, and continues after it', async () => {
    await run(simulator => sell(simulator, 'order1'))
    appendFileSync(file, '{"paymentId":"torn')
    await run(simulator => sell(simulator, 'order2'))
    const orders = await run(async simulator => Array.from(simulator.ledger.sales(), sale => sale.merchantOrderId))
    expect(orders).to.deep.equal(['order1', 'order2'])
  })

  it('refuses to start on a file that is not a ledger, and says what to do', async () => {
    await run(async () => {})
    writeFileSync(file, 'nonsense\n')
    const error = await run(async () => {}).catch((reason: Error) => reason)
    expect(error)
      .to.be.an('error')
      .with.property('message')
      .that.matches(/line 1 is not a sale\. Move the file away/)
    expect(readFileSync(file, 'utf8')).to.equal('nonsense\n')
  })
})

/** fetch sets Host and Origin by itself. */
function ask(port: string, method: string, path: string, headers: Record<string, string>): Promise<[number, string]> {
  return new Promise((resolve, reject) => {
    const sent = request({ host: '127.0.0.1', port, method, path: `/simulator/${path}`, headers }, answer => {
      let text = ''
      answer.on('data', chunk => {
        text += chunk
      })
      answer.on('end', () => resolve([answer.statusCode ?? 0, text]))
    })
    sent.on('error', reject)
    sent.end(method === 'GET' ? undefined : '{}')
  })
}

describe('the control routes of the simulator, asked by a page in a browser', () => {
  let simulator: Simulator
  let port = ''
  beforeEach(async () => {
    simulator = await startTestSimulator({})
    port = new URL(simulator.url).port
  })
  afterEach(() => simulator.stop())

  const json = { 'Content-Type': 'application/json' }
  const put = async (headers: Record<string, string>) => {
    const [status, text] = await ask(port, 'PUT', 'faults', headers)
    return [status, (JSON.parse(text) as { error?: { code?: string } }).error?.code]
  }

  it('take JSON only', async () => {
    for (const type of [
      'text/plain',
      'application/x-www-form-urlencoded',
      'application/jsonx',
      'text/plain; application/json'
    ]) {
      expect(await put({ 'Content-Type': type }), type).to.deep.equal([415, 'unsupported_media_type'])
    }
    expect(await put({})).to.deep.equal([415, 'unsupported_media_type'])
    expect(await put({ 'Content-Type': 'application/json; charset=utf-8' })).to.deep.equal([200, undefined])
  })

  it('refuse the names of other hosts, for reading too', async () => {
    for (const host of [
      'evil.example',
      `evil.example:${port}`,
      '10.0.0.1',
      '127.0.0.1.evil.example',
      'localhost.evil'
    ]) {
      expect(await put({ ...json, Host: host }), host).to.deep.equal([403, 'forbidden'])
      expect((await ask(port, 'GET', 'sales', { Host: host }))[0], host).to.equal(403)
    }
    for (const host of [`localhost:${port}`, 'LOCALHOST', 'network:3002', '127.0.0.1', `[::1]:${port}`, '[::1]']) {
      expect(await put({ ...json, Host: host }), host).to.deep.equal([200, undefined])
    }
  })

  it('refuse other origins', async () => {
    for (const Origin of ['https://evil.example', 'null', 'http://localhost:1', `https://127.0.0.1:${port}`]) {
      expect(await put({ ...json, Origin }), Origin).to.deep.equal([403, 'forbidden'])
    }
    expect(await put({ ...json, Origin: `http://127.0.0.1:${port}` })).to.deep.equal([200, undefined])
  })
})
