import { expect } from 'chai'
import { connect, disconnect, type Redis } from '../../../redis/connection/connections.js'
import { isRedisUnavailable, reasonOf } from '../../../redis/connection/redis-errors.js'
import { assertUnchanged, changeOf, claimInstallation } from '../../../redis/installation/installation.js'
import { createLogger } from '../../../runtime/log.js'
import { useRedis, useRedisNode } from '../../support/redis.js'

describe('the reason why Redis cannot be used, in words for an operator', () => {
  const test = useRedis()

  it('does not mention streams and queues of the client library', () => {
    const none = 'there is no connection to Redis'
    const lost = { name: 'MaxRetriesPerRequestError' }
    for (const [message, reason, more] of [
      ["Stream isn't writeable and enableOfflineQueue options is false", none, {}],
      ['Connection is closed.', none, {}],
      ['Reached the max retries per request limit (which is 0).', none, lost],
      ['Command timed out', 'Redis did not answer in time', {}],
      ['connect ECONNREFUSED 127.0.0.1:6379', 'connect ECONNREFUSED 127.0.0.1:6379', {}]
    ] as const) {
      expect(reasonOf(Object.assign(new Error(message), more))).to.equal(reason)
    }
  })

  it('names the setting in /readyz of a process that only needs it', async () => {
    const redis = await connect(test.url, 'commands', createLogger('test', 'silent'))
    const { id } = await claimInstallation(redis, { environment: 'test', installationId: '', partitions: 16 })
    expect(await changeOf(redis, id)).to.equal(undefined)
    await disconnect(redis)
    const thrown: unknown = await changeOf(redis, id).catch((error: unknown) => error)
    expect(String(thrown)).to.match(/The Redis of REDIS_URL can't be asked \(there is no connection to Redis\)\./)
    // A request that found nothing is answered 503 then.
    expect(isRedisUnavailable(await assertUnchanged(redis, id).catch((error: unknown) => error))).to.equal(true)
  })
})

/** A merchant gets 503 for these, and repeats the request; 500 would be a mistake of the service. */
describe('a Redis that takes no writes', () => {
  let redis: Redis
  after(() => disconnect(redis))
  const server = useRedisNode()
  before(async () => {
    redis = await connect(server.node.url, 'commands', createLogger('test', 'silent'))
  })

  for (const [what, begin, end] of [
    ['a replica', ['REPLICAOF', '127.0.0.1', '1'], ['REPLICAOF', 'NO', 'ONE']],
    ['without rights to write', ['ACL', 'SETUSER', 'default', '-@write'], ['ACL', 'SETUSER', 'default', '+@all']],
    ['without rights to its keys', ['ACL', 'SETUSER', 'default', 'resetkeys'], ['ACL', 'SETUSER', 'default', '~*']],
    ['full', ['CONFIG', 'SET', 'maxmemory', '1'], ['CONFIG', 'SET', 'maxmemory', '0']],
    [
      'without enough replicas',
      ['CONFIG', 'SET', 'min-replicas-to-write', '1'],
      ['CONFIG', 'SET', 'min-replicas-to-write', '0']
    ]
  ] as const) {
    it(`is unavailable while it is ${what}: for a command, a transaction and a script`, async () => {
      await server.node.ask(...begin)
      const works = [
        () => redis.set('a', '1'),
        () => redis.multi().hset('h', { a: 1 }).pexpire('h', 1_000).exec(),
        () => redis.eval("return redis.call('SET', KEYS[1], '1')", 1, 'a')
      ]
      const found: unknown[] = []
      for (const work of works) found.push(await work().then(String, (error: unknown) => error))
      await server.node.ask(...end)
      expect(found.map(error => [String(error), isRedisUnavailable(error)])).to.deep.equal(
        found.map(error => [String(error), true])
      )
    })
  }
})
