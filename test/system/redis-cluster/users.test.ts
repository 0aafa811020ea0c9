import { readFile } from 'node:fs/promises'
import { expect } from 'chai'
import { connect, disconnect, type Redis } from '../../../redis/connection/connections.js'
import { createLogger } from '../../../runtime/log.js'
import { parseProcfile } from '../../../scripts/start/procfile.js'
import { until } from '../../support/conditions.js'
import { RedisCluster } from '../../support/redis-cluster.js'
import { makeRedisUsers } from '../../support/redis-users.js'
import { testBinary } from '../../support/sentinels.js'
import { type ServiceUnderTest, startService } from '../../support/service.js'
import { APPROVED, call, payByCard, payByToken, QUICK, storeCard, UNANSWERED } from '../card-data/shopping.js'

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
    const card = await storeCard(service, APPROVED)
    expect((await payByCard(service, card, '123')).body.status).to.equal('captured')
    const paid = await payByToken(service, APPROVED)
    const refund = await call(service, 'POST', `/v1/payments/${paid.body.id}/cancel`, { amount_cents: 1_000 })
    expect(refund.body.status).to.equal('partially_refunded')
    expect((await call(service, 'GET', '/v1/payments?status=captured')).body).to.have.property('items')
    const underWay = payByToken(service, UNANSWERED)
    service.kill('payments')
    const taken = await underWay
    const statusOf = async (id: string | undefined): Promise<string | undefined> =>
      (await call(service, 'GET', `/v1/payments/${id}`)).body.status
    const isSettled = async (): Promise<boolean> =>
      ['captured', 'failed'].includes((await statusOf(taken.body.id)) ?? '')
    await until('another worker has taken over', isSettled)
    await fetch(`${service.networkUrl}/simulator/chargebacks`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({ merchant_order_id: paid.body.id?.replaceAll('-', '') })
    })
    await until('the chargeback is known', async () => (await statusOf(paid.body.id)) === 'charged_back')
  })

  it('needs nothing that its users may not do, on any node', async () => {
    expect((await service.ops('timers.1', '/metrics')).text).to.contain('card_payments_workers_alive 1')
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
