import { createBlockingReads } from '../../../redis/connection/blocking-reads.js'
import { connect, disconnect, type Redis } from '../../../redis/connection/connections.js'
import { createWrites } from '../../../redis/connection/writes.js'
import { delay } from '../../../runtime/delay.js'
import { createLogger } from '../../../runtime/log.js'
import { until } from '../../support/conditions.js'
import { RedisCluster } from '../../support/redis-cluster.js'
import { testBinary } from '../../support/sentinels.js'

const CLIENTS = 10
const KEY = 'a-key'

/** Blocking reads and writes that wait for replicas go to the master of a key, and to no other node that would say MOVED. */
describe('clients of a Cluster that lack a master', () => {
  let cluster: RedisCluster
  const clients: Redis[] = []
  const uses: (() => Promise<unknown>)[] = []

  const start = async (replicas: number): Promise<void> => {
    cluster = await RedisCluster.start({ binary: await testBinary(), masters: 3, replicas, nodeTimeoutMs: 4_000 })
    for (let i = 0; i < CLIENTS; i++) {
      const role = i % 2 === 0 ? 'blocking' : 'commands'
      const redis = await connect(cluster.url, role, createLogger('test', 'silent'))
      clients.push(redis)
      uses.push(useOf(redis, role))
    }
    await untilAllUse()
  }
  afterEach(async () => {
    uses.splice(0)
    await Promise.all(clients.splice(0).map(disconnect))
    await cluster.stop()
  })

  /** Goes to the master of the key as the product does. */
  const useOf = (redis: Redis, role: 'blocking' | 'commands'): (() => Promise<unknown>) => {
    if (role === 'commands') {
      const writes = createWrites(redis, redis, 0)
      return () => writes.run(KEY, node => node.set(KEY, '1'))
    }
    const reads = createBlockingReads(redis)
    return () => reads.read(KEY, node => node.blpop(`{${KEY}}list`, 0.05))
  }
  const untilAllUse = (): Promise<unknown> =>
    until('every client uses the master', async () => {
      const done = await Promise.allSettled(uses.map(use => use()))
      return done.every(({ status }) => status === 'fulfilled')
    })

  it('find it again when no other node answered the first time', async () => {
    await start(0)
    await (await cluster.masterOf(KEY)).ask('CLIENT', 'KILL', 'TYPE', 'normal')
    for (const node of cluster.nodes) node.signal('SIGSTOP')
    // Long enough for the other two to be asked once, and short enough that their connections are not cut.
    await delay(3_500)
    for (const node of cluster.nodes) node.signal('SIGCONT')
    await untilAllUse()
  })

  it('find it when a replica that was silent takes over by force', async () => {
    await start(1)
    const replica = await cluster.replicaOf(await cluster.masterOf(KEY))
    replica.signal('SIGSTOP')
    await delay(3_000)
    replica.signal('SIGCONT')
    await until('the replica takes over', () => replica.ask('CLUSTER', 'FAILOVER', 'TAKEOVER').catch(() => undefined))
    await until('all nodes agree', async () => {
      const views = await Promise.all(cluster.nodes.map(node => node.ask('CLUSTER', 'SLOTS')))
      const masters = (views as [number, number, [string, number]][][]).map(view => view.map(row => row[2][1]))
      return masters.every(ports => ports.includes(replica.port))
    })
    await untilAllUse()
  })
})
