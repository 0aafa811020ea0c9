import { expect } from 'chai'
import { watchClock } from '../../../redis/connection/redis-clock.js'
import { until } from '../../support/conditions.js'
import { ConditionsUnderTest } from '../../support/conditions-of.js'
import { useRedis } from '../../support/redis.js'

const HOUR_MS = 3_600_000
/** Far below the steps, and above the round trips of a busy machine. */
const ERROR_MAX_MS = 10_000

describe('the clock of a process, when that of its machine is set', () => {
  const test = useRedis()
  const process = new ConditionsUnderTest()
  afterEach(() => process.stop())

  it('continues at once as before, and warns as soon as the step is measured', async () => {
    let setByMs = 0
    const machine = { now: () => Date.now() + setByMs }
    const clock = await watchClock(test.redis, { process, machine })
    const errorMs = () => Math.abs(clock.now() - Date.now())
    for (const steppedMs of [2 * HOUR_MS, -2 * HOUR_MS, 40_000]) {
      setByMs = steppedMs
      // Before any answer of Redis: nothing is awaited between.
      expect(errorMs(), `${steppedMs} ms`).to.be.below(ERROR_MAX_MS)
      const side = steppedMs > 0 ? 'ahead of' : 'behind'
      expect(clock.isApart(), `${steppedMs} ms`).to.equal(Math.abs(steppedMs) > 60_000)
      await until('the warning', async () => (await process.health()).warnings['clock']?.includes(side) === true)
      expect(errorMs(), `${steppedMs} ms, measured`).to.be.below(ERROR_MAX_MS)
      setByMs = 0
      expect(errorMs(), `${steppedMs} ms, taken back`).to.be.below(ERROR_MAX_MS)
    }
  })
})
