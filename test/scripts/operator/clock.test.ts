import { expect } from 'chai'
import { register } from 'prom-client'
import { advanceClock, followClock, readClockOffset, watchClock } from '../../../redis/connection/redis-clock.js'
import { claimInstallation } from '../../../redis/installation/installation.js'
import { until } from '../../support/conditions.js'
import { ConditionsUnderTest } from '../../support/conditions-of.js'
import { operate } from '../../support/operator.js'
import { useRedis } from '../../support/redis.js'

/** Half the round trip of a busy machine, by which a measurement is wrong. All errors of these tests are far greater. */
const TOLERATED_MS = 10_000

describe('the clock of the live environment', () => {
  const test = useRedis()

  it('cannot be moved, and ignores the offset of the test clock', async () => {
    await claimInstallation(test.redis, { environment: 'live', installationId: 'eu', partitions: 4 })
    for (const args of [['advance', '7d'], ['reset']]) {
      const { code, err } = await operate({ REDIS_URL: test.url }, ['clock', ...args])
      expect([code, err]).to.deep.equal([1, 'error: The live environment has no test clock. Nothing was changed.\n'])
    }
    expect(await readClockOffset(test.redis)).to.equal(0)

    await advanceClock(test.redis, 3_600_000)
    const clock = await followClock(test.redis, 'live')
    expect(Math.abs(clock.now() - Date.now())).to.be.below(TOLERATED_MS)
    clock.stop()
  })
})

describe('the clock of a machine that is wrong', () => {
  const test = useRedis()
  afterEach(() => register.clear())

  for (const [side, errorMs] of [
    ['ahead of', 400_000],
    ['behind', -400_000]
  ] as const) {
    it(`is a warning and a metric of its process when it is ${side} that of Redis`, async () => {
      const process = new ConditionsUnderTest()
      await watchClock(test.redis, { process, machine: { now: () => Date.now() + errorMs } })
      const { warnings } = await process.health()
      const figure = /^card_payments_clock_difference_seconds (.*)$/m.exec(await register.metrics())?.[1]
      await process.stop()
      expect(warnings['clock']).to.match(
        new RegExp(`^The clock of this machine is (39|40)\\d\\.\\d s ${side} that of Redis. Set the wrong one right`)
      )
      expect(Number(figure)).to.be.closeTo(errorMs / 1_000, TOLERATED_MS / 1_000)
    })
  }

  it('is a metric, without a warning, while the difference is tolerated', async () => {
    const process = new ConditionsUnderTest()
    await watchClock(test.redis, { process, machine: { now: () => Date.now() + 600 } })
    const { warnings } = await process.health()
    const figure = /^card_payments_clock_difference_seconds (.*)$/m.exec(await register.metrics())?.[1]
    await process.stop()
    expect(warnings).to.deep.equal({})
    expect(Number(figure)).not.to.equal(0)
  })

  for (const [name, errorMs] of [
    ['ahead', 25 * 60_000],
    ['behind', -25 * 60_000]
  ] as const) {
    it(`is corrected by the clock of Redis when it is ${name}, in either environment`, async () => {
      const machine = { now: () => Date.now() + errorMs }
      for (const environment of ['live', 'test'] as const) {
        const clock = await followClock(test.redis, environment, { machine })
        expect(Math.abs(clock.now() - Date.now())).to.be.below(TOLERATED_MS)
        clock.stop()
      }
    })
  }

  it('is not corrected while the difference is small', async () => {
    const machine = { now: () => Date.now() + 300 }
    const clock = await followClock(test.redis, 'live', { machine })
    const [before, told, after] = [machine.now(), clock.now(), machine.now()]
    expect(told).to.be.within(before, after)
    clock.stop()
  })
})

describe('the clock of the test environment', () => {
  const test = useRedis()

  it('is the same in all processes soon after a change', async () => {
    const clocks = await Promise.all([followClock(test.redis, 'test'), followClock(test.redis, 'test')])
    try {
      await advanceClock(test.redis, 3_600_000)
      await until('both are an hour ahead', () => clocks.every(clock => clock.now() - Date.now() > 3_500_000))
      const late = await followClock(test.redis, 'test')
      expect(late.now() - Date.now()).to.be.above(3_500_000)
      late.stop()
    } finally {
      for (const clock of clocks) clock.stop()
    }
  })
})
