import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { connect as connectTls } from 'node:tls'
import { expect } from 'chai'
import { testChange } from '../../../machines/status-change.js'
import { connect, disconnect, type Redis } from '../../../redis/connection/connections.js'
import { usersOf } from '../../../redis/installation/acl-rights.js'
import { replayedCommands } from '../../../redis/installation/aof-replay-rights.js'
import { keys, newPaymentId, paymentKeyOf } from '../../../redis/keys.js'
import { encodeLineMember } from '../../../redis/webhooks/delivery-entry.js'
import { loggedEvent } from '../../../redis/webhooks/webhook-event.js'
import { createLogger } from '../../../runtime/log.js'
import { startRedis } from '../../../scripts/start/embedded-redis.js'
import type { EmbeddedServer } from '../../../scripts/start/embedded-server.js'
import { makeLoopbackTls } from '../../../scripts/start/loopback-tls.js'
import { freePort } from '../../../scripts/start/ports.js'
import { obtainRedis } from '../../../scripts/start/redis-binary.js'
import { namesInBlocks } from '../../support/append-only-file.js'
import { until } from '../../support/conditions.js'
import { Merchant, registerHook } from '../../support/merchant.js'
import { type Receiver, startReceiver } from '../../support/receiver.js'
import { recordUse, type UseRecorder } from '../../support/redis-use.js'
import { makeRedisUsers, procfileWith, urlAs } from '../../support/redis-users.js'
import { type ServiceUnderTest, startService } from '../../support/service.js'
import { eventLogOf } from '../../support/webhooks.js'
import { CANCELLED, QUICK } from '../card-data/shopping.js'
import { COPYING, DENIED } from './denied.js'
import { livePayments } from './lives.js'
import { rareWork } from './rare-work.js'
import { entryFiles, hashOf, imported, scriptsOf } from './scripts-of-processes.js'

const log = createLogger('test', 'silent')

type Server = 'durable' | 'memoryOnly'

/** The users of processes. */
const processes: Readonly<Record<Server, readonly string[]>> = {
  durable: ['api', 'tokens', 'notifications', 'payments', 'timers', 'webhooks', 'archive', 'inspector'],
  memoryOnly: ['api', 'tokens', 'payments', 'webhooks']
}

/** Rights that every connection has, that a Cluster needs (redis-cluster/cluster.test.ts), and that MONITOR leaves out. */
const NOT_SEEN = /^\+(client\|setname|info|ping|quit|cluster\|.*|readonly|readwrite|asking|acl\|dryrun)$/

