import { readFile } from 'node:fs/promises'
import { expect } from 'chai'
import { connect, disconnect, type Redis } from '../../../redis/connection/connections.js'
import { createLogger } from '../../../runtime/log.js'
import { parseProcfile } from '../../../scripts/start/procfile.js'
import { until } from '../../support/conditions.js'
import { Merchant } from '../../support/merchant.js'
import { RedisCluster } from '../../support/redis-cluster.js'
import { makeRedisUsers } from '../../support/redis-users.js'
import { testBinary } from '../../support/sentinels.js'
import { type ServiceUnderTest, startService } from '../../support/service.js'
import { QUICK, UNANSWERED } from '../card-data/shopping.js'

describe('a Redis Cluster with a user per process (ops/redis) and replicas that are waited for', () => {
  let cluster: RedisCluster
  let service: ServiceUnderTest
  let admins: Redis[] = []

  before(async () => {
    cluster = await RedisCluster.start({ binary: await testBinary(), masters: 3, replicas: 1, nodeTimeoutMs: 5_000 })
    const log = createLogger('test', 'silent')
    admins = await Promise.all(cluster.nodes.map(({ url }) => connect(url, 'commands', log)))
    for (const admin of admins) await makeRedisUsers(admin, 'durable')
    service = await startService({
      env: { ...QUICK.env, REDIS_URL: cluster.url, WAIT_REPLICAS: '1' },
      procfile: await procfileAsUsers(cluster.url)
    })
  })
  after(async () => {
    await service?.stop()
    await Promise.all(admins.map(disconnect))
    await cluster?.stop()
  })

  it('lets payments live: token, card, refund, unknown outcome, dead worker, chargeback', async () => {
    const merchant = new Merchant(() => service)
    const source = { ...(await merchant.storeCard()), cvv: '123' }
    expect((await merchant.create({ source })).payment.status).to.equal('captured')
    const { id } = (await merchant.create()).payment
    expect((await merchant.cancel(id, { amount: 1_000 })).payment.status).to.equal('partially_refunded')
    expect(await merchant.get('/v1/payments?status=captured')).to.have.property('items')
    const underWay = merchant.create({ token: await merchant.token(UNANSWERED) })
    service.kill('payments')
    // Another worker takes over.
    await merchant.settled((await underWay).payment.id)
    await fetch(`${service.networkUrl}/simulator/chargebacks`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({ merchant_order_id: id.replaceAll('-', '') })
    })
    await merchant.settled(id, 'charged_back')
  })

  it('needs nothing that its users may not do, on any node', async () => {
    const metrics = async (): Promise<string> => (await service.ops('timers.1', '/metrics')).text
    await until('one worker is alive', async () => (await metrics()).includes('card_payments_workers_alive 1'))
    for (const admin of admins) {
      const denied = (await admin.acl('LOG')) as unknown[][]
      expect(denied.map(entry => entry.join(' '))).to.deep.equal([])
    }
    const users = (await Promise.all(admins.map(admin => admin.client('LIST')))).join('\n')
    for (const user of ['api', 'tokens', 'notifications', 'payments', 'timers', 'webhooks'])
      expect(users).to.contain(`user=${user} `)
  })
})

/** Each process of the Procfile with an address that names its own user; the memory-only Redis stays the test's own. */
async function procfileAsUsers(clusterUrl: string): Promise<string> {
  const lines = parseProcfile(await readFile('Procfile', 'utf8')).map(({ name, command }) => {
    const url = clusterUrl.replace('://', `://${name}:${name}@`)
    return `${name}: ${command.replace(/^exec /, `exec env REDIS_URL=${url} `)}`
  })
  return `${lines.join('\n')}\n`
}
