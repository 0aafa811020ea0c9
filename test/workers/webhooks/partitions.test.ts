import { expect } from 'chai'
import { keys, newPaymentId } from '../../../redis/keys.js'
import { PartitionLost } from '../../../redis/webhook-queue.js'
import { until } from '../../support/conditions.js'
import { emit, PARTITION, registerEndpoint, startDeliverer, useDelivery } from '../../support/webhooks.js'

describe('partitions of webhooks', () => {
  const rig = useDelivery()

  it('keeps what it could not send for the next process, and sends it once', async () => {
    const hook = await rig.receiver()
    await registerEndpoint(rig.test, 'm_1', hook.url)
    const first = await startDeliverer(rig.test)
    await first.stop()
    const ids = await Promise.all(Array.from({ length: 20 }, () => emit(rig.test, 'm_1', ['captured'])))
    await rig.deliverer()
    await rig.noneRemains('m_1')
    expect(hook.received).to.have.length(20)
    expect([...hook.accepted().keys()].sort()).to.deep.equal(ids.sort())
  })

  it('lets one process at a time have a partition, and hands it over when that one stops', async () => {
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

  it('delivers everything although Redis was away when a merchant was to be looked up', async () => {
    const hook = await rig.receiver()
    const merchants = ['m_1', 'm_2', 'm_3']
    for (const merchantId of merchants) await registerEndpoint(rig.test, merchantId, hook.url)
    const ids = await Promise.all(merchants.map(merchantId => emit(rig.test, merchantId, ['captured'])))
    let failuresLeft = 1
    await rig.deliverer({
      wrap: queue => ({
        ...queue,
        waitingPayments: async (partition, merchantId) => {
          if (failuresLeft-- > 0) throw new Error('Command timed out')
          return await queue.waitingPayments(partition, merchantId)
        }
      })
    })
    for (const merchantId of merchants) await rig.noneRemains(merchantId)
    expect([...hook.accepted().keys()].sort()).to.deep.equal(ids.sort())
  })

  it('is given up as soon as a look at what waits says that another has it: what comes next would overtake that', async () => {
    const hook = await rig.receiver((response, index) => response.writeHead(index === 0 ? 500 : 200).end())
    await registerEndpoint(rig.test, 'm_1', hook.url)
    let [openings, isLost] = [0, false]
    await rig.deliverer({
      wrap: queue => ({
        ...queue,
        waitingPayments: async (...args) => {
          openings++
          return await queue.waitingPayments(...args)
        },
        readWaiting: async (...args) => {
          if (!isLost) return await queue.readWaiting(...args)
          isLost = false
          throw new PartitionLost('It has another holder by now.')
        }
      })
    })
    await emit(rig.test, 'm_1', ['captured'])
    await until('the event waits', async () => (await rig.waiting('m_1')).some(event => event.history.length === 1))
    isLost = true
    rig.advance(5_000)
    await until('it is taken anew', () => openings === 2)
    await rig.noneRemains('m_1')
    expect(hook.received).to.have.length(2)
  })

  it('leaves little behind: the short form in the journal, and a bounded list of attempts', async () => {
    const hook = await rig.receiver((response, index) => response.writeHead(200).end(`thanks for ${index}`))
    await registerEndpoint(rig.test, 'm_1', hook.url)
    await rig.deliverer()
    for (let round = 0; round < 4; round++) {
      await Promise.all(Array.from({ length: 500 }, () => emit(rig.test, 'm_1', ['captured'])))
      await rig.noneRemains('m_1')
    }
    const [journal, attempts] = [keys.webhookJournal(PARTITION, 'm_1'), keys.webhookAttempts(PARTITION, 'm_1')]
    expect(await rig.test.redis.xlen(journal)).to.equal(2_000)
    expect(await rig.test.redis.xlen(attempts)).to.be.within(1_000, 1_100)
    const bytes = Number(await rig.test.redis.memory('USAGE', journal, 'SAMPLES', 0))
    expect(bytes / 2_000).to.be.lessThan(120)
    expect((await rig.test.redis.keys('{p00}*')).sort()).to.deep.equal(
      ['hook:m_1', 'hooklease', 'hooklog:m_1', 'hooksent:m_1', 'outbox'].map(name => `{p00}:${name}`)
    )
  }).timeout(20_000)
})
