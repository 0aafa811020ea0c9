import { expect } from 'chai'
import { type Authenticator, createAuthenticator } from '../../../api/http/authenticator.js'
import { connect, disconnect, type Redis } from '../../../redis/connection/connections.js'
import { isRedisUnavailable } from '../../../redis/connection/redis-errors.js'
import { claimInstallation } from '../../../redis/installation/installation.js'
import { createKeyFinder } from '../../../redis/merchants/find-key.js'
import { MerchantStore } from '../../../redis/merchants/merchants.js'
import { delay } from '../../../runtime/delay.js'
import { createLogger } from '../../../runtime/log.js'
import { until } from '../../support/conditions.js'
import { useRedisNode } from '../../support/redis.js'

/** Longer than a lookup is kept. */
const FORGOTTEN_MS = 600

describe('the lookup of an API key', () => {
  let redis: Redis
  after(() => disconnect(redis))
  const server = useRedisNode()
  let header: string
  let authenticator: Authenticator

  before(async () => {
    redis = await connect(server.node.url, 'commands', createLogger('test', 'silent'))
    const installation = await claimInstallation(redis, { environment: 'test', installationId: '', partitions: 16 })
    const merchants = new MerchantStore(redis, 'test')
    const { merchantId } = await merchants.createMerchant('Shop')
    header = `Bearer ${(await merchants.createKey({ merchantId, permissions: ['payments:read'] })).fullKey}`
    const findKey = createKeyFinder(redis, installation, () => Date.now())
    authenticator = createAuthenticator({ environment: 'test', findKey })
    await authenticator.authenticate(header)
  })
  /** The principal, or the error of a request that comes when its key was looked up long ago. */
  const authenticate = async (): Promise<unknown> => {
    await delay(FORGOTTEN_MS)
    return await authenticator.authenticate(header).catch((error: unknown) => error)
  }

  it('waits for a Redis that was killed and comes back', async () => {
    // For 3 s, which the start of a server may take on a busy machine.
    await until('a lookup is answered by the server that came back', async () => {
      await server.node.kill()
      const answer = authenticate()
      await delay(FORGOTTEN_MS)
      await server.node.restart()
      return 'merchantId' in ((await answer) as object)
    })
  })

  it('fails after 3 s as unavailable, and finds the key when Redis is back', async () => {
    await server.node.kill()
    const sinceMs = performance.now()
    expect(isRedisUnavailable(await authenticate())).to.equal(true)
    expect(performance.now() - sinceMs).to.be.above(3_000)
    await server.node.restart()
    expect(await authenticate()).to.have.property('merchantId')
  })

  it('is unavailable while the data is gone: no key is called wrong', async () => {
    await server.node.ask('FLUSHALL')
    const error = await authenticate()
    expect(isRedisUnavailable(error)).to.equal(true)
    expect(String(error)).to.match(/The Redis of REDIS_URL is empty.* bring that data back/)
  })
})
