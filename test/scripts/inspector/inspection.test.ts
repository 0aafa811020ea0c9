/** What workers publish for the inspector, what they never publish, and whom its server answers. */
import { get } from 'node:http'
import { expect } from 'chai'
import { readChart } from '../../../machines/chart.js'
import { paymentMachine } from '../../../machines/payment/machine.js'
import { connect } from '../../../redis/connection/connections.js'
import {
  createInspection,
  type ObservedDecision,
  observePayment,
  watchDecisions
} from '../../../redis/operator/inspection.js'
import { createLogger } from '../../../runtime/log.js'
import { exampleOf } from '../../../scripts/docs/payment-paths/payment-examples.js'
import { firstWorld, happen, nextMomentMs, type World } from '../../../scripts/docs/payment-paths/payment-world.js'
import { historyLines } from '../../../scripts/inspector/history.js'
import { startInspectorServer } from '../../../scripts/inspector/server.js'
import { until } from '../../support/conditions.js'
import { useRedis } from '../../support/redis.js'

const log = createLogger('test', 'silent')

/** The payment of the examples, told by a worker as it goes through these events. */
function tell(inspection: ReturnType<typeof createInspection>, ids: readonly string[]): void {
  let world: World = firstWorld('manual')
  for (const id of ids) {
    const event = exampleOf(id).event(world.payment, nextMomentMs(world))
    const { world: next, decision } = happen(world, event)
    inspection.decided(world.payment, event, decision)
    world = next
  }
}

describe('a line of the history', () => {
  it('has the sale beside an answer about it, and beside no other event', () => {
    const { payment } = firstWorld('manual')
    const references = { ...payment.progress.references, saleId: 'the-sale' }
    const eventsWithSale = (events: readonly string[]): string[] => {
      const history = events.map(event => ({ ...payment.progress, atMs: 1, event, detail: null, times: 1 }))
      const observed = observePayment({ ...payment, progress: { ...payment.progress, references }, history })
      return historyLines(observed, readChart(paymentMachine)).flatMap(({ event, reference }) =>
        reference ? event : []
      )
    }
    const answers = [
      'APPROVED',
      'OPERATION_BOOKED',
      'OPERATION_MISSING',
      'OPERATION_NOT_BOOKED',
      'LATE_SALE',
      'SALE_GONE'
    ]
    expect(eventsWithSale([...answers, 'CAPTURE', 'RECORD_LAGS', 'RECONCILE'])).to.deep.equal(answers)
  })
})

describe('inspection', () => {
  const test = useRedis()

  async function observed(ids: readonly string[]): Promise<ObservedDecision[]> {
    const stopping = new AbortController()
    const seen: ObservedDecision[] = []
    const subscriber = await connect(test.url, 'subscriber', log)
    const watch = await watchDecisions(test.redis, subscriber, decision => seen.push(decision))
    try {
      const inspection = createInspection(test.redis, 'payments 1', log, stopping.signal)
      await until('the worker has found the inspector', () => {
        if (seen.length === 0) tell(inspection, ids)
        return seen.length >= ids.length
      })
      return seen.slice(0, ids.length)
    } finally {
      stopping.abort()
      await watch.stop()
      subscriber.disconnect()
    }
  }

  it('publishes each decision while an inspector is connected, refusals too', async () => {
    const seen = await observed(['AUTHORISE', 'APPROVED', 'CAPTURE/above', 'CAPTURE/part'])
    expect(
      seen.map(({ event, effect, refusal, payment }) => [event, effect, refusal, payment.progress.status])
    ).to.deep.equal([
      ['AUTHORISE', 'authorise', null, 'pending'],
      ['APPROVED', null, null, 'pre_authorized'],
      ['CAPTURE', null, 'amount_exceeds_authorized', 'pre_authorized'],
      ['CAPTURE', 'capture', null, 'capturing']
    ])
  })

  it('publishes nothing about the buyer and no text of the merchant', async () => {
    const [decision] = await observed(['AUTHORISE'])
    const { terms, progress } = firstWorld('manual').payment
    const text = JSON.stringify(decision)
    const secrets = [terms.customer.name, terms.customer.email, terms.externalReference, terms.card.last4]
    for (const secret of [...secrets, progress.operation.idempotencyKey]) expect(text).not.to.contain(secret)
  })

  it('publishes nothing and reads no payment without an inspector', async () => {
    const stopping = new AbortController()
    await test.redis.del('inspector')
    const inspection = createInspection(test.redis, 'payments 1', log, stopping.signal)
    const { payment } = firstWorld('manual')
    const untouchable = new Proxy(payment, { get: () => expect.fail('the payment was read') })
    const event = exampleOf('AUTHORISE').event(payment, 1)
    inspection.decided(untouchable, event, { kind: 'refused', code: 'invalid_state' })
    stopping.abort()
  })
})

describe('the server of the inspector', () => {
  const start = (port = 0): ReturnType<typeof startInspectorServer> =>
    startInspectorServer({
      port,
      replay: () => [],
      status: () => ''
    })
  let server: Awaited<ReturnType<typeof start>>
  before(async () => {
    server = await start()
  })
  after(() => server.stop())

  /** What a request for the payments is answered. */
  const statusOf = (headers: Record<string, string>): Promise<number | undefined> =>
    new Promise((resolve, reject) => {
      get(`${server.url}payments`, { headers }, answer => {
        answer.destroy()
        resolve(answer.statusCode)
      }).once('error', reject)
    })

  it('lets its page and programs open the feed of payments', async () => {
    const { host, origin } = new URL(server.url)
    for (const headers of [
      {},
      { Origin: origin, 'Sec-Fetch-Site': 'same-origin' },
      { Host: host.replace('127.0.0.1', 'localhost') }
    ]) {
      expect(await statusOf(headers), JSON.stringify(headers)).to.equal(200)
    }
  })

  it('listens on this machine only', () => {
    expect(new URL(server.url).hostname).to.equal('127.0.0.1')
  })

  it('refuses a page of another site', async () => {
    expect(await statusOf({ Origin: 'https://elsewhere.example' })).to.equal(403)
    for (const site of ['cross-site', 'same-site'])
      expect(await statusOf({ 'Sec-Fetch-Site': site }), site).to.equal(403)
  })

  it('refuses a host name that is not of this machine', async () => {
    expect(await statusOf({ Host: 'rebound.example' })).to.equal(403)
  })

  it('refuses an invalid what-if with a sentence', async () => {
    const answer = await fetch(`${server.url}what-if`, { method: 'POST', body: '{}' })
    expect(answer.status).to.equal(400)
    expect(await answer.text()).to.contain('beginnings')
  })

  it('serves no file but those of its page', async () => {
    for (const path of ['package.json', '../package.json', '%2e%2e/package.json', 'page.ts', 'browser/page.js']) {
      expect((await fetch(`${server.url}${path}`)).status, path).to.equal(404)
    }
  })
})
