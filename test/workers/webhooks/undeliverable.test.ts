import { expect } from 'chai'
import { unreplicated } from '../../../redis/connection/writes.js'
import { keys } from '../../../redis/keys.js'
import { createWebhookEndpointStore, type WebhookEndpointStore } from '../../../redis/webhooks/webhook-endpoints.js'
import { delay } from '../../../runtime/delay.js'
import { createLogger, type Logger } from '../../../runtime/log.js'
import { until } from '../../support/conditions.js'
import { writingTo } from '../../support/log-lines.js'
import { startReceiver } from '../../support/receiver.js'
import { emit, PARTITION, PARTITIONS, registerEndpoint, START_MS, useDelivery } from '../../support/webhooks.js'

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
    const warnings = lines
      .map(line => JSON.parse(line))
      .filter(({ msg }) => msg === 'a webhook event became undeliverable')
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
    const failures = async (): Promise<number> =>
      Number(JSON.parse((await rig.test.redis.get(keys.webhookFailing(PARTITION, 'm_dead'))) ?? '[]')[1])
    /** Time in which this service is there: the endpoint is tried after each pause. */
    const untilTried = async (): Promise<void> => {
      const before = await failures()
      rig.advance(31_000)
      await until('it is tried once more', async () => (await failures()) > before)
    }
    for (let passedMs = 0; passedMs < 600_000; passedMs += 31_000) await untilTried()
    await Promise.all(
      ids.map(id => emit(rig.test, 'm_dead', ['refunded'], id, { firstVersion: 3, sinceMs: START_MS + 600_000 }))
    )
    await until('the later ones wait', async () => (await rig.test.redis.xlen(keys.deliveries(PARTITION))) === 0)
    while ((await rig.undeliverable('m_dead')).length === 0) await untilTried()
    for (let looks = 0; looks < 10; looks++) {
      rig.advance(31_000)
      await delay(20)
    }
    const statuses = (await rig.undeliverable('m_dead')).map(({ status }) => status)
    expect(new Set(statuses)).to.deep.equal(new Set(['captured']))
    const ticking = setInterval(() => rig.advance(50_000), 10)
    await rig.noneRemains('m_dead').finally(() => clearInterval(ticking))
    expect(await rig.undeliverable('m_dead')).to.have.length(100)
    expect(lines.filter(line => !line.includes('a webhook event became undeliverable'))).to.deep.equal([])
  })
})

describe('webhooks that are switched off', () => {
  const rig = useDelivery()
  const switches = (): WebhookEndpointStore => createWebhookEndpointStore(unreplicated(rig.test.redis), PARTITIONS)

  it('are neither sent nor kept, and continue with the next event when they are switched on', async () => {
    const hook = await rig.receiver()
    await registerEndpoint(rig.test, 'm_1', hook.url)
    await switches().switchOff('m_1', START_MS)
    await rig.deliverer()
    const paymentId = await emit(rig.test, 'm_1', ['pre_authorized', 'capturing'])
    await rig.noneRemains('m_1')
    for (const kept of [keys.webhookUndeliverable, keys.webhookJournal, keys.webhookLine]) {
      expect(await rig.test.redis.exists(kept(PARTITION, 'm_1'))).to.equal(0)
    }
    expect(hook.received).to.have.lengthOf(0)

    await switches().switchOn('m_1')
    await emit(rig.test, 'm_1', ['captured'], paymentId)
    await rig.noneRemains('m_1')
    expect(hook.accepted().get(paymentId)).to.deep.equal(['captured'])
  })

  it('drop what waits behind a dead endpoint as soon as it is due, and touch no other merchant', async () => {
    const { stop, url } = await startReceiver()
    await stop()
    const healthy = await rig.receiver()
    await registerEndpoint(rig.test, 'm_gone', url)
    await registerEndpoint(rig.test, 'm_good', healthy.url)
    await rig.deliverer({ delaysMs: [60_000, 60_000, 60_000] })
    await Promise.all(Array.from({ length: 50 }, () => emit(rig.test, 'm_gone', ['capturing', 'captured'])))
    await until('all are put off', async () => (await rig.waiting('m_gone')).length === 50)

    await switches().switchOff('m_gone', START_MS)
    rig.advance(60_000)
    await rig.noneRemains('m_gone')
    expect(await rig.undeliverable('m_gone')).to.deep.equal([])
    const paymentId = await emit(rig.test, 'm_good', ['captured'])
    await rig.noneRemains('m_good')
    expect(healthy.accepted().get(paymentId)).to.deep.equal(['captured'])
  })

  it('stay off since the first time', async () => {
    await registerEndpoint(rig.test, 'm_1', 'https://shop.example/hook')
    expect(await switches().switchOff('m_1', START_MS)).to.equal(true)
    await switches().switchOff('m_1', START_MS + 5)
    expect((await switches().find('m_1'))?.offSinceMs).to.equal(START_MS)
    expect(await switches().switchOn('m_1')).to.equal(true)
    expect((await switches().find('m_1'))?.offSinceMs).to.equal(null)
  })

  it('need an endpoint: without one there are no events', async () => {
    expect(await switches().switchOff('m_none', START_MS)).to.equal(false)
    expect(await switches().switchOn('m_none')).to.equal(false)
    expect(await switches().find('m_none')).to.equal(null)
  })
})
