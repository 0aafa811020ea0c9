/** The pace of the queries that all `timers` hand to all workers together, on a real Redis and in real time. */
import { expect } from 'chai'
import { countDue, expiries, reconciliations } from '../../../redis/commands/fire-wake-ups.js'
import { keys } from '../../../redis/keys.js'
import { createReconcilePace, type ReconcilePace } from '../../../redis/reconciliation/reconcile-pace.js'
import { delay } from '../../../runtime/delay.js'
import { wakeRound } from '../../../workers/timers/rounds.js'
import { useRedis } from '../../support/redis.js'

const PER_SECOND = 100
const BURST = PER_SECOND / 4
const PARTITIONS = 4
const ROUND_MS = 50
const NOW_MS = 1_000_000

describe('the pace of reconciliation', () => {
  const test = useRedis()
  let pace: ReconcilePace
  const never = new AbortController().signal
  beforeEach(() => {
    pace = createReconcilePace(test.redis, PER_SECOND)
  })
  afterEach(() => test.redis.flushdb())

  const schedule = async (partition: number, count: number): Promise<void> => {
    const members = Array.from({ length: count }, (_, index) => [index, `${partition}-${index}`]).flat()
    await test.redis.zadd(keys.reconcile(partition), ...members)
  }
  /**
   * Two `timers` until so much was asked; `isAnswering`: each query is answered at once. A busy machine makes this longer, so what
   * was asked is compared with the time that it took.
   */
  const timersUntil = async (enough: number, isAnswering: boolean): Promise<{ asked: number; tookS: number }> => {
    let asked = 0
    const sinceMs = performance.now()
    const timers = async (): Promise<void> => {
      while (asked < enough) {
        const fired = await wakeRound(test.redis, reconciliations, pace, PARTITIONS, NOW_MS)
        asked += fired
        if (isAnswering) await Promise.all(Array.from({ length: fired }, () => pace.noteAnswer()))
        await delay(ROUND_MS, never)
      }
    }
    await Promise.all([timers(), timers()])
    return { asked, tookS: (performance.now() - sinceMs) / 1_000 }
  }

  it('asks a silent network once a second, after as many queries as may be open', async () => {
    await schedule(0, 500)
    const open = await timersUntil(PER_SECOND, false)
    expect(open.asked).to.be.at.most(PER_SECOND + open.tookS + 1)
    const slow = await timersUntil(3, false)
    expect(slow.asked).to.be.at.most(slow.tookS + 2)
    const left = await countDue(test.redis, reconciliations, 0, NOW_MS)
    expect(left, 'what is not asked stays').to.equal(500 - open.asked - slow.asked)
  })

  it('asks twice as much with each round of answers, and never more than the rate', async () => {
    await schedule(0, 1_000)
    const silent = await timersUntil(PER_SECOND, false)
    expect(silent.asked).to.be.at.most(PER_SECOND + silent.tookS + 1)
    const answered = await timersUntil(5 * PER_SECOND, true)
    // Of the rate, a quarter of a second may be saved up.
    expect(answered.asked).to.be.at.most(PER_SECOND * answered.tookS + BURST + 5)
    // Without answers, it would have been one a second.
    expect(answered.asked).to.be.above(2 * (answered.tookS + 1))
  })

  it('gives partitions with few queries all of them, and the rest to the others', async () => {
    await schedule(0, 1_000)
    await schedule(1, 3)
    await schedule(3, 5)
    expect(await wakeRound(test.redis, reconciliations, pace, PARTITIONS, NOW_MS)).to.equal(BURST)
    const left = await Promise.all([0, 1, 3].map(partition => countDue(test.redis, reconciliations, partition, NOW_MS)))
    expect(left).to.deep.equal([1_000 - BURST + 8, 0, 0])
  })

  it('starves no partition while it may ask one query a round', async () => {
    await schedule(0, 500)
    await schedule(1, 60)
    const oneByOne: ReconcilePace = { ...pace, take: async () => 1 }
    for (let round = 0; round < 40; round++) await wakeRound(test.redis, reconciliations, oneByOne, PARTITIONS, NOW_MS)
    expect(await countDue(test.redis, reconciliations, 0, NOW_MS)).to.be.within(461, 499)
    expect(await countDue(test.redis, reconciliations, 1, NOW_MS)).to.be.within(21, 59)
  })

  it('is one for expiries too, which make three calls each', async () => {
    await test.redis.zadd(keys.due(0), ...Array.from({ length: 500 }, (_, index) => [index, `h${index}`]).flat())
    await schedule(1, 500)
    const sinceMs = performance.now()
    expect(await wakeRound(test.redis, expiries, pace, PARTITIONS, NOW_MS)).to.equal(Math.floor(BURST / 3))
    const next = await wakeRound(test.redis, reconciliations, pace, PARTITIONS, NOW_MS)
    expect(next).to.be.at.most(1 + ((performance.now() - sinceMs) / 1_000) * PER_SECOND)
    await delay(1_000, never)
    expect(await wakeRound(test.redis, reconciliations, pace, PARTITIONS, NOW_MS)).to.be.within(BURST - 5, BURST)
  })

  it('returns unused calls, and does not keep other partitions waiting', async () => {
    const sinceMs = performance.now()
    await test.redis.set(keys.reconcile(0), 'no list')
    await schedule(1, 500)
    const failure = await wakeRound(test.redis, reconciliations, pace, PARTITIONS, NOW_MS).catch(
      (error: Error) => error.message
    )
    expect(failure).to.contain('WRONGTYPE')
    expect(await countDue(test.redis, reconciliations, 1, NOW_MS)).to.be.below(500)
    const [, , allowance] = JSON.parse((await test.redis.get(keys.reconcilePace())) ?? '[]')
    // One more for each second since.
    const tookS = (performance.now() - sinceMs) / 1_000
    expect(allowance).to.be.within(PER_SECOND - BURST, PER_SECOND - BURST + 2 + tookS)
  })
})
