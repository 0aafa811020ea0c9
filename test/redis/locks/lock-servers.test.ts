import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'chai'
import { openLockServers } from '../../../redis/locks/lock-servers.js'
import { createPaymentLock } from '../../../redis/locks/payment-lock.js'
import { until, untilFast } from '../../support/conditions.js'
import { ConditionsUnderTest } from '../../support/conditions-of.js'
import { RedisNode } from '../../support/redis-node.js'
import { testBinary } from '../../support/sentinels.js'

/** To take a lock, work and release it: a silent server's command times out after 1 s. */
const HOLD_MAX_MS = 2_500

describe('a worker with three lock servers', () => {
  const servers: RedisNode[] = []
  let dir = ''
  let process: ConditionsUnderTest

  before(async () => {
    dir = await mkdtemp(join(tmpdir(), 'payments-locks-'))
    for (const name of ['a', 'b', 'c']) servers.push(await RedisNode.start(await testBinary(), join(dir, name), []))
  })
  after(async () => {
    await Promise.all(servers.map(server => server.stop()))
    await rm(dir, { recursive: true, force: true })
  })
  beforeEach(() => {
    process = new ConditionsUnderTest()
  })
  afterEach(() => process.stop())

  const open = () => {
    const { log, onStop, onWarning } = process
    const config = { redlockUrls: servers.map(({ url }) => url), secretsRedisUrl: 'redis://127.0.0.1:1' }
    return openLockServers({ config, log, onStop, onWarning })
  }
  const restart = async (server: RedisNode | undefined): Promise<void> => {
    await server?.restart()
  }

  it('starts while one of them is away, warns of it, and uses it when it is back', async () => {
    await servers[0]?.kill()
    const lock = createPaymentLock(open(), 1_000, process.log)
    const tried = () => lock.withLock('p1', async () => 'done').catch(() => null)
    await until('a majority is connected', async () => (await tried()) === 'done')
    const { problems, warnings } = await process.health()
    expect(problems).to.deep.equal({})
    expect(warnings['locks']).to.contain(
      `1 of the 3 servers of REDLOCK_URLS do not answer: 127.0.0.1:${servers[0]?.port}`
    )
    await restart(servers[0])
    await until('all three answer', async () => !('locks' in (await process.health()).warnings))
  })

  for (const [how, signal] of [
    ['falls silent', 'SIGSTOP'],
    ['is killed', 'SIGKILL']
  ] as const) {
    it(`holds locks when one of them ${how} while it runs`, async () => {
      const [a, b] = [createPaymentLock(open(), 5_000, process.log), createPaymentLock(open(), 5_000, process.log)]
      const isHeld = async (): Promise<boolean> =>
        (await a.withLock('p3', () => b.withLock('p3', async () => 'done')).catch(() => null)) === 'taken'
      await until('all three answer', async () => !('locks' in (await process.health()).warnings))
      servers[0]?.signal(signal)
      try {
        for (let times = 0; times < 3; times++)
          await untilFast('a lock holds', HOLD_MAX_MS, () => until('locks hold', isHeld))
      } finally {
        if (signal === 'SIGSTOP') servers[0]?.signal('SIGCONT')
        else await servers[0]?.kill().then(() => restart(servers[0]))
      }
    })
  }

  it('works without locks when two of them are away, and warns of it', async () => {
    await Promise.all([servers[0]?.kill(), servers[1]?.kill()])
    const [a, b] = [createPaymentLock(open(), 500, process.log), createPaymentLock(open(), 500, process.log)]
    const worksWith = async (lock: typeof a) =>
      (await lock.withLock('p2', async () => 'done').catch(() => null)) === 'done'
    const startedMs = performance.now()
    await until('the payment is worked on', () => worksWith(a))
    expect(performance.now() - startedMs).to.be.at.least(500)
    await until('both work on it', () => a.withLock('p2', () => worksWith(b)))
    const { problems, warnings } = await process.health()
    expect(problems).to.deep.equal({})
    expect(warnings['locks']).to.contain('2 of the 3 servers of REDLOCK_URLS do not answer')
    expect(warnings['locks']).to.contain('without locks')
    await restart(servers[1])
    const isTaken = (): Promise<unknown> => a.withLock('p2', () => b.withLock('p2', async () => 'done'))
    await until('locks hold again', async () => (await isTaken().catch(() => null)) === 'taken')
    await restart(servers[0])
  })
})
