import { Writable } from 'node:stream'
import { expect } from 'chai'
import type { PaymentStatus } from '../../../machines/model.js'
import { keys } from '../../../redis/keys.js'
import { delay } from '../../../runtime/delay.js'
import { createLogger, type Logger } from '../../../runtime/log.js'
import { until } from '../../support/conditions.js'
import { startReceiver } from '../../support/receiver.js'
import { emit, PARTITION, registerEndpoint, useDelivery } from '../../support/webhooks.js'

function collectingLog(level: 'warn' | 'error'): { log: Logger; lines: string[] } {
  const lines: string[] = []
  const destination = new Writable({
    write(chunk, _encoding, done) {
      lines.push(String(chunk))
      done()
    }
  })
  return { log: createLogger('webhooks', level, destination), lines }
}

describe('the log of webhooks', () => {
  const rig = useDelivery()

  it('names each merchant with an endpoint that is down once in a while, not every event', async () => {
    const { log, lines } = collectingLog('warn')
    const { stop, url } = await startReceiver()
    await stop()
    for (const merchant of ['m_1', 'm_2']) await registerEndpoint(rig.test, merchant, url)
    await rig.deliverer({ retries: { delaysMs: [1_000], jitter: 0 }, log })
    for (let count = 0; count < 20; count++) await emit(rig.test, 'm_1', ['captured'])
    await emit(rig.test, 'm_2', ['captured'])
    const givenUp = async (merchant: string): Promise<number> => (await rig.undeliverable(merchant)).length
    await until('all are given up', async () => {
      rig.advance(10_000)
      return (await givenUp('m_1')) === 20 && (await givenUp('m_2')) === 1
    })
    const warnings = lines.map(line => JSON.parse(line)).filter(({ msg }) => msg === 'a webhook event is undeliverable')
    expect(warnings.map(({ merchant_id: merchant }) => merchant).sort()).to.deep.equal(['m_1', 'm_2'])
  })
})

describe('a payment with very many events', () => {
  const rig = useDelivery()

  it('has a hundred of them waiting for an endpoint that is down; the others are listed, and can be replayed', async () => {
    const { stop, url } = await startReceiver()
    await stop()
    await registerEndpoint(rig.test, 'm_1', url)
    await rig.deliverer({ retries: { delaysMs: [1_000_000], jitter: 0 } })
    const statuses = Array<PaymentStatus>(125)
      .fill('refunding')
      .flatMap(status => [status, 'partially_refunded' as const])
    await emit(rig.test, 'm_1', statuses)
    const undeliverable = await until('all have a place', async () => {
      const left = await rig.test.redis.xlen(keys.outbox(PARTITION))
      return left === 0 && (await rig.undeliverable('m_1'))
    })
    const [line = ''] = await rig.test.redis.hvals(keys.webhookWaiting(PARTITION, 'm_1'))
    expect(line.split('\n')).to.have.length(100)
    const versions = undeliverable.map(({ version }) => version).sort((a, b) => a - b)
    expect(versions).to.deep.equal(Array.from({ length: 150 }, (_, n) => n + 102))
  })
})

describe('the events of one payment behind a dead endpoint', () => {
  const rig = useDelivery()

  it('are given up each after a whole span of its own', async () => {
    const { stop, url } = await startReceiver()
    await stop()
    await registerEndpoint(rig.test, 'm_dead', url)
    const { log, lines } = collectingLog('warn')
    await rig.deliverer({ retries: { delaysMs: [1_000_000], jitter: 0 }, log })
    const ids = await Promise.all(Array.from({ length: 50 }, () => emit(rig.test, 'm_dead', ['captured'])))
    await until('all wait', async () => (await rig.waiting('m_dead')).length === 50)
    rig.advance(600_000)
    await Promise.all(ids.map(id => emit(rig.test, 'm_dead', ['refunded'], id, 3)))
    await until('the later ones wait', async () => (await rig.test.redis.xlen(keys.outbox(PARTITION))) === 0)
    rig.advance(500_000)
    await until('the untried ones are given up', async () => (await rig.undeliverable('m_dead')).length > 0)
    for (let looks = 0; looks < 10; looks++) {
      rig.advance(31_000)
      await delay(20)
    }
    const statuses = (await rig.undeliverable('m_dead')).map(({ status }) => status)
    expect(new Set(statuses)).to.deep.equal(new Set(['captured']))
    const ticking = setInterval(() => rig.advance(50_000), 10)
    await rig.noneRemains('m_dead').finally(() => clearInterval(ticking))
    expect(await rig.undeliverable('m_dead')).to.have.length(100)
    expect(lines.filter(line => !line.includes('a webhook event is undeliverable'))).to.deep.equal([])
  })
})
