import { expect } from 'chai'
import { ensureGroups, readCommands } from '../../../redis/commands/read-commands.js'
import { paymentWork } from '../../../redis/commands/work-kind.js'
import { unreplicated } from '../../../redis/connection/writes.js'
import { keys, newPaymentId, paymentKeyOf } from '../../../redis/keys.js'
import { createNotificationStore } from '../../../redis/notifications/notifications.js'
import { createLogger } from '../../../runtime/log.js'
import { notificationRound } from '../../../workers/payments/notification-rounds.js'
import { FakeNetwork } from '../../support/fake-network.js'
import { unboundedPace } from '../../support/pace.js'
import { PARTITION } from '../../support/payments.js'
import { useRedis } from '../../support/redis.js'
import { unreadMetrics } from '../../support/worker-metrics.js'

const NOW = 1_767_355_200_000
const LEASE_MS = 60_000
const GIVE_UP_MS = 72 * 3_600_000
const sale1 = { saleId: 'sale-1', reported: 'change' } as const
const sale2 = { saleId: 'sale-2', reported: 'change' } as const

describe('notifications of the card network', () => {
  const test = useRedis()
  const signal = new AbortController().signal

  beforeEach(async () => {
    givenUp = 0
    unused = 0
    await test.redis.flushdb()
    await ensureGroups(test.redis, PARTITION + 1, paymentWork)
  })

  let givenUp = 0
  let unused = 0

  function aRound(network: FakeNetwork, nowMs: number, notifications = store()): Promise<number> {
    const log = createLogger('test', 'silent')
    const clock = { now: () => nowMs }
    const metrics = { ...unreadMetrics, notificationGivenUp: () => void givenUp++ }
    const times = { giveUpAfterMs: GIVE_UP_MS, leaseMs: LEASE_MS }
    const returnUnused = async (count: number): Promise<void> => {
      unused += count
    }
    const pace = { ...unboundedPace, returnUnused }
    const deps = { notifications, archive: null, network, pace, log, clock, ...times, metrics }
    return notificationRound(deps, signal)
  }
  const store = (): ReturnType<typeof createNotificationStore> =>
    createNotificationStore(unreplicated(test.redis), PARTITION + 1)
  const commands = (): Promise<number> => test.redis.xlen(keys.commands(PARTITION))

  it('become one command for the payment behind the sale', async () => {
    const network = new FakeNetwork()
    network.orderIds.set('sale-1', newPaymentId(PARTITION, Date.now()).replaceAll('-', ''))
    await store().note(sale1, NOW)
    await store().note(sale1, NOW)
    expect(await aRound(network, NOW)).to.equal(1)
    expect([await commands(), await store().count()]).to.deep.equal([1, 0])
    expect(await aRound(network, NOW + LEASE_MS)).to.equal(0)
  })

  it('need no query when the payment of the sale is known here', async () => {
    const network = new FakeNetwork()
    const paymentId = newPaymentId(PARTITION, Date.now())
    await test.redis.hset(keys.sales(PARTITION, 'sale-1'), 'sale-1', paymentKeyOf(paymentId))
    await store().note({ saleId: 'sale-1', reported: 'chargeback' }, NOW)
    expect(await aRound(network, NOW)).to.equal(1)
    expect(await store().count()).to.equal(0)
    const { entries } = await readCommands(test.redis, paymentWork, 'w', [PARTITION], 10)
    expect(entries.map(({ paymentKey }) => paymentKey)).to.deep.equal([paymentKeyOf(paymentId)])
  })

  it('return to the pace what another worker has taken in the meantime', async () => {
    await store().note(sale1, NOW)
    const [first, second] = await Promise.all([aRound(new FakeNetwork(), NOW), aRound(new FakeNetwork(), NOW)])
    expect([(first ?? 0) + (second ?? 0), unused]).to.deep.equal([1, 2])
  })

  it('are taken by one worker at a time, and come up again when it dies', async () => {
    await store().note(sale1, NOW)
    expect(await store().take(NOW, NOW + LEASE_MS, 10)).to.deep.equal([{ ...sale1, sinceMs: NOW }])
    expect(await store().take(NOW + LEASE_MS - 1, NOW + 2 * LEASE_MS, 10)).to.deep.equal([])
    expect(await store().take(NOW + LEASE_MS, NOW + 2 * LEASE_MS, 10)).to.have.length(1)
  })

  it('are not lost when the network reports the next thing before the first is worked off', async () => {
    const network = new FakeNetwork()
    network.orderIds.set('sale-1', newPaymentId(PARTITION, Date.now()).replaceAll('-', ''))
    const notifications = store()
    const reportedTwice = {
      ...notifications,
      forward: async (paymentId: string) => {
        await notifications.forward(paymentId, 'change')
        await notifications.note(sale1, NOW + 1)
      }
    }
    await notifications.note(sale1, NOW)
    expect(await aRound(network, NOW, reportedTwice)).to.equal(1)
    expect(await aRound(network, NOW + 1)).to.equal(1)
    expect([await commands(), await notifications.count()]).to.deep.equal([2, 0])
  })

  const nextMs = async (): Promise<number> =>
    Number((await test.redis.zrange(keys.notifications(), '0', '0', 'WITHSCORES'))[1])

  it('wait longer and longer while the network does not know the sale, then are given up', async () => {
    const network = new FakeNetwork()
    await store().note(sale1, NOW)
    const asked: number[] = []
    for (let atMs = NOW; givenUp === 0; atMs = await nextMs()) {
      asked.push(atMs - NOW)
      expect(await aRound(network, atMs)).to.equal(1)
    }
    expect(asked.slice(0, 6)).to.deep.equal([0, 1_000, 2_000, 4_000, 8_000, 16_000])
    const pauses = asked.slice(1).map((afterMs, at) => afterMs - (asked[at] ?? 0))
    expect(Math.max(...pauses)).to.equal(3_600_000)
    expect(asked.at(-1)).to.be.within(GIVE_UP_MS, GIVE_UP_MS + 3_600_000)
    expect([await commands(), await store().count()]).to.deep.equal([0, 0])
  })

  it('are not given up sooner because nothing ran for days', async () => {
    const network = new FakeNetwork()
    await store().note(sale1, NOW)
    await aRound(network, NOW)
    const backMs = NOW + 2 * GIVE_UP_MS
    await aRound(network, backMs)
    await aRound(network, await nextMs())
    expect([givenUp, await store().count()]).to.deep.equal([0, 1])
    expect(await nextMs()).to.be.within(backMs, backMs + 10_000)
  })

  it('keep what was reported, each kind for itself, on their way to the workers', async () => {
    const network = new FakeNetwork()
    network.orderIds.set('sale-1', newPaymentId(PARTITION, Date.now()).replaceAll('-', ''))
    for (const reported of ['change', 'chargeback', 'denied_refund', 'chargeback'] as const) {
      await store().note({ saleId: 'sale-1', reported }, NOW)
    }
    expect(await aRound(network, NOW)).to.equal(3)
    expect(await store().count()).to.equal(0)
    const { entries } = await readCommands(test.redis, paymentWork, 'w', [PARTITION], 10)
    expect(entries.map(({ command }) => command)).to.have.deep.members([
      { kind: 'network_notification', reported: 'change' },
      { kind: 'network_notification', reported: 'chargeback' },
      { kind: 'network_notification', reported: 'denied_refund' }
    ])
  })

  it('of orders that are not payments of this installation are dropped', async () => {
    const network = new FakeNetwork()
    network.orderIds.set('sale-1', 'order-of-another-system')
    network.orderIds.set('sale-2', newPaymentId(PARTITION + 1, Date.now()).replaceAll('-', ''))
    await store().note(sale1, NOW)
    await store().note(sale2, NOW)
    expect(await aRound(network, NOW)).to.equal(2)
    expect([await commands(), await store().count()]).to.deep.equal([0, 0])
  })
})
