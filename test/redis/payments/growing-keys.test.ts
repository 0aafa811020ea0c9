import { randomUUID } from 'node:crypto'
import { expect } from 'chai'
import { storePayment } from '../../support/listed-payments.js'
import { useRedis } from '../../support/redis.js'

const PAYMENTS = 400
const INDEX_MAX = 10
/** A tenth of the payments: no key may grow with them. */
const MEMBERS_MAX = 40

describe('the keys of a merchant', () => {
  const test = useRedis()

  it('stay small, however many payments the merchant has', async () => {
    for (let i = 0; i < PAYMENTS; i++) {
      await storePayment(
        test.redis,
        {
          atMs: Date.UTC(2026, 0, 31, 20) + i * 60_000,
          status: i % 20 === 0 ? 'failed' : 'captured',
          externalReference: i % 2 === 0 ? 'the same' : `order-${i}`,
          saleId: randomUUID()
        },
        INDEX_MAX
      )
    }
    const sizes: [key: string, members: number][] = []
    for (const key of await test.redis.keys('*')) {
      const type = await test.redis.type(key)
      if (type === 'zset') sizes.push([key, await test.redis.zcard(key)])
      if (type === 'hash') sizes.push([key, await test.redis.hlen(key)])
    }
    expect(sizes).not.to.have.length(0)
    expect(sizes.filter(([, members]) => members > MEMBERS_MAX)).to.deep.equal([])
  })
})
