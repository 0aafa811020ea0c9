import { expect } from 'chai'
import { ensureGroups, paymentWork, readCommands } from '../../../redis/commands/command-stream.js'
import { fireExpiries } from '../../../redis/commands/due.js'
import { keys } from '../../../redis/keys.js'
import { expiryRound } from '../../../workers/timers/rounds.js'
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
    const fired = await Promise.all([1, 2, 3].map(() => fireExpiries(test.redis, PARTITION, 2_000)))
    expect(fired.reduce((sum, count) => sum + count, 0)).to.equal(2)
    const entries = await read('w')
    expect(entries.map(entry => [entry.paymentKey, entry.command.kind, entry.dueAtMs])).to.deep.equal([
      ['a', 'wake', 1_000],
      ['b', 'wake', 2_000]
    ])
    // What was fired is due again in case its command is lost.
    expect(await test.redis.zrange(keys.due(PARTITION), '0', '-1')).to.deep.equal(['c', 'a', 'b'])
    expect(await fireExpiries(test.redis, PARTITION, 2_999)).to.equal(0)
  })

  it('are worked off after an outage', async () => {
    const members = Array.from({ length: 1_200 }, (_, i) => [i, `p${i}`]).flat()
    await test.redis.zadd(keys.due(0), ...members)
    expect(await expiryRound(test.redis, partitions, 10_000)).to.equal(1_200)
    expect(await test.redis.xlen(keys.commands(0))).to.equal(1_200)
  })
})
