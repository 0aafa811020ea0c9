import { expect } from 'chai'
import { ensureGroups, paymentWork, readCommands } from '../../../redis/commands/command-stream.js'
import { connect, disconnect, type Redis } from '../../../redis/connection/connections.js'
import { createWrites } from '../../../redis/connection/writes.js'
import { keys } from '../../../redis/keys.js'
import { createLogger } from '../../../runtime/log.js'
import { until } from '../../support/conditions.js'
import { aWake } from '../../support/payments.js'
import { FAILOVER_WAIT_MS, ReplicatedRedis, Sentinels } from '../../support/sentinels.js'

const log = createLogger('test', 'silent')

describe('a master that Sentinels name', function () {
  this.timeout(2 * FAILOVER_WAIT_MS)
  let servers: ReplicatedRedis
  let sentinels: Sentinels
  const connections: Redis[] = []
  const open = async (role: 'commands' | 'blocking' | 'subscriber'): Promise<Redis> => {
    const redis = await connect(sentinels.url, role, log)
    connections.push(redis)
    return redis
  }

  before(async () => {
    servers = await ReplicatedRedis.start()
    sentinels = await Sentinels.start(servers)
  })
  after(async () => {
    await Promise.all(connections.map(disconnect))
    await sentinels?.stop()
    await servers?.stop()
  })

  it('is replaced when it dies: writes, blocked reads and wake-ups go on, and nothing confirmed is lost', async () => {
    const [redis, own, blocking, subscriber] = [
      await open('commands'),
      await open('commands'),
      await open('blocking'),
      await open('subscriber')
    ]
    const heard: string[] = []
    subscriber.on('message', (_, message) => heard.push(message))
    await subscriber.subscribe('reply:sentinel')
    await ensureGroups(redis, 1, paymentWork)
    const writes = createWrites(redis, own, 1)
    for (let i = 0; i < 50; i++) await writes.run('list', node => node.rpush('list', String(i)))

    const reading = readCommands(blocking, paymentWork, 'worker', [0], 1)
    await servers.master.kill()
    expect(await redis.rpush('list', 'x').catch((error: Error) => error)).to.be.instanceOf(Error)
    await until('the new master takes writes', () => redis.set('after', '1').catch(() => undefined), FAILOVER_WAIT_MS)
    expect(await redis.lrange('list', 0, -1)).to.deep.equal(Array.from({ length: 50 }, (_, i) => String(i)))

    await redis.xadd(keys.commands(0), '*', ...aWake('0'.repeat(26)))
    let found = (await reading).entries
    while (found.length === 0) found = (await readCommands(blocking, paymentWork, 'worker', [0], 1)).entries
    expect(found.map(entry => entry.command.kind)).to.deep.equal(['wake'])
    await until('wake-ups are heard again', async () => {
      // The Sentinels may close a connection to the new master once more.
      await redis.publish('reply:sentinel', 'hello').catch(() => undefined)
      return heard.length > 0
    })
  })
})
