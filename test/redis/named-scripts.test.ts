import { expect } from 'chai'
import { keys } from '../../redis/keys.js'
import { defineNamedScript } from '../../redis/scripts.js'
import { useRedis } from '../support/redis.js'

const replaceEndpoint = defineNamedScript<{
  keys: string
  given: { before?: string | undefined; after: string }
}>('replace_webhook_endpoint')

describe('a script that gets its keys and its argument by name', () => {
  const test = useRedis()
  const [endpoint, off] = [keys.webhookEndpoint(0, 'm'), keys.webhooksOff(0, 'm')]
  beforeEach(async () => void (await test.redis.mset(endpoint, 'before', off, '1')))

  it('finds each key by its name, in any order', async () => {
    expect(await replaceEndpoint(test.redis, { off, endpoint }, { before: 'before', after: 'after' })).to.equal(1)
    expect(await test.redis.mget(endpoint, off)).to.deep.equal(['after', null])
  })

  it('treats undefined as absent', async () => {
    expect(await replaceEndpoint(test.redis, { endpoint, off }, { before: undefined, after: 'after' })).to.equal(0)
    await test.redis.del(endpoint)
    expect(await replaceEndpoint(test.redis, { endpoint, off }, { before: undefined, after: 'after' })).to.equal(1)
  })

  for (const [what, given] of [
    ['too few', { endpoint }],
    ['too many', { endpoint, off, line: 'x' }],
    ['others', { endpoint, on: off }]
  ] as const) {
    it(`is not run with ${what} keys`, async () => {
      const running = replaceEndpoint(test.redis, given, { before: 'before', after: 'after' })
      const error: unknown = await running.catch((reason: unknown) => reason)
      expect(String(error)).to.match(/replace_webhook_endpoint has the keys endpoint,off, not /)
      expect(await test.redis.get(endpoint)).to.equal('before')
    })
  }
})
