import { expect } from 'chai'
import { expiries } from '../../../redis/commands/due.js'
import { connectInBackground, type Redis } from '../../../redis/connection/connections.js'
import { keys } from '../../../redis/keys.js'
import { createLogger } from '../../../runtime/log.js'
import { wakeRound } from '../../../workers/timers/rounds.js'
import { unboundedPace } from '../../support/pace.js'
import { useRedis } from '../../support/redis.js'

const log = createLogger('test', 'silent')
const [LOST, KEPT, PARTITIONS] = [0, 1, 2]

describe('a round of timers on a Cluster', () => {
  const test = useRedis()

  /** Two masters, as the rounds see them: the one of partition `LOST` is away. */
  const halfOfACluster = (): Redis => {
    const real = connectInBackground('redis-cluster://127.0.0.1:1', 'commands', log, 'REDIS_URL')
    real.disconnect()
    const evalsha = (hash: string, count: number, ...keysAndArgs: string[]) =>
      keysAndArgs.includes(keys.due(LOST))
        ? Promise.reject(new Error('Connection is closed.'))
        : test.redis.evalsha(hash, count, ...keysAndArgs)
    return new Proxy(test.redis, {
      getPrototypeOf: () => Object.getPrototypeOf(real),
      get: (redis, name) => ({ evalsha, nodes: () => [redis, redis] })[String(name)] ?? Reflect.get(redis, name)
    })
  }

  it('fires what is due at the reachable masters, then fails', async () => {
    for (const partition of [LOST, KEPT]) await test.redis.zadd(keys.due(partition), 1, 'payment')
    const failure = await wakeRound(halfOfACluster(), expiries, unboundedPace, PARTITIONS, 10).catch(String)
    expect(failure).to.contain('Connection is closed.')
    expect(await test.redis.zcount(keys.due(KEPT), '-inf', 10)).to.equal(0)
  })
})
