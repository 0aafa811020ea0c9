import { expect } from 'chai'
import { connect, disconnect, type Redis } from '../../../redis/connection/connections.js'
import { keys, partitionOf } from '../../../redis/keys.js'
import { delay } from '../../../runtime/delay.js'
import { createLogger } from '../../../runtime/log.js'
import { readLoopbackTls } from '../../../scripts/start/loopback-tls.js'
import { auditChaos } from '../../chaos/audit.js'
import { ChaosClient } from '../../chaos/client.js'
import { readFinalState } from '../../chaos/final-state.js'
import { openLoop } from '../../chaos/open-loop.js'
import { startReceiver } from '../../chaos/receiver.js'
import { createRandom } from '../../simulation/random.js'
import { until } from '../../support/conditions.js'
import { RedisCluster } from '../../support/redis-cluster.js'
import type { RedisNode } from '../../support/redis-node.js'
import { makeRedisUsers, procfileWith } from '../../support/redis-users.js'
import { testBinary } from '../../support/sentinels.js'
import { type ServiceUnderTest, startService } from '../../support/service.js'
import { bookedOrders } from '../../support/simulator.js'
import { QUICK } from '../card-data/shopping.js'
import { livePayments } from '../redis-access/lives.js'

/** Masters count as dead when the test kills one, not when a busy machine keeps them from answering. */
const NODE_TIMEOUT_MS = { usual: 60_000, whenKilled: 1_000 }
/** For so long a master goes on without its replica, before it dies. */
const ALONE_MS = 300
const LOAD = { seconds: 4, rate: 15 }
const log = createLogger('test', 'silent')

describe('a Redis Cluster with a user per process (ops/redis) and replicas that are waited for', () => {
  let cluster: RedisCluster
  let service: ServiceUnderTest
  let admins: Redis[] = []

  before(async () => {
    const size = { masters: 3, replicas: 1, nodeTimeoutMs: NODE_TIMEOUT_MS.usual }
    cluster = await RedisCluster.start({ binary: await testBinary(), ...size })
    admins = await Promise.all(cluster.nodes.map(({ url }) => connect(url, 'commands', log)))
    for (const admin of admins) await makeRedisUsers(admin, 'durable')
    service = await startService({
      scale: ['payments=2'],
      env: { ...QUICK.env, LOG_LEVEL: 'warn', REDIS_URL: cluster.url, WAIT_REPLICAS: '1' },
      procfile: await procfileWith(name => [`REDIS_URL=${cluster.url.replace('://', `://${name}:${name}@`)}`])
    })
  })
  after(async () => {
    await service?.stop()
    await Promise.all(admins.map(disconnect))
    await cluster?.stop()
  })

  it('lets payments live: token, card, refund, unknown outcome, dead worker, chargeback', async () => {
    await livePayments(service)
  })

  it('needs nothing that its users may not do, on any node', async () => {
    const metrics = async (): Promise<string> => (await service.ops('timers.1', '/metrics')).text
    await until('both workers are alive', async () => (await metrics()).includes('card_payments_workers_alive 2'))
    for (const admin of admins) {
      const denied = (await admin.acl('LOG')) as unknown[][]
      expect(denied.map(entry => entry.join(' '))).to.deep.equal([])
    }
    const users = (await Promise.all(admins.map(admin => admin.client('LIST')))).join('\n')
    for (const user of ['api', 'tokens', 'notifications', 'payments', 'timers', 'webhooks'])
      expect(users).to.contain(`user=${user} `)
  })

  // What asynchronous replication may lose at any time, it surely loses here.
  it('loses nothing that was waited for with a master that dies under load, after it has lost its replica', async () => {
    const before = new Set(await bookedOrders(service))
    const receiver = await startReceiver(await readLoopbackTls(service.dataDir), 1)
    receiver.behave()
    const random = createRandom(1)
    const { networkUrl, apiKey, publishableKey, merchantId } = service
    const [apiUrls, tokensUrls] = [service.addresses('api'), service.addresses('tokens')]
    const client = new ChaosClient({ apiUrls, tokensUrls, networkUrl, apiKey, publishableKey }, () => random.next())
    try {
      receiver.trust(await client.registerWebhook(receiver.url))
      const sending = openLoop(LOAD, index => client.begin(`order-${index}`))
      await delay((LOAD.seconds * 1_000) / 2)
      await killMaster(cluster, keys.commands(partitionOf(merchantId, 16)))
      expect(await sending).to.equal(LOAD.seconds * LOAD.rate)
      const { records, payments, sales } = await readFinalState([client], receiver, networkUrl)
      const own = sales.filter(({ merchant_order_id: order }) => !before.has(order))
      const findings = auditChaos(records, payments, own, receiver.events)
      expect(Object.values(findings).flat()).to.deep.equal([])
    } finally {
      await receiver.stop()
    }
  })
})

async function setNodeTimeout(nodes: readonly RedisNode[], ms: number): Promise<void> {
  await Promise.all(nodes.map(node => node.ask('CONFIG', 'SET', 'cluster-node-timeout', String(ms))))
}

/** Kills the master of a key with -9. Resolves when its replica has taken over, and it is back as the replica of that one. */
async function killMaster(cluster: RedisCluster, key: string): Promise<void> {
  const master = await cluster.masterOf(key)
  const replica = await cluster.replicaOf(master)
  // The replica is suspended, its link is cut, and what is written from here on stays with the master.
  replica.signal('SIGSTOP')
  await master.ask('CLIENT', 'KILL', 'TYPE', 'replica')
  await delay(ALONE_MS)
  await master.kill()
  replica.signal('SIGCONT')
  const living = cluster.nodes.filter(node => node !== master)
  await setNodeTimeout(living, NODE_TIMEOUT_MS.whenKilled)
  await until('its replica takes over', async () => (await replica.figure('replication', 'role')) === 'master')
  await setNodeTimeout(living, NODE_TIMEOUT_MS.usual)
  await master.restart()
  const admin = await connect(master.url, 'commands', log)
  await makeRedisUsers(admin, 'durable')
  await disconnect(admin)
}
