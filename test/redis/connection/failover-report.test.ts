import { type AddressInfo, createServer, type Server, type Socket } from 'node:net'
import { connect, disconnect, type Redis } from '../../../redis/connection/connections.js'
import { delay } from '../../../runtime/delay.js'
import { createLogger } from '../../../runtime/log.js'
import { until } from '../../support/conditions.js'
import { useRedis } from '../../support/redis.js'

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
