import { type AddressInfo, createServer, type Server } from 'node:net'
import { expect } from 'chai'
import { connect, disconnect } from '../../../redis/connection/connections.js'
import type { RedisVariable } from '../../../redis/connection/redis-errors.js'
import { createLogger } from '../../../runtime/log.js'
import { useRedis } from '../../support/redis.js'

/** A start that waits so long for a server reports more than its last refusal. */
const PATIENT_MS = 120_000

describe('a connection to a Redis that still loads its data', () => {
  let server: Server
  afterEach(() => server.close())

  it('is ready as soon as the server is, regardless of the estimate of the server', async () => {
    let asked = 0
    server = createServer(socket => {
      socket.on('data', data => {
        for (const [, command = ''] of data.toString().matchAll(/\*\d+\r\n\$\d+\r\n(\w+)/g)) {
          if (command === 'info') {
            const info = asked++ < 2 ? 'loading:1\r\nloading_eta_seconds:600\r\n' : 'loading:0\r\n'
            socket.write(`$${info.length}\r\n${info}\r\n`)
          } else socket.write(command === 'hello' ? '%1\r\n+proto\r\n:3\r\n' : '+OK\r\n')
        }
      })
    })
    await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
    const { port } = server.address() as AddressInfo
    const log = createLogger('test', 'silent')
    const redis = await connect(`redis://127.0.0.1:${port}`, 'commands', log, 'REDIS_URL', PATIENT_MS)
    await disconnect(redis)
    expect(asked).to.equal(3)
  })
})

describe('a connection that never comes about', () => {
  const failure = (url: string, variable: RedisVariable = 'REDIS_URL'): Promise<unknown> =>
    connect(url, 'commands', createLogger('test', 'silent'), variable, 300).catch((error: unknown) => error)

  it('says which setting named the server', async () => {
    const error = await failure('redis://127.0.0.1:1', 'SECRETS_REDIS_URL')
    expect(String(error)).to.match(/The Redis of SECRETS_REDIS_URL \(127\.0\.0\.1:1\) could not be used for 300 ms/)
  })
})

describe('a Redis that refuses', () => {
  const test = useRedis()
  const log = createLogger('test', 'silent')
  const urlOf = (login: string): string => test.url.replace('redis://', `redis://${login}@`)
  const advice = (): string =>
    `The Redis of REDIS_URL (${new URL(test.url).host}) refused the user "narrow": correct user and password in REDIS_URL, or load durable.acl of this release into that server (docs/SECURITY.md, Redis)`
  beforeEach(() =>
    test.redis.acl(
      'SETUSER',
      'narrow',
      'on',
      '>narrow',
      '~allowed',
      '-@all',
      '+info',
      '+select',
      '+get',
      '+evalsha',
      '+eval'
    )
  )
  afterEach(() => test.redis.acl('DELUSER', 'narrow'))

  it('a login is reported at once, with setting, server and user, and without the password', async () => {
    const error: unknown = await connect(urlOf('narrow:secret-word'), 'commands', log, 'REDIS_URL', PATIENT_MS).catch(
      (thrown: unknown) => thrown
    )
    expect(String(error)).not.to.contain('could not be used')
    expect(String(error))
      .to.match(/WRONGPASS/)
      .and.contain(advice())
    expect(String(error)).not.to.contain('secret-word')
  })

  it('the database of the address is reported, instead of database 0 being used', async () => {
    await test.redis.acl('SETUSER', 'narrow', '-select')
    const url = urlOf('narrow:narrow').replace(/\d+$/, '1')
    const error: unknown = await connect(url, 'commands', log).catch((thrown: unknown) => thrown)
    expect(String(error)).to.match(/NOPERM .*has no permissions to run the 'select' command/)
  })

  it('a command, a key or a script is reported with setting, server and user', async () => {
    const redis = await connect(urlOf('narrow:narrow'), 'commands', log)
    const told = advice()
    for (const work of [
      () => redis.set('allowed', '1'),
      () => redis.get('other'),
      () => redis.eval("return redis.call('SET', KEYS[1], '1')", 1, 'allowed')
    ]) {
      const error: unknown = await work().catch((thrown: unknown) => thrown)
      expect(String(error)).to.contain(told)
    }
    await disconnect(redis)
  })
})
