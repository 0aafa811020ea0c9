import { expect } from 'chai'
import { ensureGroups, paymentWork, readCommands } from '../../../redis/commands/command-stream.js'
import { expiries, fireWakeUps } from '../../../redis/commands/due.js'
import { keys } from '../../../redis/keys.js'
import { PARTITION } from '../../support/payments.js'
import { useRedis } from '../../support/redis.js'

describe('due lists', () => {
  const test = useRedis()
  const partitions = PARTITION + 1

  beforeEach(() => ensureGroups(test.redis, partitions, paymentWork))
  afterEach(async () => {
    await test.redis.flushdb()
  })
  const read = async (consumer: string) =>
    (await readCommands(test.redis, paymentWork, consumer, [PARTITION], 100)).entries

  it('become commands, each time once, however many timers there are', async () => {
    await test.redis.zadd(keys.due(PARTITION), 1_000, 'a', 2_000, 'b', 3_000, 'c')
    const fired = await Promise.all(
      [1, 2, 3].map(() => fireWakeUps(test.redis, expiries, { partition: PARTITION, nowMs: 2_000, max: 10 }))
    )
    expect(fired.reduce((sum, count) => sum + count, 0)).to.equal(2)
    const entries = await read('w')
    expect(entries.map(entry => [entry.paymentKey, entry.command.kind, entry.dueAtMs])).to.deep.equal([
      ['a', 'wake', 1_000],
      ['b', 'wake', 2_000]
    ])
    // What was fired is due again in case its command is lost.
    expect(await test.redis.zrange(keys.due(PARTITION), '0', '-1')).to.deep.equal(['c', 'a', 'b'])
    expect(await fireWakeUps(test.redis, expiries, { partition: PARTITION, nowMs: 2_999, max: 10 })).to.equal(0)
  })
})
