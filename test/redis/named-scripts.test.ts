import { expect } from 'chai'
import { defineNamedScript } from '../../redis/scripts.js'
import { useRedis } from '../support/redis.js'

const drop = defineNamedScript<{
  keys: string
  given: { notification: string | undefined; againAtMs: number }
}>('drop_notification')

describe('a script that gets its keys and its argument by name', () => {
  const test = useRedis()
  const [due, since] = ['due', 'since']
  const given = { notification: 'a sale', againAtMs: 7 }
  beforeEach(async () => {
    await test.redis.flushdb()
    await test.redis.zadd(due, 7, 'a sale')
    await test.redis.hset(since, 'a sale', '1')
  })

  it('finds each key by its name, in any order', async () => {
    expect(await drop(test.redis, { since, due }, given)).to.equal(1)
    expect(await test.redis.exists(due, since)).to.equal(0)
  })

  it('treats undefined as absent', async () => {
    expect(await drop(test.redis, { due, since }, { ...given, notification: undefined })).to.equal(0)
    expect(await test.redis.exists(due, since)).to.equal(2)
  })

  for (const [what, named] of [
    ['too few', { due }],
    ['too many', { due, since, line: 'x' }],
    ['others', { due, until: since }]
  ] as const) {
    it(`is not run with ${what} keys`, async () => {
      const running = drop(test.redis, named, given)
      const error: unknown = await running.catch((reason: unknown) => reason)
      expect(String(error)).to.match(/drop_notification has the keys due,since, not /)
      expect(await test.redis.exists(due, since)).to.equal(2)
    })
  }
})
