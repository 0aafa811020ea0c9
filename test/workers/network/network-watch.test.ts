import { expect } from 'chai'
import type { Simulator } from '../../../scripts/simulator/simulator.js'
import { createCardNetwork } from '../../../workers/network/card-network.js'
import { endlessLease } from '../../../workers/network/leases.js'
import { WatchedTransport, watchNetwork } from '../../../workers/network/network-watch.js'
import type { Exchange, WireRequest } from '../../../workers/network/transport.js'
import { networkConfig, purchase, startTestSimulator } from '../../support/card-network.js'
import { ConditionsUnderTest } from '../../support/conditions-of.js'

describe('a worker that calls the card network', () => {
  let simulator: Simulator
  let process: ConditionsUnderTest
  let network: ReturnType<typeof createCardNetwork>

  beforeEach(async () => {
    simulator = await startTestSimulator()
    process = new ConditionsUnderTest()
  })
  afterEach(async () => {
    await process.stop()
    await network.close()
    await simulator.stop()
  })
  const watch = (changes = {}): void => {
    network = createCardNetwork(networkConfig(simulator.url, changes), process)
  }
  const sell = async (times: number): Promise<void> => {
    for (let i = 0; i < times; i++) await network.authorise(purchase({ orderId: `order${i}` }), endlessLease)
  }

  it('warns of nothing while its calls are answered, also when a card is declined', async () => {
    watch()
    await network.authorise(purchase({}, '4024007153760052'), endlessLease)
    await sell(3)
    expect(await process.health()).to.deep.equal({ problems: {}, warnings: {} })
  })

  it('warns when its calls get no answer, and stays ready', async () => {
    watch()
    await simulator.stop()
    await sell(2)
    expect((await process.health()).warnings).to.deep.equal({})
    expect(network.isUnusable()).to.equal(false)
    await sell(1)
    expect(network.isUnusable()).to.equal(true)
    const { problems, warnings } = await process.health()
    const host = new URL(simulator.url).host
    expect(problems).to.deep.equal({})
    expect(warnings).to.deep.equal({
      'card network': `The last 3 calls to the card network at ${host} got no answer (ECONNREFUSED). Call the network, or repair the connection to it.`
    })
  })

  it('warns when its credentials are refused, until a call is taken', async () => {
    watch({ networkMerchantKey: 'wrong' })
    await sell(3)
    const { problems, warnings } = await process.health()
    expect(problems).to.deep.equal({})
    expect(Object.keys(warnings)).to.deep.equal(['network credentials'])
    expect(network.isUnusable()).to.equal(true)
    expect(warnings['network credentials']).to.contain('refused the last 3 calls (HTTP 401). Check NETWORK_MERCHANT_ID')
  })
})

describe('a circuit whose host refuses our credentials', () => {
  it('opens, refuses new sales unsent, and closes with the first call that is taken', async () => {
    let status = 401
    let nowMs = 0
    const answer = async (): Promise<Exchange> => ({ kind: 'answered', status, text: '' })
    const host = new WatchedTransport(
      { send: answer, close: async () => undefined },
      {
        baseUrl: 'https://x.example',
        probePath: '/',
        timeoutMs: 1_000,
        circuit: { failuresMax: 5, environment: 'live' },
        clock: { now: () => nowMs }
      }
    )
    const sell = async (): Promise<string> =>
      (await host.send({ method: 'POST', path: '/1/sales/', body: '{}', timeoutMs: 1_000 }, endlessLease)).kind
    for (let sale = 0; sale < 5; sale++) expect(await sell()).to.equal('answered')
    expect(await sell()).to.equal('not_sent')
    nowMs += 1_000
    expect(await sell(), 'a trial, refused like the others').to.equal('answered')
    expect(host.isCircuitOpen).to.equal(true)
    expect(host.isUnusable).to.equal(true)
    status = 201
    nowMs += 10_000
    expect(host.isUnusable, 'it gets its share again, without which nothing shows that the fault is over').to.equal(
      false
    )
    expect(await sell()).to.equal('answered')
    expect([host.isCircuitOpen, host.refused()]).to.deep.equal([false, undefined])
  })
})

describe('a worker that makes no calls to the card network', () => {
  const sent: WireRequest[] = []
  let answer: Exchange = { kind: 'answered', status: 404, text: '' }
  let nowMs = 0
  const transport = {
    send: async (request: WireRequest): Promise<Exchange> => {
      sent.push(request)
      return answer
    },
    close: async () => undefined
  }
  const host = new WatchedTransport(transport, {
    baseUrl: 'https://query.example',
    probePath: '/1/sales?merchantOrderId=0',
    timeoutMs: 1_000,
    clock: { now: () => nowMs }
  })
  /** Looks once a second for so long; answers the times of the probes (s). */
  const probesIn = async (seconds: number): Promise<number[]> => {
    const times: number[] = []
    for (let second = 1; second <= seconds; second++) {
      nowMs += 1_000
      const before = sent.length
      await host.probeWhenIdle(endlessLease)
      if (sent.length > before) times.push(second)
    }
    return times
  }

  it('probes it once in 30 s, with a query that books nothing', async () => {
    expect(await probesIn(90)).to.deep.equal([30, 60, 90])
    expect(new Set(sent.map(({ method, path }) => `${method} ${path}`))).to.deep.equal(
      new Set(['GET /1/sales?merchantOrderId=0'])
    )
    expect(host.unreachable()).to.equal(undefined)
  })

  it('probes it sooner after a failure, warns after the third one, and ends the warning with the first answer', async () => {
    answer = { kind: 'answered', status: 503, text: '' }
    expect(await probesIn(40)).to.deep.equal([30, 35, 40])
    expect(host.unreachable()).to.equal(
      'The last 3 calls to the card network at query.example got no answer (HTTP 503).'
    )
    answer = { kind: 'answered', status: 404, text: '' }
    await probesIn(5)
    expect(host.unreachable()).to.equal(undefined)
  })

  it('learns from a probe that its credentials are refused', async () => {
    answer = { kind: 'answered', status: 401, text: '' }
    await probesIn(90)
    const process = new ConditionsUnderTest()
    watchNetwork([host], process)
    const { warnings } = await process.health()
    await process.stop()
    expect(warnings).to.have.property('network credentials').that.contains('HTTP 401')
  })

  it('counts no call that its caller gave up', async () => {
    answer = { kind: 'ambiguous', reason: 'the caller gave up' }
    for (let i = 0; i < 3; i++)
      await host.send(
        { method: 'GET', path: '/1/sales', body: null, timeoutMs: 1 },
        { ...endlessLease, isLost: () => true }
      )
    expect(host.unreachable()).to.equal(undefined)
  })
})
