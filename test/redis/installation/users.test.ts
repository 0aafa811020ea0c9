import { setTimeout as pause } from 'node:timers/promises'
import { expect } from 'chai'
import { connect, disconnect, type Role } from '../../../redis/connection/connections.js'
import { userFaults } from '../../../redis/installation/users.js'
import { createLogger } from '../../../runtime/log.js'
import { useRedisNode } from '../../support/redis.js'
import { makeRedisUsers } from '../../support/redis-users.js'

/** Longer than a command of the role `secrets` waits, shorter than one of `commands`. */
const FROZEN_MS = 2_500

describe('the users of a Redis that stands still while it is asked', () => {
  const own = useRedisNode()

  async function askFrozen(role: Role): Promise<unknown> {
    const redis = await connect(own.node.url, role, createLogger('test', 'silent'))
    try {
      await makeRedisUsers(redis, 'memory-only')
      own.node.signal('SIGSTOP')
      const asked = userFaults(redis, 'SECRETS_REDIS_URL').catch(String)
      await pause(FROZEN_MS)
      own.node.signal('SIGCONT')
      return await asked
    } finally {
      own.node.signal('SIGCONT')
      await disconnect(redis)
    }
  }

  it('have the rights of their file once it answers', async () => {
    expect(await askFrozen('commands')).to.deep.equal({ missing: [], faults: [] })
  })

  it('lack no right because a question was not answered', async () => {
    expect(await askFrozen('secrets')).to.match(/timed out|Connection is closed/)
  })
})
