import { expect } from 'chai'
import { ensureGroups, readCommands } from '../../../redis/commands/read-commands.js'
import { paymentWork } from '../../../redis/commands/work-kind.js'
import { connect, disconnect, type Redis } from '../../../redis/connection/connections.js'
import { createWrites } from '../../../redis/connection/writes.js'
import { keys } from '../../../redis/keys.js'
import { createLogger } from '../../../runtime/log.js'
import { until, untilFast } from '../../support/conditions.js'
import { aWake } from '../../support/payments.js'
import { ReplicatedRedis, Sentinels } from '../../support/sentinels.js'

const log = createLogger('test', 'silent')
/** Undefined without an answer. */
const answered = <T>(asked: Promise<T>): Promise<T | undefined> => asked.catch(() => undefined)

describe('a master that Sentinels name', () => {
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

  it('has its Sentinels listened to again within seconds of their return', async () => {
    await open('commands')
    const isHeard = async (): Promise<boolean> => (await sentinels.listeners()).every(count => count === 1)
    await until('each Sentinel is listened to', isHeard)
    await untilFast('each Sentinel is listened to again', 10_000, async () => {
      expect(await sentinels.closeListeners()).to.deep.equal([1, 1, 1])
      await until('it is', isHeard)
    })
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
    for (let i = 0; i < 50; i++) {
      // A replica that is not scheduled for a second leaves a write unconfirmed: it is repeated.
      await until('the replica has the write', () => answered(writes.run('set', node => node.sadd('set', String(i)))))
    }

    const reading = answered(readCommands(blocking, paymentWork, 'worker', [0], 1))
    await sentinels.killMaster()
    await until('the new master takes writes', () => answered(redis.set('after', '1')))
    // The Sentinels may close a connection to the new master once more: what was not answered is asked again.
    const confirmed = await until('the new master is read', () => answered(redis.scard('set')))
    expect(confirmed).to.equal(50)

    await reading
    const command = await until('a command is read', async () => {
      await answered(redis.xadd(keys.commands(0), '*', ...aWake('0'.repeat(26))))
      const found = await answered(readCommands(blocking, paymentWork, 'worker', [0], 1))
      return found?.entries[0]?.command
    })
    expect(command.kind).to.equal('wake')
    await until('wake-ups are heard again', async () => {
      await answered(redis.publish('reply:sentinel', 'hello'))
      return heard.length > 0
    })
  })
})
