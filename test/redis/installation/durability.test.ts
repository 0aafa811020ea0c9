import { expect } from 'chai'
import type { Environment } from '../../../machines/model.js'
import { connect, disconnect, type Redis } from '../../../redis/connection/connections.js'
import { growthIn, growthWarning } from '../../../redis/installation/append-only-file.js'
import { requireDurability } from '../../../redis/installation/durability.js'
import { unawaitedReplicas, watchReplicas } from '../../../redis/installation/replicas.js'
import { createLogger } from '../../../runtime/log.js'
import { until } from '../../support/conditions.js'
import { ConditionsUnderTest } from '../../support/conditions-of.js'
import { useRedis } from '../../support/redis.js'
import { ReplicatedRedis } from '../../support/sentinels.js'

/** One process that asks for durability: its answer to /readyz, once it has started. */
async function startOn(redis: Redis, environment: Environment, acceptEverysec: 'yes' | 'no' = 'no'): Promise<unknown> {
  let check: () => unknown = () => 'no check was registered'
  const onReadyCheck = (_: string, given: typeof check): void => {
    check = given
  }
  await requireDurability(redis, { config: { environment, acceptEverysec }, onReadyCheck })
  return await check()
}

describe('a process that promises that a write is durable', () => {
  const test = useRedis()
  /** Its user may not read settings. */
  let narrow: Redis
  before(async () => {
    await test.redis.acl('SETUSER', 'narrow', 'on', '>word', '~*', '&*', '+@all', '-config')
    narrow = await connect(test.url.replace('://', '://narrow:word@'), 'commands', createLogger('test', 'silent'))
  })
  after(() => disconnect(narrow))
  const during = async (setting: string, wrong: string, right: string, work: () => Promise<void>): Promise<void> => {
    await test.redis.config('SET', setting, wrong)
    await work().finally(() => test.redis.config('SET', setting, right))
  }

  it('starts on a durable Redis, and is ready; without the right to read settings nothing is in the ACL log', async () => {
    for (const environment of ['test', 'live'] as const) {
      expect(await startOn(test.redis, environment)).to.equal(undefined)
    }
    await test.redis.acl('LOG', 'RESET')
    expect(await startOn(narrow, 'live')).to.equal(undefined)
    expect(await test.redis.acl('LOG')).to.deep.equal([])
  })

  for (const [setting, wrong, right, isSeenByAll] of [
    ['appendfsync', 'everysec', 'always', false],
    ['no-appendfsync-on-rewrite', 'yes', 'no', false],
    ['appendonly', 'no', 'yes', true],
    ['maxmemory-policy', 'allkeys-lru', 'noeviction', true]
  ] as const) {
    it(`does not start in live, and is not ready in test, while ${setting} is ${wrong}`, () =>
      during(setting, wrong, right, async () => {
        const problem = `The Redis of REDIS_URL may lose accepted payments: ${setting} is ${wrong}, must be ${right}.`
        const redis = isSeenByAll ? narrow : test.redis
        expect(await startOn(redis, 'test')).to.equal(problem)
        expect(await startOn(redis, 'live').catch(String)).to.equal(`Error: ${problem}`)
      }))
  }

  it('sees a right to read settings that is given, taken, and given back, at its next check', () =>
    during('appendfsync', 'everysec', 'always', async () => {
      const seen: boolean[] = []
      for (const rule of ['+config', '-config', '+config', '-config']) {
        await test.redis.acl('SETUSER', 'narrow', rule)
        seen.push((await startOn(narrow, 'test')) !== undefined)
      }
      expect(seen).to.deep.equal([true, false, true, false])
    }))

  it('accepts a Redis that may lose a second with ACCEPT_EVERYSEC=yes, in either environment', () =>
    during('appendfsync', 'everysec', 'always', async () => {
      for (const environment of ['test', 'live'] as const) {
        expect(await startOn(test.redis, environment, 'yes')).to.equal(undefined)
      }
    }))
})

const infoOf = (figures: Readonly<Record<string, string | number>>): string =>
  ['# Persistence', ...Object.entries(figures).map(([name, value]) => `${name}:${value}`), ''].join('\r\n')
