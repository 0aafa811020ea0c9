import { expect } from 'chai'
import { keys, newPaymentId } from '../../redis/keys.js'
import { createNoticeStore } from '../../redis/notices.js'
import { createLogger } from '../../runtime/log.js'
import { noticeRound } from '../../workers/payments/notice-rounds.js'
import { FakeNetwork } from '../support/fake-network.js'
import { PARTITION } from '../support/payments.js'
import { useRedis } from '../support/redis.js'

const NOW = 1_767_355_200_000
const LEASE_MS = 60_000
const GIVE_UP_MS = 72 * 3_600_000

describe('notices of the card network', () => {
  const test = useRedis()
  const signal = new AbortController().signal

  beforeEach(() => test.redis.flushdb())

  function aRound(network: FakeNetwork, nowMs: number, notices = store()): Promise<number> {
    const log = createLogger('test', 'silent')
    const deps = { notices, network, log, clock: { now: () => nowMs }, giveUpAfterMs: GIVE_UP_MS, leaseMs: LEASE_MS }
    return noticeRound(deps, signal)
  }
  const store = (): ReturnType<typeof createNoticeStore> => createNoticeStore(test.redis, PARTITION + 1)
  const commands = (): Promise<number> => test.redis.xlen(keys.commands(PARTITION))

  it('become one command for the payment behind the sale', async () => {
    const network = new FakeNetwork()
    network.orderIds.set('sale-1', newPaymentId(PARTITION).replaceAll('-', ''))
    await store().note('sale-1', NOW)
    await store().note('sale-1', NOW)
    expect(await aRound(network, NOW)).to.equal(1)
    expect([await commands(), await store().count()]).to.deep.equal([1, 0])
    expect(await aRound(network, NOW + LEASE_MS)).to.equal(0)
  })

  it('are taken by one worker at a time, and come up again when it dies', async () => {
    await store().note('sale-1', NOW)
    expect(await store().take(NOW, NOW + LEASE_MS, 10)).to.deep.equal([{ saleId: 'sale-1', sinceMs: NOW }])
    expect(await store().take(NOW + LEASE_MS - 1, NOW + 2 * LEASE_MS, 10)).to.deep.equal([])
    expect(await store().take(NOW + LEASE_MS, NOW + 2 * LEASE_MS, 10)).to.have.length(1)
  })

  it('are not lost when the network announces the next thing before the first is worked off', async () => {
    const network = new FakeNetwork()
    network.orderIds.set('sale-1', newPaymentId(PARTITION).replaceAll('-', ''))
    const notices = store()
    const announcedTwice = {
      ...notices,
      announce: async (paymentId: string) => {
        await notices.announce(paymentId)
        await notices.note('sale-1', NOW + 1)
      }
    }
    await notices.note('sale-1', NOW)
    expect(await aRound(network, NOW, announcedTwice)).to.equal(1)
    expect(await aRound(network, NOW + 1)).to.equal(1)
    expect([await commands(), await notices.count()]).to.deep.equal([2, 0])
  })

  it('wait longer and longer while the network does not know the sale, and are given up in the end', async () => {
    const network = new FakeNetwork()
    await store().note('sale-1', NOW)
    const moments = [NOW, NOW + 1_000, NOW + 2_000, NOW + 4_000, NOW + 8_000]
    for (const nowMs of moments) expect(await aRound(network, nowMs), String(nowMs - NOW)).to.equal(1)
    expect(await aRound(network, NOW + 15_999)).to.equal(0)
    expect(await aRound(network, NOW + GIVE_UP_MS)).to.equal(1)
    expect([await commands(), await store().count()]).to.deep.equal([0, 0])
  })

  it('of orders that are not payments of this installation are dropped', async () => {
    const network = new FakeNetwork()
    network.orderIds.set('sale-1', 'order-of-somebody-else')
    network.orderIds.set('sale-2', newPaymentId(PARTITION + 1).replaceAll('-', ''))
    await store().note('sale-1', NOW)
    await store().note('sale-2', NOW)
    expect(await aRound(network, NOW)).to.equal(2)
    expect([await commands(), await store().count()]).to.deep.equal([0, 0])
  })
})
