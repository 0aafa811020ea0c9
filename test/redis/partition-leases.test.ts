import { expect } from 'chai'
import { keys } from '../../redis/keys.js'
import { createPartitionLeases, type Lease } from '../../redis/partition-leases.js'
import { createWebhookQueue, PartitionLost } from '../../redis/webhook-queue.js'
import { until } from '../support/conditions.js'
import { useRedis } from '../support/redis.js'
import { plainQueue } from '../support/webhooks.js'

const PARTITION = 3

describe('the lease of a partition of webhooks', () => {
  const test = useRedis()
  const leasesOf = (owner: string, ttlMs = 60_000) => createPartitionLeases(test.redis, owner, ttlMs)
  const taken = (lease: Lease | null): Lease => {
    if (lease === null) throw new Error('The partition was not free.')
    return lease
  }

  afterEach(() => test.redis.flushdb())

  it('is one process at a time, until it gives it back', async () => {
    const [a, b] = [leasesOf('a'), leasesOf('ab')]
    const lease = taken(await a.take(PARTITION))
    expect(await b.take(PARTITION)).to.equal(null)
    expect(await a.keep(lease)).to.equal(true)
    await a.release(lease)
    expect(await b.take(PARTITION)).to.deep.equal({ partition: PARTITION, holder: 'ab 2' })
  })

  it('is not kept once it has expired, though no other process took it', async () => {
    const leases = leasesOf('a', 20)
    const lease = taken(await leases.take(PARTITION))
    await until('it has run out', async () => (await test.redis.exists(keys.webhookLease(PARTITION))) === 0)
    expect(await leases.keep(lease)).to.equal(false)
    expect((await leases.take(PARTITION))?.holder).to.equal('a 2')
  })

  it('ends with the next holding of the same process: what belongs to the first is refused', async () => {
    const leases = leasesOf('a')
    const first = taken(await leases.take(PARTITION))
    const second = taken(await leases.take(PARTITION))
    expect(await leases.keep(first)).to.equal(false)
    await leases.release(first)
    expect(await leases.keep(second)).to.equal(true)

    const options = { ...plainQueue, now: () => 1 }
    const queue = createWebhookQueue(test.redis, test.redis, options)
    const wish = { dueUntilMs: 1, count: 1, except: [] }
    const failureOf = (call: Promise<unknown>): Promise<unknown> => call.catch((error: unknown) => error)
    expect(await failureOf(queue.settle(first, 'm_1', []))).to.be.instanceOf(PartitionLost)
    expect(await failureOf(queue.readWaiting(first, 'm_1', wish))).to.be.instanceOf(PartitionLost)
    expect(await queue.settle(second, 'm_1', [])).to.deep.equal([])
    expect(await queue.readWaiting(second, 'm_1', wish)).to.deep.equal([])
  })
})
