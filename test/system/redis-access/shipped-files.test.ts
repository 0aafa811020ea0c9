import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { expect } from 'chai'
import { makeLoopbackTls } from '../../../scripts/start/loopback-tls.js'
import { type Login, ShippedRedis } from '../../live-drill/shipped-redis.js'
import { unixUsers } from '../../live-drill/unix-users.js'
import { until } from '../../support/conditions.js'
import { testBinary } from '../../support/sentinels.js'

/** The client says that the login failed, and that it has none. */
const REFUSED = /NOAUTH|WRONGPASS/

type Kind = 'durable' | 'memory-only'

describe('the configuration and ACL files of ops/redis', () => {
  let dir = ''
  const servers: ShippedRedis[] = []
  beforeEach(async () => {
    dir = await mkdtemp(join(tmpdir(), 'shipped-redis-'))
  })
  afterEach(async () => {
    await Promise.all(servers.splice(0).map(server => server.stop()))
    await rm(dir, { recursive: true, force: true })
  })

  /** Under the user of the test itself: another one could not enter its folder. */
  async function start(kind: Kind, name: string = kind): Promise<ShippedRedis> {
    const server = await ShippedRedis.create({
      kind,
      binary: await testBinary(),
      filesDir: resolve('ops/redis'),
      dir: join(dir, name),
      tls: await tls(),
      users: unixUsers(['no-such-file']),
      onOutput: () => undefined
    })
    servers.push(server)
    await server.start()
    return server
  }
  let material: ReturnType<typeof makeLoopbackTls> | undefined
  const tls = (): ReturnType<typeof makeLoopbackTls> => (material ??= makeLoopbackTls())

  async function restart(server: ShippedRedis): Promise<void> {
    await server.stop()
    await server.start()
  }

  /** Two writes in one transaction, as every commit of a payment makes them. */
  async function commitAs(server: ShippedRedis, user: string, count: number): Promise<void> {
    const script = `for i = 1, ${count} do redis.call('HSET', '{p00}:pay:' .. i, 'a', '1') end`
    await server.askAs(server.login(user), 'EVAL', script, '1', '{p00}:pay:1')
  }

  it('keep every key when the durable Redis restarts, and let no one in without a password', async () => {
    const server = await start('durable')
    await commitAs(server, 'payments', 100)
    expect(await server.keyCount()).to.equal(100)
    await restart(server)
    expect(await server.keyCount()).to.equal(100)
    expect(await refusal(server.askAs(undefined, 'DBSIZE'))).to.match(REFUSED)
    expect(await refusal(server.askAs({ user: 'default', password: 'x' }, 'DBSIZE'))).to.match(REFUSED)
  })

  it('let the administrator back up, rewrite, and look at slow commands and clients', async () => {
    const server = await start('durable')
    await commitAs(server, 'payments', 100)
    expect(await server.ask('CONFIG', 'SET', 'auto-aof-rewrite-percentage', '0')).to.equal('OK')
    await server.ask('BGREWRITEAOF')
    await until('it is rewritten', async () =>
      (await server.ask('INFO', 'persistence')).includes('aof_rewrite_in_progress:0')
    )
    for (const command of ['SLOWLOG GET', 'SLOWLOG LEN', 'LATENCY LATEST', 'CLIENT LIST', 'ACL LIST', 'ACL LOAD'])
      await server.ask(...command.split(' '))
    await restart(server)
    expect(await server.keyCount()).to.equal(100)
  })

  for (const kind of ['durable', 'memory-only'] as const) {
    it(`let the administrator end an endless script of a process (${kind})`, async () => {
      const server = await start(kind)
      await server.ask('CONFIG', 'SET', 'busy-reply-threshold', '50')
      const endless = refusal(server.askAs(server.login('api'), 'EVAL', 'while true do end', '0'))
      await until('it is ended', async () => (await refusal(server.ask('SCRIPT', 'KILL'))).includes('OK'))
      expect(await endless).to.contain('killed')
    })

    it(`let a replica of the ${kind} Redis follow it, and the administrator promote the replica`, async () => {
      const master = await start(kind, 'master')
      const replica = await start(kind, 'replica')
      const { user, password } = master.login('replication')
      await master.ask('CONFIG', 'SET', 'repl-diskless-sync-delay', '0')
      await replica.ask('CONFIG', 'SET', 'masteruser', user, 'masterauth', password)
      await replica.ask('REPLICAOF', 'localhost', String(master.port))
      await until('it follows', async () =>
        (await replica.ask('INFO', 'replication')).includes('master_link_status:up')
      )
      expect(await replica.ask('REPLICAOF', 'NO', 'ONE')).to.equal('OK')
      if (kind === 'memory-only') expect(await readdir(master.dataDir)).to.deep.equal([])
    })
  }

  it('let Sentinel and an exporter do what they need', async () => {
    const server = await start('durable')
    const as = async (login: Login, ...commands: string[]): Promise<void> => {
      for (const command of commands) await server.askAs(login, ...command.split(' '))
    }
    const sentinel = ['PING', 'INFO', 'ROLE', 'PUBLISH __sentinel__:hello x', 'CONFIG REWRITE', 'SLAVEOF NO ONE']
    await as(server.login('sentinel'), ...sentinel, 'CLIENT KILL TYPE pubsub')
    const exporter = ['PING', 'INFO ALL', 'DBSIZE', 'SLOWLOG LEN', 'LATENCY LATEST', 'LATENCY HISTOGRAM']
    await as(server.login('exporter'), ...exporter)
  })

  it('never write data of the memory-only Redis to a disk', async () => {
    const server = await start('memory-only')
    await server.askAs(server.login('tokens'), 'SET', 'rate:x', '1')
    await restart(server)
    expect(await server.keyCount()).to.equal(0)
    expect(await readdir(server.dataDir)).to.deep.equal([])
  })
})

async function refusal(answer: Promise<string>): Promise<string> {
  return await answer.catch(String)
}
