import { expect } from 'chai'
import type { Environment } from '../../../machines/model.js'
import { requireDurability } from '../../../redis/installation/durability.js'
import { useRedis } from '../../support/redis.js'

/** One process that asks for durability: its answer to /readyz, once it has started. */
async function startOn(
  redis: Parameters<typeof requireDurability>[0],
  environment: Environment,
  acceptEverysec: 'yes' | 'no' = 'no'
): Promise<unknown> {
  let check: () => unknown = () => 'no check was registered'
  const onReadyCheck = (_: string, given: typeof check): void => {
    check = given
  }
  await requireDurability(redis, { config: { environment, acceptEverysec }, onReadyCheck })
  return await check()
}

describe('a process that says "it is written down"', () => {
  const test = useRedis()
  const SENTENCE = /^The Redis of REDIS_URL may lose accepted payments: appendfsync is everysec, must be always\.$/

  it('starts on a durable Redis, and is ready', async () => {
    for (const environment of ['test', 'live'] as const) {
      expect(await startOn(test.redis, environment)).to.equal(undefined)
    }
  })

  describe('on a Redis that may lose a second', () => {
    before(() => test.redis.config('SET', 'appendfsync', 'everysec'))
    after(() => test.redis.config('SET', 'appendfsync', 'always'))

    it('does not start in the live environment', async () => {
      const error: unknown = await startOn(test.redis, 'live').catch((thrown: unknown) => thrown)
      expect(String(error).replace('Error: ', '')).to.match(SENTENCE)
    })

    it('starts in the test environment, and says so in /readyz', async () => {
      expect(await startOn(test.redis, 'test')).to.match(SENTENCE)
    })

    it('takes it with ACCEPT_EVERYSEC=yes, in either environment', async () => {
      for (const environment of ['test', 'live'] as const) {
        expect(await startOn(test.redis, environment, 'yes')).to.equal(undefined)
      }
    })
  })

  it('is not ready while Redis skips fsync during a rewrite of its file', async () => {
    await test.redis.config('SET', 'no-appendfsync-on-rewrite', 'yes')
    try {
      expect(await startOn(test.redis, 'test')).to.equal(
        'The Redis of REDIS_URL may lose accepted payments: no-appendfsync-on-rewrite is yes, must be no.'
      )
    } finally {
      await test.redis.config('SET', 'no-appendfsync-on-rewrite', 'no')
    }
  })
})
