import { expect } from 'chai'
import { unreplicated } from '../../../redis/connection/writes.js'
import { keys } from '../../../redis/keys.js'
import { createWebhookEndpointStore, type WebhookEndpointStore } from '../../../redis/webhooks/webhook-endpoints.js'
import { until } from '../../support/conditions.js'
import { startReceiver } from '../../support/receiver.js'
import { emit, PARTITION, PARTITIONS, registerEndpoint, START_MS, useDelivery } from '../../support/webhooks.js'

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
