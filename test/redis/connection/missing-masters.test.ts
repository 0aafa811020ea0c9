import { type AddressInfo, createServer, type Server, type Socket } from 'node:net'
import { expect } from 'chai'
import { createBlockingReads } from '../../../redis/connection/blocking-reads.js'
import { connect, disconnect, type Redis, type Role } from '../../../redis/connection/connections.js'
import { createWrites } from '../../../redis/connection/writes.js'
import { delay } from '../../../runtime/delay.js'
import { createLogger } from '../../../runtime/log.js'
import { type BlackholeProxy, startBlackholeProxy } from '../../chaos/blackhole-proxy.js'
import { until } from '../../support/conditions.js'
import { useRedis } from '../../support/redis.js'
import { RedisCluster } from '../../support/redis-cluster.js'
import { lateWorkers, openWorker, type Worker } from '../../support/redis-kinds.js'
import { testBinary } from '../../support/sentinels.js'

const CLIENTS = 10
/** How often each of them connects anew. */
const TIMES = 5
/** What the client of a Cluster can besides commands. */
interface Reconnecting {
  on(event: 'connecting', listener: () => void): void
  disconnect(isReconnecting: true): void
}
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

  it('are usable without further attempts, whichever node they ask for the state of the Cluster', async () => {
    await start(0)
    let attempts = 0
    for (const redis of clients as unknown as Reconnecting[]) redis.on('connecting', () => attempts++)
    for (let time = 1; time <= TIMES; time++) {
      for (const redis of clients as unknown as Reconnecting[]) redis.disconnect(true)
      await until('each has tried again', () => attempts >= time * CLIENTS)
      await untilAllUse()
    }
    // On a busy machine a node may not answer in its time.
    expect(attempts).to.be.within(TIMES * CLIENTS, 1.3 * TIMES * CLIENTS)
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

/** A Sentinel that names one master, answers after a while, and can report a failover. */
interface Sentinel {
  readonly url: string
  /** It names the master when this has resolved. */
  answering: Promise<void>
  asked: number
  /** Clients that listen for failovers. */
  readonly listeners: Set<Socket>
  readonly server: Server
}

async function startSentinel(masterPort: number): Promise<Sentinel> {
  const list = (...items: string[]): string =>
    `*${items.length}\r\n${items.map(item => `$${item.length}\r\n${item}\r\n`).join('')}`
  const listeners = new Set<Socket>()
  const server = createServer(socket => {
    socket.on('error', () => undefined).once('close', () => listeners.delete(socket))
    socket.on('data', async data => {
      const text = data.toString()
      for (const [, command = ''] of text.matchAll(/\*\d+\r\n\$\d+\r\n(\w+)/g)) {
        if (command === 'hello') socket.write('%1\r\n+proto\r\n:3\r\n')
        else if (command === 'subscribe') {
          listeners.add(socket)
          socket.write('>3\r\n$9\r\nsubscribe\r\n$14\r\n+switch-master\r\n:1\r\n')
        } else if (command === 'sentinel' && text.includes('get-master-addr')) {
          sentinel.asked++
          await sentinel.answering
          socket.write(list('127.0.0.1', String(masterPort)))
        } else socket.write(command === 'sentinel' ? '*0\r\n' : '+OK\r\n')
      }
    })
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  const sentinel: Sentinel = {
    url: `redis-sentinel://127.0.0.1:${port}/payments`,
    answering: Promise.resolve(),
    asked: 0,
    listeners,
    server
  }
  return sentinel
}

/** The usual order of a failover: the master is lost, clients ask the Sentinels, and these report the new one. */
describe('a failover that is reported while a client asks the Sentinels', () => {
  const test = useRedis()
  let sentinel: Sentinel
  let redis: Redis

  before(async () => {
    sentinel = await startSentinel(Number(new URL(test.url).port))
    redis = await connect(sentinel.url, 'commands', createLogger('test', 'silent'))
  })
  after(async () => {
    await disconnect(redis)
    sentinel.server.close()
  })

  it('does not end the client', async () => {
    await until('the client listens for failovers', () => sentinel.listeners.size > 0)
    let answer = (): void => undefined
    sentinel.answering = new Promise(resolve => {
      answer = resolve
    })
    const { asked } = sentinel
    const [, id] = /^id=(\d+)/.exec(String(await redis.call('CLIENT', 'INFO'))) ?? []
    await test.redis.call('CLIENT', 'KILL', 'ID', id ?? '')
    await until('the client asks the Sentinel', () => sentinel.asked > asked)
    for (const listener of sentinel.listeners) {
      listener.write('>3\r\n$7\r\nmessage\r\n$14\r\n+switch-master\r\n$1\r\nx\r\n')
    }
    await delay(100)
    answer()
    sentinel.answering = Promise.resolve()
    await until('the client works again', () => redis.ping().catch(() => undefined))
  })
})

const ROLES: readonly Role[] = ['commands', 'blocking', 'subscriber', 'lock']
/** Ten seconds of a quiet machine. */
const BACK_WITHIN_ROUNDS = 200

/** A host that vanishes sends neither FIN nor RST. The kernel gives such a connection up after about 15 minutes. */
describe('connections to a Redis that goes silent without closing them', () => {
  const test = useRedis()
  const opened: Redis[] = []
  let proxy: BlackholeProxy

  beforeEach(async () => {
    proxy = await startBlackholeProxy(test.url)
  })
  afterEach(async () => {
    for (const redis of opened.splice(0)) redis.disconnect()
    await proxy.stop()
  })

  const open = async (role: Role): Promise<Worker> => {
    const worker = await openWorker(proxy.url, role, () => test.redis)
    opened.push(worker.redis)
    return worker
  }

  it('work again within 10 s, in each role', async () => {
    const workers: Worker[] = []
    for (const role of ROLES) workers.push(await open(role))
    const server = { port: Number(new URL(test.url).port) }
    expect(await lateWorkers([server], workers, BACK_WITHIN_ROUNDS)).to.deep.equal([])
    proxy.blackhole()
    expect(await lateWorkers([server], workers, BACK_WITHIN_ROUNDS)).to.deep.equal([])
    expect([proxy.silenced(), proxy.resets()]).to.deep.equal([0, ROLES.length])
  })

  it('are cut although they are idle, before they are needed', async () => {
    const commands = await open('commands')
    proxy.blackhole()
    await until('the silent connection is cut', () => proxy.resets() === 1)
    await until('another one works', () => commands.work().catch(() => undefined))
  })
})
