/** A durable Redis with the users of this release keeps its data when it is restarted. */
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'chai'
import { connect, disconnect, type Redis } from '../../../redis/connection/connections.js'
import { unreplicated } from '../../../redis/connection/writes.js'
import { replayProblem, requireReplay } from '../../../redis/installation/aof-replay-rights.js'
import { newPaymentId } from '../../../redis/keys.js'
import { createCommitStore } from '../../../redis/payments/commits.js'
import { createPaymentStore } from '../../../redis/payments/payments.js'
import { createLogger } from '../../../runtime/log.js'
import { freePort } from '../../../scripts/start/ports.js'
import { anAcceptance, aPayment, createCommand, PARTITION } from '../../support/payments.js'
import { spawnRedis } from '../../support/redis-servers.js'
import { aclText, urlAs } from '../../support/redis-users.js'
import { testBinary } from '../../support/sentinels.js'

const log = createLogger('test', 'silent')
const OLD_DEFAULT_USER = 'user default off'
const PAYMENTS = 10_000
const PORTION = 500

describe('a durable Redis with a user per process that is restarted', () => {
  let dir = ''
  let url = ''
  let server: ReturnType<typeof spawnRedis> | undefined

  beforeEach(async () => {
    dir = await mkdtemp(join(existsSync('/dev/shm') ? '/dev/shm' : tmpdir(), 'replay-'))
  })
  afterEach(async () => {
    await stop()
    await rm(dir, { recursive: true, force: true })
  })

  async function start(acl: string): Promise<void> {
    const aclFile = join(dir, 'users.acl')
    await writeFile(aclFile, acl)
    const port = await freePort()
    url = `redis://127.0.0.1:${port}`
    const durable = ['--appendonly', 'yes', '--appendfsync', 'always', '--save', '']
    const place = ['--port', String(port), '--bind', '127.0.0.1', '--dir', dir, '--aclfile', aclFile]
    server = spawnRedis(await testBinary(), [...place, ...durable])
  }
  async function stop(): Promise<void> {
    if (server === undefined) return
    const ended = once(server, 'exit')
    // Its guard ends it with TERM when this pipe closes.
    server.stdin?.end()
    await ended
    server = undefined
  }
  async function as<T>(user: string, work: (redis: Redis) => Promise<T>): Promise<T> {
    const redis = await connect(urlAs(user, url), 'commands', log)
    try {
      return await work(redis)
    } finally {
      await disconnect(redis)
    }
  }
  const countKeys = (): Promise<number> => as('operator', redis => redis.dbsize())

  /** Accepts payments as `api`, and captures each of them as `payments`. */
  async function pay(count: number): Promise<void> {
    const api = await connect(urlAs('api', url), 'commands', log)
    const worker = await connect(urlAs('payments', url), 'commands', log)
    const [store, commits] = [createPaymentStore(unreplicated(api)), createCommitStore(unreplicated(worker))]
    const payOnce = async (number: number): Promise<void> => {
      const payment = aPayment({ terms: { id: newPaymentId(PARTITION, Date.now()) } })
      await store.acceptPayment(payment, createCommand, anAcceptance({ idempotencyRecordId: `record-${number}` }))
      const captured = {
        ...payment,
        version: payment.version + 1,
        progress: { ...payment.progress, status: 'captured' as const }
      }
      const write = {
        payment: captured,
        statusBefore: payment.progress.status,
        wake: { expiryAtMs: null, reconcileAtMs: null },
        operationResult: null
      }
      await commits.commit({ ...write, nowMs: Date.now(), ends: null, begins: null }, PARTITION)
    }
    for (let first = 0; first < count; first += PORTION)
      await Promise.all(Array.from({ length: Math.min(PORTION, count - first) }, (_, index) => payOnce(first + index)))
    await Promise.all([disconnect(api), disconnect(worker)])
  }

  it(`has every key of ${PAYMENTS} payments, and refuses a login without a password`, async () => {
    const acl = await aclText('durable')
    await start(acl)
    await pay(PAYMENTS)
    const before = await countKeys()
    expect(before).to.be.above(2 * PAYMENTS)
    await stop()
    await start(acl)
    expect(await countKeys()).to.equal(before)
    const anonymous: unknown = await connect(url, 'lock', log, 'REDLOCK_URLS').catch((error: unknown) => error)
    // At once, not when the time of a start is over.
    expect(String(anonymous)).not.to.contain('could not be used')
    expect(String(anonymous))
      .to.contain('NOAUTH')
      .and.contain(`The Redis of REDLOCK_URLS (${new URL(url).host}) refused the user "default"`)
      .and.contain('load memory-only.acl')
  })

  it('would lose almost all of them with a default user without rights, which the check reports before', async () => {
    const acl = (await aclText('durable')).replace(/^user default .*$/m, OLD_DEFAULT_USER)
    await start(acl)
    await pay(100)
    expect(await countKeys()).to.be.above(200)
    const problem = await as('payments', replayProblem)
    await stop()
    await start(acl)
    expect(await countKeys()).to.be.below(20)
    expect(problem)
      .to.match(/^The Redis of REDIS_URL loses payments at its next restart: .* may not run SELECT, SET, /)
      .and.contain('`ACL SETUSER default off resetpass ~* &* +@all`')
      .and.contain('do not rewrite the file')
  })

  for (const [rights, missing] of [
    ['~* +@all -xadd', 'XADD'],
    ['~* +@all -select', 'SELECT'],
    ['~{p*}:* +@all', 'SET, DEL']
  ] as const) {
    it(`is distinguished from one whose default user has ${rights}`, async () => {
      await start((await aclText('durable')).replace(/^user default .*$/m, `user default off ${rights}`))
      expect(await as('timers', replayProblem)).to.contain(`may not run ${missing}`)
    })
  }

  it('lets every process and the operator ask, refuses a start in live, and is a warning after a start', async () => {
    const acl = await aclText('durable')
    await start(acl)
    for (const user of ['api', 'tokens', 'notifications', 'payments', 'timers', 'webhooks', 'operator']) {
      expect(await as(user, replayProblem), user).to.equal(undefined)
    }
    await stop()
    await start(acl.replace(/^user default .*$/m, OLD_DEFAULT_USER))
    await as('api', async redis => {
      const told: string[] = []
      const context = (environment: 'live' | 'test') => ({
        config: { environment },
        onWarning: (part: string) => void told.push(part)
      })
      const refusal = await requireReplay(redis, context('live')).catch((error: unknown) => error)
      expect(String(refusal)).to.contain('loses payments at its next restart')
      expect(told).to.deep.equal([])
      await requireReplay(redis, context('test'))
      expect(told).to.deep.equal(['replay'])
    })
  })
})
