import { expect } from 'chai'
import { keys } from '../../../redis/keys.js'
import { delay } from '../../../runtime/delay.js'
import { createLogger, type Logger } from '../../../runtime/log.js'
import { until } from '../../support/conditions.js'
import { writingTo } from '../../support/log-lines.js'
import { startReceiver } from '../../support/receiver.js'
import { emit, PARTITION, registerEndpoint, START_MS, useDelivery } from '../../support/webhooks.js'

function collectingLog(level: 'warn' | 'error'): { log: Logger; lines: string[] } {
  const lines: string[] = []
  return { log: createLogger('webhooks', level, writingTo(lines)), lines }
}

describe('the log of webhooks', () => {
  const rig = useDelivery()

  it('names each merchant with an endpoint that is down once in a while, not every event', async () => {
    const { log, lines } = collectingLog('warn')
    const { stop, url } = await startReceiver()
    await stop()
    for (const merchant of ['m_1', 'm_2']) await registerEndpoint(rig.test, merchant, url)
    await rig.deliverer({ delaysMs: [1_000], log })
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

describe('the events of one payment behind a dead endpoint', () => {
  const rig = useDelivery()

  it('are given up each after a whole span of its own', async () => {
    const { stop, url } = await startReceiver()
    await stop()
    await registerEndpoint(rig.test, 'm_dead', url)
    const { log, lines } = collectingLog('warn')
    await rig.deliverer({ delaysMs: [800_000], log })
    const ids = await Promise.all(Array.from({ length: 50 }, () => emit(rig.test, 'm_dead', ['captured'])))
    await until('all wait', async () => (await rig.waiting('m_dead')).length === 50)
    rig.advance(600_000)
    await Promise.all(
      ids.map(id => emit(rig.test, 'm_dead', ['refunded'], id, { firstVersion: 3, sinceMs: START_MS + 600_000 }))
    )
    await until('the later ones wait', async () => (await rig.test.redis.xlen(keys.deliveries(PARTITION))) === 0)
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

describe('an event that waited for its first attempt for longer than all attempts take', () => {
  const rig = useDelivery()

  it('has all its attempts', async () => {
    const receiver = await rig.receiver((response, index) => response.writeHead(index < 2 ? 500 : 204).end())
    await registerEndpoint(rig.test, 'm_1', receiver.url)
    await emit(rig.test, 'm_1', ['captured'])
    rig.advance(10_000_000)
    await rig.deliverer({ delaysMs: Array(10).fill(5_000) })
    const ticking = setInterval(() => rig.advance(500), 10)
    await rig.noneRemains('m_1').finally(() => clearInterval(ticking))
    expect(await rig.undeliverable('m_1')).to.deep.equal([])
    expect(receiver.received).to.have.length(3)
  })

  it('is not given up untried because its endpoint has just failed', async () => {
    const receiver = await rig.receiver((response, index) => response.writeHead(index < 8 ? 500 : 204).end())
    await registerEndpoint(rig.test, 'm_1', receiver.url)
    await Promise.all(Array.from({ length: 50 }, () => emit(rig.test, 'm_1', ['captured'])))
    rig.advance(10_000_000)
    await rig.deliverer({ delaysMs: Array(10).fill(5_000) })
    const ticking = setInterval(() => rig.advance(500), 10)
    await rig.noneRemains('m_1').finally(() => clearInterval(ticking))
    expect(await rig.undeliverable('m_1')).to.deep.equal([])
    expect(receiver.accepted().size).to.equal(50)
  })
})
