/** The pace of the queries that all `timers` hand to all workers together, on a real Redis and in real time. */
import { expect } from 'chai'
import { countDue, expiries, reconciliations } from '../../../redis/commands/due.js'
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
  /** Two `timers` for so long; `isAnswering`: each query is answered at once. Returns what was asked. */
  const timersFor = async (forMs: number, isAnswering: boolean): Promise<number> => {
    let asked = 0
    const endMs = performance.now() + forMs
    const timers = async (): Promise<void> => {
      while (performance.now() < endMs) {
        const fired = await wakeRound(test.redis, reconciliations, pace, PARTITIONS, NOW_MS)
        asked += fired
        if (isAnswering) await Promise.all(Array.from({ length: fired }, () => pace.noteAnswer()))
        await delay(ROUND_MS, never)
      }
    }
    await Promise.all([timers(), timers()])
    return asked
  }

  it('asks a silent network once a second, after as many queries as may be open', async () => {
    await schedule(0, 500)
    expect(await timersFor(1_000, false)).to.be.within(PER_SECOND, PER_SECOND + 2)
    expect(await timersFor(3_000, false)).to.be.within(2, 4)
    expect(await countDue(test.redis, reconciliations, 0, NOW_MS), 'what is not asked stays').to.be.above(390)
  })

  it('asks twice as much with each round of answers, and never more than the rate', async () => {
    await schedule(0, 1_000)
    await timersFor(2_000, false)
    const ramp = await timersFor(2_500, true)
    expect(ramp, 'the network is back').to.be.above(PER_SECOND / 2)
    // Of the rate, a quarter of a second may be saved up.
    expect(ramp).to.be.at.most(3.5 * PER_SECOND + 5)
    expect(await timersFor(3_000, true)).to.be.within(2.5 * PER_SECOND, 4 * PER_SECOND + 5)
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
    expect(await wakeRound(test.redis, expiries, pace, PARTITIONS, NOW_MS)).to.equal(Math.floor(BURST / 3))
    expect(await wakeRound(test.redis, reconciliations, pace, PARTITIONS, NOW_MS)).to.be.below(5)
    await delay(1_000, never)
    expect(await wakeRound(test.redis, reconciliations, pace, PARTITIONS, NOW_MS)).to.be.within(BURST - 5, BURST)
  })

  it('returns unused calls, and does not keep other partitions waiting', async () => {
    await test.redis.set(keys.reconcile(0), 'no list')
    await schedule(1, 500)
    const failure = await wakeRound(test.redis, reconciliations, pace, PARTITIONS, NOW_MS).catch(
      (error: Error) => error.message
    )
    expect(failure).to.contain('WRONGTYPE')
    expect(await countDue(test.redis, reconciliations, 1, NOW_MS)).to.be.below(500)
    const [, , allowance] = JSON.parse((await test.redis.get(keys.reconcilePace())) ?? '[]')
    expect(allowance).to.be.within(PER_SECOND - BURST, PER_SECOND - BURST + 2)
  })
})
