import { expect } from 'chai'
import { connect, disconnect } from '../../../redis/connection/connections.js'
import { reasonOf } from '../../../redis/connection/redis-errors.js'
import { changeOf, claimInstallation } from '../../../redis/installation/installation.js'
import { createLogger } from '../../../runtime/log.js'
import { useRedis } from '../../support/redis.js'

describe('why Redis can not be used, in words for an operator', () => {
  const test = useRedis()

  it('does not speak of streams and queues of the client', () => {
    const clients = "Stream isn't writeable and enableOfflineQueue options is false"
    expect(reasonOf(new Error(clients))).to.equal('there is no connection to Redis')
    expect(reasonOf(new Error('Connection is closed.'))).to.equal('there is no connection to Redis')
    expect(reasonOf(new Error('Command timed out'))).to.equal('Redis did not answer in time')
  })

  it('leaves alone what says enough', () => {
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
