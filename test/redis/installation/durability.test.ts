import { expect } from 'chai'
import type { Environment } from '../../../machines/model.js'
import { connect, disconnect, type Redis } from '../../../redis/connection/connections.js'
import { requireDurability } from '../../../redis/installation/durability.js'
import { createLogger } from '../../../runtime/log.js'
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

describe('a process that promises that a write is durable', () => {
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

    it('accepts it with ACCEPT_EVERYSEC=yes, in either environment', async () => {
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

  describe('whose user may not read settings', () => {
    let redis: Redis
    before(async () => {
      await test.redis.acl('SETUSER', 'narrow', 'on', '>word', '~*', '&*', '+@all', '-config')
      redis = await connect(test.url.replace('://', '://narrow:word@'), 'commands', createLogger('test', 'silent'))
    })
    after(async () => {
      await disconnect(redis)
      await test.redis.acl('DELUSER', 'narrow')
    })

    it('starts in live, and leaves nothing in the ACL log', async () => {
      await test.redis.acl('LOG', 'RESET')
      expect(await startOn(redis, 'live')).to.equal(undefined)
      expect(await test.redis.acl('LOG')).to.deep.equal([])
    })

    for (const [setting, wrong, right] of [
      ['appendonly', 'no', 'yes'],
      ['maxmemory-policy', 'allkeys-lru', 'noeviction']
    ] as const) {
      it(`is refused while ${setting} is ${wrong}`, async () => {
        await test.redis.config('SET', setting, wrong)
        try {
          const problem = `The Redis of REDIS_URL may lose accepted payments: ${setting} is ${wrong}, must be ${right}.`
          expect(await startOn(redis, 'test')).to.equal(problem)
          expect(await startOn(redis, 'live').catch(String)).to.equal(`Error: ${problem}`)
        } finally {
          await test.redis.config('SET', setting, right)
        }
      })
    }
  })
})
