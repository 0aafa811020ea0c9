import { expect } from 'chai'
import { keys, newPaymentId } from '../../../redis/keys.js'
import { until } from '../../support/conditions.js'
import { emit, PARTITION, registerEndpoint, startDeliverer, useDelivery } from '../../support/webhooks.js'

describe('processes that deliver webhooks', () => {
  const rig = useDelivery()

  it('release what they have not begun when they stop', async () => {
    const hook = await rig.receiver()
    await registerEndpoint(rig.test, 'm_1', hook.url)
    const first = await startDeliverer(rig.test)
    await rig.deliverer()
    const paymentIds = Array.from({ length: 50 }, () => newPaymentId(PARTITION, Date.now()))
    await Promise.all(paymentIds.map(id => emit(rig.test, 'm_1', ['capturing', 'captured'], id)))
    await first.stop()
    await rig.noneRemains('m_1')
    for (const statuses of hook.accepted().values())
      expect([...new Set(statuses)]).to.deep.equal(['capturing', 'captured'])
    expect(hook.accepted().size).to.equal(50)
  })

  it('count no attempt that they did not await to its end', async () => {
    const interruption = new AbortController()
    const hook = await rig.receiver((response, index) => {
      if (index === 0) interruption.abort()
      response.writeHead(index === 0 ? 500 : 200).end()
    })
    await registerEndpoint(rig.test, 'm_1', hook.url)
    const id = await emit(rig.test, 'm_1', ['captured'])
    const ending = await rig.deliverer({ interrupted: interruption.signal })
    await until('the delivery was interrupted', () => interruption.signal.aborted)
    await ending.stop()
    await rig.deliverer()
    await rig.noneRemains('m_1')
    const [delivery] = await rig.concluded('m_1')
    expect(delivery?.attempts.map(({ status }) => status)).to.deep.equal([200])
    expect([...hook.accepted().keys()]).to.deep.equal([id])
  })

  it('deliver everything although Redis was unavailable when an event was to be read', async () => {
    const hook = await rig.receiver()
    const merchants = ['m_1', 'm_2', 'm_3']
    for (const merchantId of merchants) await registerEndpoint(rig.test, merchantId, hook.url)
    const ids = await Promise.all(merchants.map(merchantId => emit(rig.test, merchantId, ['captured'])))
    let failuresLeft = 1
    await rig.deliverer({
      wrap: queue => ({
        ...queue,
        first: async entry => {
          if (failuresLeft-- > 0) throw new Error('Command timed out')
          return await queue.first(entry)
        }
      })
    })
    for (const merchantId of merchants) await rig.noneRemains(merchantId)
    expect([...hook.accepted().keys()].sort()).to.deep.equal(ids.sort())
  })

  it('leaves little behind: the short form in the journal, with its attempts', async () => {
    const hook = await rig.receiver((response, index) => response.writeHead(200).end(`thanks for ${index}`))
    await registerEndpoint(rig.test, 'm_1', hook.url)
    await rig.deliverer()
    for (let round = 0; round < 4; round++) {
      await Promise.all(Array.from({ length: 500 }, () => emit(rig.test, 'm_1', ['captured'])))
      await rig.noneRemains('m_1')
    }
    rig.advance(1_000)
    await until('the line is looked at', async () => !(await rig.test.redis.exists(keys.webhookLines(PARTITION))))
    const journal = keys.webhookJournal(PARTITION, 'm_1')
    expect(await rig.test.redis.xlen(journal)).to.equal(2_000)
    const bytes = Number(await rig.test.redis.memory('USAGE', journal, 'SAMPLES', 0))
    expect(bytes / 2_000).to.be.lessThan(150)
    expect((await rig.test.redis.keys('{p00}*')).filter(key => !key.includes(':pay:')).sort()).to.deep.equal(
      ['hook:m_1', 'hooksent:m_1', 'webhooks'].map(name => `{p00}:${name}`)
    )
  })
})
