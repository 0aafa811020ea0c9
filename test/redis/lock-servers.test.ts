import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'chai'
import { openLockServers } from '../../redis/lock-servers.js'
import { createPaymentLock } from '../../redis/payment-lock.js'
import { RedisNode } from '../../scripts/cluster/redis-node.js'
import { until } from '../support/conditions.js'
import { ConditionsUnderTest } from '../support/conditions-of.js'
import { testBinary } from '../support/sentinels.js'

describe('a worker with three lock servers', function () {
  this.timeout(40_000)
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

  const open = async (startDeadlineMs = 5_000) => {
    const { log, onStop, onReadyCheck, onWarning } = process
    const config = { redlockUrls: servers.map(({ url }) => url), secretsRedisUrl: 'redis://127.0.0.1:1' }
    return await openLockServers({ config, log, onStop, onReadyCheck, onWarning }, startDeadlineMs)
  }
  const restart = async (server: RedisNode | undefined): Promise<void> => {
    await server?.restart()
  }

  it('starts while one of them is away, warns of it, and uses it when it is back', async () => {
    await servers[0]?.kill()
    const lock = createPaymentLock(await open(), 1_000, process.log)
    expect(await lock.hold('p1', async () => 'done')).to.equal('done')
    const { problems, warnings } = await process.health()
    expect(problems).to.deep.equal({})
    expect(warnings['locks']).to.contain(
      `1 of the 3 servers of REDLOCK_URLS do not answer: 127.0.0.1:${servers[0]?.port}`
    )
    await restart(servers[0])
    await until('all three answer', async () => !('locks' in (await process.health()).warnings))
  })

  it('is not ready when two of them are away, and works again when one is back', async () => {
    const lock = createPaymentLock(await open(), 1_000, process.log)
    await Promise.all([servers[0]?.kill(), servers[1]?.kill()])
    const { problems, warnings } = await process.health()
    expect(problems['locks']).to.contain('2 of the 3 servers of REDLOCK_URLS do not answer')
    expect(problems['locks']).to.contain('no payment is worked on')
    expect(warnings).to.deep.equal({})
    await restart(servers[1])
    await until('a majority answers', async () => !('locks' in (await process.health()).problems))
    expect(await lock.hold('p2', async () => 'done')).to.equal('done')
    await restart(servers[0])
  })

  it('does not start when two of them are away', async () => {
    await Promise.all([servers[0]?.kill(), servers[1]?.kill()])
    const error: unknown = await open(300).catch((thrown: unknown) => thrown)
    await Promise.all([restart(servers[0]), restart(servers[1])])
    expect(String(error)).to.contain('Locks need a majority')
  })
})
