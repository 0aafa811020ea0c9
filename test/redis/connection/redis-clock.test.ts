import { expect } from 'chai'
import { register } from 'prom-client'
import type { Redis } from '../../../redis/connection/connections.js'
import { advanceClock, followClock, readClockOffset, watchClock } from '../../../redis/connection/redis-clock.js'
import { readMemory } from '../../../redis/connection/redis-memory.js'
import { claimInstallation } from '../../../redis/installation/installation.js'
import { until } from '../../support/conditions.js'
import { ConditionsUnderTest } from '../../support/conditions-of.js'
import { operate } from '../../support/operator.js'
import { useRedis } from '../../support/redis.js'

const HOUR_MS = 3_600_000
/** Half the round trip of a busy machine, by which a measurement is wrong. All errors of these tests are far greater. */
const TOLERATED_MS = 10_000
const errorOf = (clock: { now(): number }): number => Math.abs(clock.now() - Date.now())

describe('the clock of a machine that is wrong', () => {
  const test = useRedis()
  let process: ConditionsUnderTest
  beforeEach(() => {
    process = new ConditionsUnderTest()
  })
  afterEach(async () => {
    await process.stop()
    register.clear()
  })

  for (const [what, errorMs, warning] of [
    ['ahead', 400_000, /^The clock of this machine is (39|40)\d\.\d s ahead of that of Redis. Set the wrong one right/],
    ['behind', -400_000, /^The clock of this machine is (39|40)\d\.\d s behind that of Redis. Set the wrong one right/],
    ['little ahead', 600, null]
  ] as const) {
    it(`is a metric of its process, and ${warning === null ? 'no' : 'a'} warning, when it is ${what}`, async () => {
      await watchClock(test.redis, { process, machine: { now: () => Date.now() + errorMs } })
      const { warnings } = await process.health()
      const figure = /^card_payments_clock_difference_seconds (.*)$/m.exec(await register.metrics())?.[1]
      if (warning === null) expect(warnings).to.deep.equal({})
      else expect(warnings['clock']).to.match(warning)
      expect(Number(figure)).to.be.closeTo(errorMs / 1_000, TOLERATED_MS / 1_000)
      expect(Number(figure)).not.to.equal(0)
    })
  }

  it('is corrected by the clock of Redis in either environment, unless the difference is small', async () => {
    for (const errorMs of [25 * 60_000, -25 * 60_000]) {
      const machine = { now: () => Date.now() + errorMs }
      for (const environment of ['live', 'test'] as const) {
        const clock = await followClock(test.redis, environment, { machine })
        expect(errorOf(clock)).to.be.below(TOLERATED_MS)
        clock.stop()
      }
    }
    const machine = { now: () => Date.now() + 300 }
    const clock = await followClock(test.redis, 'live', { machine })
    const [before, told, after] = [machine.now(), clock.now(), machine.now()]
    expect(told).to.be.within(before, after)
    clock.stop()
  })

  it('continues at once as before when it is set, and warns as soon as the step is measured', async () => {
    let setByMs = 0
    const clock = await watchClock(test.redis, { process, machine: { now: () => Date.now() + setByMs } })
    for (const steppedMs of [2 * HOUR_MS, -2 * HOUR_MS, 40_000]) {
      setByMs = steppedMs
      // Before any answer of Redis: nothing is awaited between.
      expect(errorOf(clock), `${steppedMs} ms`).to.be.below(TOLERATED_MS)
      // Of a part of a ms no id of a payment can be made.
      expect(clock.now() % 1, `${steppedMs} ms`).to.equal(0)
      const side = steppedMs > 0 ? 'ahead of' : 'behind'
      expect(clock.isApart(), `${steppedMs} ms`).to.equal(Math.abs(steppedMs) > 60_000)
      await until('the warning', async () => (await process.health()).warnings['clock']?.includes(side) === true)
      expect(errorOf(clock), `${steppedMs} ms, measured`).to.be.below(TOLERATED_MS)
      setByMs = 0
      expect(errorOf(clock), `${steppedMs} ms, taken back`).to.be.below(TOLERATED_MS)
    }
  })
})

describe('the clock of an environment', () => {
  const test = useRedis()
  beforeEach(() => test.redis.flushdb())

  it('cannot be moved in live, and ignores the offset of the test clock there', async () => {
    await claimInstallation(test.redis, { environment: 'live', installationId: 'eu', partitions: 4 })
    for (const args of [['advance', '7d'], ['reset']]) {
      const { code, err } = await operate({ REDIS_URL: test.url }, ['clock', ...args])
      expect([code, err]).to.deep.equal([1, 'error: The live environment has no test clock. Nothing was changed.\n'])
    }
    expect(await readClockOffset(test.redis, 'test')).to.equal(0)
    await advanceClock(test.redis, HOUR_MS)
    const clock = await followClock(test.redis, 'live')
    expect(errorOf(clock)).to.be.below(TOLERATED_MS)
    clock.stop()
  })

  it('is the same in all processes of the test environment soon after a change', async () => {
    const clocks = await Promise.all([followClock(test.redis, 'test'), followClock(test.redis, 'test')])
    await advanceClock(test.redis, HOUR_MS)
    await until('both are an hour ahead', () => clocks.every(clock => clock.now() - Date.now() > 3_500_000))
    const late = await followClock(test.redis, 'test')
    expect(late.now() - Date.now()).to.be.above(3_500_000)
    for (const clock of [...clocks, late]) clock.stop()
  })
})

const server = (used: number, max: number): Redis =>
  ({
    info: async () => `# Memory\r\nused_memory:${used}\r\ntotal_system_memory:8000\r\nmaxmemory:${max}\r\n`
  }) as unknown as Redis

describe('the memory of a Redis', () => {
  it('is limited by maxmemory, or by the machine', async () => {
    expect(await readMemory([server(700, 1_000)])).to.deep.equal({ usedBytes: 700, limitBytes: 1_000 })
    expect(await readMemory([server(700, 0)])).to.deep.equal({ usedBytes: 700, limitBytes: 8_000 })
  })

  it('is that of the fullest master of a Cluster', async () => {
    const masters = [server(700, 7_000), server(600, 1_000), server(500, 2_000)]
    expect(await readMemory(masters)).to.deep.equal({ usedBytes: 600, limitBytes: 1_000 })
  })
})