describe('Redis with TLS and a user per process (ops/redis)', () => {
  let dir = ''
  let service: ServiceUnderTest
  const merchant = new Merchant(() => service)
  let servers: { durable: EmbeddedServer; memoryOnly: EmbeddedServer }
  let tls: { durable: string; memoryOnly: string }
  let receiver: Receiver
  /** Of the receiver, from now on. */
  const answers = { status: 204 }
  const admins: Redis[] = []
  let recorders: Readonly<Record<Server, UseRecorder>>

  before(async () => {
    dir = await mkdtemp(join(tmpdir(), 'redis-access-'))
    const binary = await obtainRedis(resolve('.vendor'), line => process.stderr.write(`${line}\n`))
    const material = await makeLoopbackTls()
    for (const part of ['ca', 'cert', 'key'] as const) await writeFile(join(dir, `${part}.pem`), material[part])
    const start = async (kind: 'redis' | 'secrets-redis'): Promise<EmbeddedServer> =>
      startRedis({ kind, binary, port: await freePort(), dir: join(dir, kind), onOutput: () => undefined })
    servers = { durable: await start('redis'), memoryOnly: await start('secrets-redis') }
    for (const { url } of [servers.durable, servers.memoryOnly]) admins.push(await connect(url, 'commands', log))
    const [durable, memoryOnly] = admins as [Redis, Redis]
    tls = { durable: await speakTls(durable, dir), memoryOnly: await speakTls(memoryOnly, dir) }
    await makeRedisUsers(durable, 'durable')
    await makeRedisUsers(memoryOnly, 'memory-only')
    recorders = { durable: await recordUse(servers.durable.url), memoryOnly: await recordUse(servers.memoryOnly.url) }
    service = await startService({
      env: {
        ...QUICK.env,
        WEBHOOK_RETRY_DELAYS_MS: '300,300,300,300',
        RATE_LIMIT_PER_SECOND: '1000',
        REDIS_URL: servers.durable.url,
        SECRETS_REDIS_URL: servers.memoryOnly.url
      },
      procfile: await procfileWith(name => [
        `REDIS_URL=${urlAs(name, tls.durable)}`,
        `SECRETS_REDIS_URL=${urlAs(name, tls.memoryOnly)}`,
        `NODE_EXTRA_CA_CERTS=${join(dir, 'ca.pem')}`
      ])
    })
    receiver = await startReceiver(response => response.writeHead(answers.status).end(), material)
    await registerHook(service, receiver.url)
  })
  after(async () => {
    await service?.stop()
    await receiver?.stop()
    await Promise.all(Object.values(recorders ?? {}).map(recorder => recorder.stop()))
    await Promise.all(admins.map(disconnect))
    await Promise.all([servers?.durable.process.stop(2_000), servers?.memoryOnly.process.stop(2_000)])
    await rm(dir, { recursive: true, force: true })
  })

  it('lets payments live: token, card, capture, refund, unknown outcome, dead worker, chargeback, webhooks', async () => {
    await livePayments(service)
    const stored = await merchant.storeCard()
    const source = { ...stored, cvv_token_id: await merchant.cvvToken() }
    expect((await merchant.create({ source })).payment.status).to.equal('captured')
    const declined = { ...(await merchant.storeCard(CANCELLED)), cvv: '123' }
    for (const sent of ['payment_id', undefined]) {
      const { error } = await merchant.create({ source: declined })
      expect(error).to.include({ code: 'card_declined', decline_reason: 'blocked_card', may_retry: false })
      // The second one is refused unsent.
      expect(Object.keys(error).includes('payment_id')).to.equal(sent !== undefined)
    }
    expect(await merchant.card('DELETE', stored.card_id)).to.equal(204)
    await until('webhooks have arrived', () => receiver.received.length > 5)
    const events = '/v1/test/webhook-events'
    for (const path of [events, events]) expect((await merchant.post(path, undefined)).status).to.equal(201)
    const listed = (): Promise<{ items: { event_id: string }[] }> => merchant.get(`${events}?limit=100`)
    const event = await until('an event is listed', async () => (await listed()).items.at(-1))
    expect((await merchant.post(`${events}/${event.event_id}/replay`, undefined)).status).to.equal(200)
  })

  it('lets a dead endpoint come back: its events wait, one is tried, all are delivered', async () => {
    const admin = admins[0] as Redis
    const event = () => merchant.post('/v1/test/webhook-events', undefined)
    answers.status = 500
    const has = async (list: string) => (await admin.keys(`*:${list}:*`)).length > 0
    const fails = /^card_payments_webhook_failing_seconds 0*[1-9.]/m
    await until('the endpoint is paused', async () => {
      await event()
      const stored = await Promise.all((await admin.keys('*:hookfailing:*')).map(key => admin.get(key)))
      const pausedUntilMs = stored.map(failing => JSON.parse(failing ?? '[]')[3])
      return pausedUntilMs.some(ms => ms > 0)
    })
    expect((await service.ops('webhooks.1', '/metrics')).text).to.match(fails)
    answers.status = 204
    await until('all are delivered', async () => !(await has('hookfifo')))
    answers.status = 410
    await event()
    await until('an event is given up', () => has('hookgone'))
  })

  it('lets workers dead-letter what is not a command', async () => {
    const admin = admins[0] as Redis
    for (const stream of [keys.commands(0), keys.deliveries(0)]) await admin.xadd(stream, '*', 'no', 'command')
    await until('both are dead letters', async () => (await admin.xlen(keys.deadLetters(0))) === 2)
  })

  it('reads the figures of all processes', async () => {
    // What an operator sees of the whole installation is read for each scrape.
    const metrics = async (): Promise<string> => (await service.ops('timers.1', '/metrics')).text
    await until('one worker is alive', async () => (await metrics()).includes('card_payments_workers_alive 1'))
    const told = await metrics()
    expect(told).to.match(/^card_payments_redis_memory_used_bytes\{redis="durable"\} \d{6,}$/m)
    const toldByTokens = (await service.ops('tokens.1', '/metrics')).text
    expect(toldByTokens).to.match(/^card_payments_redis_memory_limit_bytes\{redis="memory_only"\} \d{6,}$/m)
    for (const name of processes.durable) await service.ops(`${name}.1`, '/metrics').catch(() => undefined)
  })

  it('writes nothing in a block of its append-only file that the check of the default user leaves out', async () => {
    const names = replayedCommands.map(([name, first]) => (name === 'XGROUP' ? `${name} ${first}` : name))
    const found = await namesInBlocks(join(dir, 'redis'))
    expect(found.size).to.be.above(8)
    expect([...found].filter(name => !names.includes(name))).to.deep.equal([])
  })

  it('runs over TLS, and every process as its own user', async () => {
    const list = String(await admins[0]?.client('LIST'))
    for (const user of ['api', 'tokens', 'notifications', 'payments', 'timers'])
      expect(list).to.contain(`user=${user} `)
    const refusal = await new Promise(answer => {
      connectTls(Number(new URL(tls.durable).port), 'localhost')
        .once('error', answer)
        .once('secureConnect', answer)
    })
    expect(refusal, 'this process does not trust the certificate').to.be.an('error')
  })

  describe('of webhooks', () => {
    it('lets api read an event that waits, and send it at once', async () => {
      const admin = admins[0] as Redis
      const redis = await connect(urlAs('api', servers.durable.url), 'commands', log)
      const change = testChange(newPaymentId(0, Date.now()), Date.now())
      const line = keys.webhookLine(0, 'm')
      const member = encodeLineMember({ paymentKey: paymentKeyOf(change.paymentId), merchantId: 'm' })
      await admin.zadd(line, Date.now() + 3_600_000, member)
      expect(await eventLogOf(redis, 1).newest('m', 10)).to.deep.equal([])
      await eventLogOf(redis, 1).replay(loggedEvent('m', 'waiting', change))
      await recorders.durable.settled()
      await disconnect(redis)
      // It is 0 when `timers` has taken it already.
      expect(Number(await admin.zscore(line, member))).to.be.at.most(Date.now())
      await admin.del(line)
    })
  })

  describe('when the service has stopped', () => {
    before(() => service.stop())

    for (const { user, server, what, work } of rareWork) {
      it(`lets ${user} ${what} (${server})`, async () => {
        const redis = await connect(urlAs(user, servers[server].url), 'commands', log)
        try {
          await work(redis, admins[server === 'durable' ? 0 : 1] as Redis)
          await recorders[server].settled()
        } finally {
          await disconnect(redis)
        }
      })
    }

    it('denied nothing', async () => {
      for (const redis of admins) {
        const denied = (await redis.acl('LOG', 1_000)) as unknown[][]
        expect(denied.map(entry => entry.join(' '))).to.deep.equal([])
      }
    })

    for (const user of Object.keys(entryFiles)) {
      it(`ran every script of ${user} as its user`, async () => {
        const ran = new Set([...recorders.durable.scripts(user), ...recorders.memoryOnly.scripts(user)])
        const missing: string[] = []
        for (const name of scriptsOf(user)) if (!ran.has(await hashOf(name))) missing.push(name)
        expect(missing).to.deep.equal(imported[user] ?? [])
      })
    }

    for (const [server, users] of Object.entries(processes) as [Server, readonly string[]][]) {
      for (const user of users) {
        it(`gives ${user} no right that it makes no use of (${server})`, () => {
          const rules = usersOf(server === 'durable' ? 'REDIS_URL' : 'SECRETS_REDIS_URL').get(user) ?? []
          expect(recorders[server].unused(user, rules).filter(rule => !NOT_SEEN.test(rule))).to.deep.equal([])
        })
      }
    }
  })

  describe('a user', () => {
    for (const [user, server, ...command] of DENIED) {
      it(`does not let ${user} ${command.join(' ')} (${server})`, async () => {
        const redis = await connect(urlAs(user, servers[server].url), 'commands', log)
        const [name, ...args] = command
        const answer = await redis.call(name, ...args).catch(String)
        await disconnect(redis)
        expect(answer).to.contain('NOPERM')
      })
    }

    for (const [server, users] of Object.entries(processes) as [Server, readonly string[]][]) {
      for (const user of [...users, 'operator']) {
        it(`does not let ${user} read a password or copy the data (${server})`, async () => {
          const redis = await connect(urlAs(user, servers[server].url), 'commands', log)
          const answers = await Promise.all(COPYING.map(([name, ...args]) => redis.call(name, ...args).catch(String)))
          await disconnect(redis)
          expect(answers.filter(answer => !String(answer).includes('NOPERM'))).to.deep.equal([])
        })
      }
    }

    it('lets no client in with another password', async () => {
      for (const user of ['api', 'payments', 'operator']) {
        expect(await admins[0]?.call('AUTH', user, 'another').catch(String)).to.contain('WRONGPASS')
      }
    })
  })
})

/** Opens a second, encrypted port of a running Redis, with the files of a folder. */
async function speakTls(redis: Redis, dir: string): Promise<string> {
  const port = await freePort()
  const [ca, cert, key] = ['ca', 'cert', 'key'].map(part => join(dir, `${part}.pem`)) as [string, string, string]
  const settings = ['tls-cert-file', cert, 'tls-key-file', key, 'tls-ca-cert-file', ca]
  await redis.call('CONFIG', 'SET', ...settings, 'tls-auth-clients', 'no', 'tls-port', String(port))
  return `rediss://localhost:${port}`
}
