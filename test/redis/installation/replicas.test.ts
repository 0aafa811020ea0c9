import { expect } from 'chai'
import { connect, disconnect, type Redis } from '../../../redis/connection/connections.js'
import { unawaitedReplicas, watchReplicas } from '../../../redis/installation/replicas.js'
import { createLogger } from '../../../runtime/log.js'
import { until } from '../../support/conditions.js'
import { ConditionsUnderTest } from '../../support/conditions-of.js'
import { ReplicatedRedis } from '../../support/sentinels.js'

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

  it('is not ready while the replica is gone', async () => {
    await servers.replica.kill()
    await until('the master notifications', async () => 'replicas' in (await process.health()).problems)
    await servers.replica.restart()
    await until('it is back', async () => Object.keys((await process.health()).problems).length === 0)
  })
})
