import { expect } from 'chai'
import type { Environment } from '../../../machines/model.js'
import { connect, disconnect, type Redis } from '../../../redis/connection/connections.js'
import { requireRights } from '../../../redis/installation/acl-rights.js'
import { createLogger } from '../../../runtime/log.js'
import { useRedis } from '../../support/redis.js'
import { makeRedisUsers, urlAs } from '../../support/redis-users.js'

const log = createLogger('test', 'silent')

for (const server of ['REDIS_URL', 'SECRETS_REDIS_URL'] as const) {
  describe(`a process whose Redis user follows the ACL file (${server})`, () => {
    const test = useRedis()
    const file = server === 'REDIS_URL' ? 'durable' : 'memory-only'
    let admin: Redis
    let users: readonly string[] = []
    const url = () => (server === 'REDIS_URL' ? test.url : test.secretsUrl)

    beforeEach(async () => {
      admin = await connect(url(), 'commands', log)
      users = await makeRedisUsers(admin, file)
      // The users of the file work in database 0, and this test in another one.
      for (const user of users) await admin.acl('SETUSER', user, '+select')
    })
    afterEach(async () => {
      await admin.acl('DELUSER', ...users)
      await disconnect(admin)
    })

    /** One process that starts as `user`: its answer to /readyz, or what its start throws. */
    async function startAs(user: string, environment: Environment): Promise<unknown> {
      const redis = await connect(user === 'default' ? url() : urlAs(user, url()), 'commands', log)
      let ready: () => unknown = () => 'no check was registered'
      const onReadyCheck = (_: string, check: typeof ready): void => {
        ready = check
      }
      const address = user === 'default' ? url() : urlAs(user, url())
      const config = { environment, redisUrl: address, secretsRedisUrl: address }
      try {
        await requireRights(redis, server, { config, onReadyCheck })
        return await ready()
      } finally {
        await disconnect(redis)
      }
    }

    it('starts as each of its users, and as a user that may do everything', async () => {
      for (const user of [...users, 'default']) expect(await startAs(user, 'live'), user).to.equal(undefined)
    })

    for (const [missing, named] of [
      ['-hset', 'HSET'],
      ['-eval', 'EVAL'],
      ['resetkeys', server === 'REDIS_URL' ? 'keys {p*}:*' : 'keys token:*'],
      ['-evalsha', 'EVALSHA']
    ] as const) {
      it(`does not start in live, and is not ready in test, after ${missing}`, async () => {
        await admin.acl('SETUSER', 'payments', missing)
        const [refused, problem] = [await startAs('payments', 'live').catch(String), await startAs('payments', 'test')]
        for (const sentence of [refused, problem]) {
          expect(sentence)
            .to.contain(`The user payments of ${server} is not allowed: `)
            .and.contain(named)
            .and.contain(`${file}.acl of this release (ACL LOAD)`)
        }
      })
    }
  })
}