const MB = 1_000_000
const well = { aof_rewrite_in_progress: 0, aof_last_bgrewrite_status: 'ok', aof_base_size: 0, aof_current_size: 0 }

describe('the append-only file', () => {
  const test = useRedis()

  it('causes no warning on a server that rewrites it', async () => {
    const info = await test.redis.info('persistence')
    for (const field of Object.keys(well)) expect(info).to.match(new RegExp(`^${field}:\\S+`, 'm'))
    expect(await growthWarning(test.redis)).to.equal(undefined)
  })

  it('causes a warning when it has grown to three times its size after the last rewrite', () => {
    const grown = (aof_base_size: number, aof_current_size: number): string | undefined =>
      growthIn(infoOf({ ...well, aof_base_size, aof_current_size }), 'redis:6379')
    expect(grown(900 * MB, 2_600 * MB)).to.equal(undefined)
    expect(grown(900 * MB, 2_800 * MB)).to.equal(
      'The append-only file of redis:6379 has 2800 MB, and had 900 MB after its last rewrite. CONFIG SET auto-aof-rewrite-percentage 100, then BGREWRITEAOF.'
    )
    // Redis does not rewrite a small one.
    expect(grown(1, 190 * MB)).to.equal(undefined)
    expect(grown(1, 210 * MB)).to.contain('210 MB')
  })

  it('causes no warning of its size while it is rewritten, and one when that fails', () => {
    const large = { ...well, aof_current_size: 900 * MB }
    expect(growthIn(infoOf({ ...large, aof_rewrite_in_progress: 1 }), 'a')).to.equal(undefined)
    expect(growthIn(infoOf({ ...well, aof_last_bgrewrite_status: 'err' }), 'a')).to.match(/rewrite .* of a failed/)
  })
})

describe('a process whose writes wait for a replica', () => {
  const process = new ConditionsUnderTest()
  let servers: ReplicatedRedis
  let redis: Redis

  before(async () => {
    servers = await ReplicatedRedis.start()
    redis = await connect(servers.master.url, 'commands', createLogger('test', 'silent'))
    const config = { redisUrl: servers.master.url, waitReplicas: 1, acceptEverysec: 'no' } as const
    watchReplicas(redis, {
      config,
      log: process.log,
      onStop: process.onStop,
      onReadyCheck: process.onReadyCheck,
      onWarning: process.onWarning
    })
  })
  after(async () => {
    await process.stop()
    if (redis !== undefined) await disconnect(redis)
    await servers?.stop()
  })

  it('is warned of it where no write waits', async () => {
    expect(await unawaitedReplicas(redis)).to.match(/has replicas, and WAIT_REPLICAS is 0/)
  })

  it('is ready while the replica is in sync', async () => {
    expect(await process.health()).to.deep.equal({ problems: {}, warnings: {} })
  })

  it('warns of a replica that may lose what it confirms', async () => {
    await servers.replica.ask('CONFIG', 'SET', 'appendfsync', 'everysec')
    await servers.replica.ask('CONFIG', 'SET', 'no-appendfsync-on-rewrite', 'yes')
    const { problems, warnings } = await process.health()
    await servers.replica.ask('CONFIG', 'SET', 'appendfsync', 'always')
    await servers.replica.ask('CONFIG', 'SET', 'no-appendfsync-on-rewrite', 'no')
    expect(problems).to.deep.equal({})
    const name = `127.0.0.1:${servers.replica.port}`
    expect(warnings).to.deep.equal({
      'replica durability': `A replica that WAIT_REPLICAS counts may lose what it confirms: ${name}: appendfsync is everysec, must be always; ${name}: no-appendfsync-on-rewrite is yes, must be no.`
    })
  })

  it('is not ready while the replica is silent, and ready again when it has caught up', async () => {
    servers.replica.signal('SIGSTOP')
    const problem = await until(
      'the replica is not in sync any more',
      async () => (await process.health()).problems['replicas']
    )
    servers.replica.signal('SIGCONT')
    expect(problem).to.match(
      /^Fewer than 1 replicas \(WAIT_REPLICAS\) are in sync with the master \(0\): every write is answered 503\./
    )
    await until('the replica has caught up', async () => Object.keys((await process.health()).problems).length === 0)
  })
})
