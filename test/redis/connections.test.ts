import { type AddressInfo, createServer, type Server } from 'node:net'
import { expect } from 'chai'
import { connect, disconnect } from '../../redis/connections.js'
import { createLogger } from '../../runtime/log.js'
import { useRedis } from '../support/redis.js'

describe('a connection to a Redis that still loads its data', () => {
  let server: Server
  afterEach(() => server.close())

  it('is ready as soon as the server is, whatever the server guessed', async () => {
    let asked = 0
    server = createServer(socket => {
      socket.on('data', data => {
        for (const [, command = ''] of data.toString().matchAll(/\*\d+\r\n\$\d+\r\n(\w+)/g)) {
          if (command === 'info') {
            const info = asked++ < 2 ? 'loading:1\r\nloading_eta_seconds:8\r\n' : 'loading:0\r\n'
            socket.write(`$${info.length}\r\n${info}\r\n`)
          } else socket.write(command === 'hello' ? '%1\r\n+proto\r\n:3\r\n' : '+OK\r\n')
        }
      })
    })
    await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
    const startedMs = performance.now()
    const { port } = server.address() as AddressInfo
    const redis = await connect(`redis://127.0.0.1:${port}`, 'commands', createLogger('test', 'silent'))
    const tookMs = performance.now() - startedMs
    await disconnect(redis)
    expect(asked).to.equal(3)
    expect(tookMs).to.be.below(4_000)
  })
})

describe('a connection that never comes about', () => {
  const test = useRedis()
  const failure = (url: string): Promise<unknown> =>
    connect(url, 'commands', createLogger('test', 'silent'), 300).catch((error: unknown) => error)

  it('says why, and never the password', async () => {
    const error = await failure(test.url.replace('redis://', 'redis://nobody:secret-word@'))
    expect(error).to.have.property('message').that.contains('WRONGPASS')
    expect(String(error)).not.to.contain('secret-word')
  })
})
