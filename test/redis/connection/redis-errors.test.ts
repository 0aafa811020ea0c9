import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'chai'
import { connect, disconnect, type Redis } from '../../../redis/connection/connections.js'
import { isRedisUnavailable, reasonOf } from '../../../redis/connection/redis-errors.js'
import { changeOf, claimInstallation } from '../../../redis/installation/installation.js'
import { createLogger } from '../../../runtime/log.js'
import { useRedis } from '../../support/redis.js'
import { RedisNode } from '../../support/redis-node.js'
import { testBinary } from '../../support/sentinels.js'

describe('the reason why Redis cannot be used, in words for an operator', () => {
  const test = useRedis()

  it('does not mention streams and queues of the client library', () => {
    const clients = "Stream isn't writeable and enableOfflineQueue options is false"
    expect(reasonOf(new Error(clients))).to.equal('there is no connection to Redis')
    expect(reasonOf(new Error('Connection is closed.'))).to.equal('there is no connection to Redis')
    expect(reasonOf(new Error('Command timed out'))).to.equal('Redis did not answer in time')
    const lost = Object.assign(new Error('Reached the max retries per request limit (which is 0).'), {
      name: 'MaxRetriesPerRequestError'
    })
    expect(reasonOf(lost)).to.equal('there is no connection to Redis')
  })

  it('leaves a clear message unchanged', () => {
    for (const sentence of [
      'connect ECONNREFUSED 127.0.0.1:6379',
      "READONLY You can't write against a read only replica."
    ]) {
      expect(reasonOf(new Error(sentence))).to.equal(sentence)
    }
  })

  it('names the setting in /readyz of a process that only needs it', async () => {
    const redis = await connect(test.url, 'commands', createLogger('test', 'silent'))
    const { id } = await claimInstallation(redis, { environment: 'test', installationId: '', partitions: 16 })
    expect(await changeOf(redis, id)).to.equal(undefined)
    await disconnect(redis)
    const thrown: unknown = await changeOf(redis, id).catch((error: unknown) => error)
    expect(String(thrown)).to.match(/The Redis of REDIS_URL can't be asked \(there is no connection to Redis\)\./)
  })
})

/** A merchant gets 503 for these, and repeats the request; 500 would be a mistake of the service. */
describe('a Redis that takes no writes', () => {
  let node: RedisNode
  let redis: Redis
  let dir: string

  before(async () => {
    dir = await mkdtemp(join(tmpdir(), 'payments-readonly-'))
    node = await RedisNode.start(await testBinary(), dir, [])
    redis = await connect(node.url, 'commands', createLogger('test', 'silent'))
  })
  after(async () => {
    await disconnect(redis)
    await node.stop()
    await rm(dir, { recursive: true, force: true })
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
      await node.ask(...begin)
      const works = [
        () => redis.set('a', '1'),
        () => redis.multi().hset('h', { a: 1 }).pexpire('h', 1_000).exec(),
        () => redis.eval("return redis.call('SET', KEYS[1], '1')", 1, 'a')
      ]
      const found: unknown[] = []
      for (const work of works) found.push(await work().then(String, (error: unknown) => error))
      await node.ask(...end)
      expect(found.map(error => [String(error), isRedisUnavailable(error)])).to.deep.equal(
        found.map(error => [String(error), true])
      )
    })
  }
})
