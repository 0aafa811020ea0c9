import { expect } from 'chai'
import { unreplicated } from '../../../redis/connection/writes.js'
import { createWebhookEndpointStore, ROTATION_OVERLAP_MS } from '../../../redis/webhooks/webhook-endpoints.js'
import { delay } from '../../../runtime/delay.js'
import { until } from '../../support/conditions.js'
import { isSignedWith } from '../../support/receiver.js'
import { emit, PARTITIONS, registerEndpoint, START_MS, secretOf, useDelivery } from '../../support/webhooks.js'

describe('delivery of webhooks', () => {
  const rig = useDelivery()

  it('6.1: posts the body as it is, with the event type and a signature of the raw bytes', async () => {
    const hook = await rig.receiver()
    const endpoint = await registerEndpoint(rig.test, 'm_1', hook.url)
    await rig.deliverer()
    const paymentId = await emit(rig.test, 'm_1', ['captured'])
    await rig.noneRemains('m_1')
    const [request] = hook.received
    if (request === undefined) throw new Error('nothing arrived')
    expect(request.headers).to.include({
      'content-type': 'application/json',
      'x-service-event': 'payment.status_changed'
    })
    expect(request.event).to.have.all.keys(
      'event_id',
      'event_type',
      'payment_id',
      'external_reference',
      'status',
      'amount_cents',
      'captured_cents',
      'refunded_cents',
      'refunds',
      'operation',
      'provider',
      'occurred_at'
    )
    expect(request.event['event_id']).to.match(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/)
    expect(request.event).to.include({
      event_type: 'payment.status_changed',
      payment_id: paymentId,
      external_reference: 'order-1',
      status: 'captured',
      amount_cents: 1_000,
      occurred_at: '2026-01-02T12:00:00.000Z'
    })
    expect(isSignedWith(secretOf(endpoint.seed), request)).to.equal(true)
    expect(request.headers['x-service-signature']).to.match(new RegExp(`^t=${START_MS / 1_000},v1=[0-9a-f]{64}$`))
  })

  it('signs with every secret whose time after a rotation is not over', async () => {
    const hook = await rig.receiver()
    const seeds = [(await registerEndpoint(rig.test, 'm_1', hook.url)).seed]
    const store = createWebhookEndpointStore(unreplicated(rig.test.redis), PARTITIONS)
    for (const nowMs of [START_MS - 2 * ROTATION_OVERLAP_MS, START_MS - 2_000, START_MS - 1_000]) {
      const rotation = { merchantId: 'm_1', url: hook.url, isRotation: true, keyId: seeds[0]?.keyId ?? '', nowMs }
      seeds.push((await store.register(rotation)).seed)
    }
    await rig.deliverer()
    const signing = async (): Promise<boolean[]> => {
      await emit(rig.test, 'm_1', ['captured'])
      await rig.noneRemains('m_1')
      const request = hook.received.at(-1)
      return seeds.map(seed => request !== undefined && isSignedWith(secretOf(seed), request))
    }
    expect(await signing()).to.deep.equal([false, true, true, true])
    rig.advance(ROTATION_OVERLAP_MS - 1_000)
    expect(await signing()).to.deep.equal([false, false, false, true])
  })

  it('delivers the events of each payment in their order, and payments side by side, with two processes', async () => {
    const hook = await rig.receiver((response, index) => setTimeout(() => response.writeHead(200).end('ok'), index % 7))
    await registerEndpoint(rig.test, 'm_1', hook.url)
    await Promise.all([rig.deliverer(), rig.deliverer()])
    const statuses = ['capturing', 'captured', 'refunding', 'partially_refunded', 'refunding', 'refunded'] as const
    await Promise.all(Array.from({ length: 40 }, () => emit(rig.test, 'm_1', statuses)))
    await rig.noneRemains('m_1')
    expect([...hook.accepted().values()]).to.deep.equal(Array(40).fill(statuses))
    expect(hook.received).to.have.length(240)
    expect(hook.load.most).to.be.greaterThan(4)
  })

  it('sends a failed event again when its gap is over, with the same id, and the ones behind it after it', async () => {
    const hook = await rig.receiver((response, index) => response.writeHead(index === 0 ? 500 : 204).end('try later'))
    await registerEndpoint(rig.test, 'm_1', hook.url)
    await rig.deliverer()
    const paymentId = await emit(rig.test, 'm_1', ['pre_authorized', 'capturing'])
    await until('the event waits', async () => (await rig.waiting('m_1')).some(event => event.attempts.length === 1))
    await emit(rig.test, 'm_1', ['captured'], paymentId)
    const [waiting] = await rig.waiting('m_1')
    expect(waiting).to.include({ sinceMs: START_MS, dueMs: START_MS + 5_000 })
    expect(waiting?.attempts).to.have.length(1)
    expect(hook.received).to.have.length(1)

    rig.advance(5_000)
    await rig.noneRemains('m_1')
    expect(hook.accepted().get(paymentId)).to.deep.equal(['pre_authorized', 'capturing', 'captured'])
    expect(hook.received[0]?.event['event_id']).to.equal(hook.received[1]?.event['event_id'])
  })

  it('gives an event up after its last attempt, lists it with the last attempt, and continues with the next one', async () => {
    const hook = await rig.receiver((response, _index, { event }) =>
      response.writeHead(event['status'] === 'capturing' ? 500 : 204).end('no, thank you')
    )
    await registerEndpoint(rig.test, 'm_1', hook.url)
    await rig.deliverer()
    const paymentId = await emit(rig.test, 'm_1', ['capturing', 'captured'])
    for (const [index, gapMs] of [5_000, 30_000, 120_000].entries()) {
      await until(`attempt ${index + 1}`, async () => (await rig.waiting('m_1'))[0]?.attempts.length === index + 1)
      rig.advance(gapMs)
    }
    await rig.noneRemains('m_1')
    expect(hook.accepted().get(paymentId)).to.deep.equal(['captured'])
    const [given] = await rig.undeliverable('m_1')
    expect(given).to.include({ paymentId, status: 'capturing' })
    const attempts = (await rig.concluded('m_1')).map(event => event.attempts.map(({ status, note }) => [status, note]))
    expect(attempts).to.deep.equal([[[500, 'no, thank you']], [[204, '']]])
  })

  it('counts each answer of 2xx as a delivery, and no other', async () => {
    const hook = await rig.receiver((response, index) => response.writeHead(index === 0 ? 299 : 300).end())
    await registerEndpoint(rig.test, 'm_1', hook.url)
    const results: string[] = []
    await rig.deliverer({ metrics: { attempted: result => void results.push(result) } })
    await emit(rig.test, 'm_1', ['captured'])
    await rig.noneRemains('m_1')
    await emit(rig.test, 'm_1', ['captured'])
    await until('the event waits', async () => (await rig.waiting('m_1'))[0]?.attempts.length === 1)
    expect(results).to.deep.equal(['delivered', 'refused'])
  })

  it('holds all events of an endpoint back for as long as its Retry-After asks', async () => {
    const hook = await rig.receiver((response, index) =>
      response.writeHead(index === 0 ? 503 : 204, index === 0 ? { 'Retry-After': '20' } : {}).end()
    )
    await registerEndpoint(rig.test, 'm_1', hook.url)
    await rig.deliverer()
    await emit(rig.test, 'm_1', ['captured'])
    await until('the event waits', async () => (await rig.waiting('m_1'))[0]?.attempts.length === 1)
    expect((await rig.waiting('m_1'))[0]?.dueMs).to.equal(START_MS + 20_000)
    await emit(rig.test, 'm_1', ['captured'])
    await until('the other one waits', async () => (await rig.waiting('m_1')).length === 2)
    // Several rounds of the loop, so that a missing round is not the reason.
    await delay(100)
    expect(hook.received).to.have.length(1)
    rig.advance(20_000)
    await rig.noneRemains('m_1')
    expect(hook.accepted().size).to.equal(2)
  })
})
