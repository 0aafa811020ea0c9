import { expect } from 'chai'
import { type CrashPoint, crashSteps } from '../../runtime/crash-points.js'
import { crashMatrix } from '../../scripts/simulation/crash-matrix.js'
import { type ScenarioName, scenarios } from '../../scripts/simulation/scenarios.js'

/** Points that need more than one death, or a process that is not simulated; test/system/crash-points.test.ts has the last two. */
const NOT_HERE = ['requeue', 'bury', 'drop_consumer', 'note_notice']

describe('death at every point', () => {
  const reached = new Set<CrashPoint>()

  for (const name of Object.keys(scenarios)) {
    it(`leaves the books right: ${name}`, async function () {
      this.timeout(60_000)
      for await (const { hit, point, violations } of crashMatrix([name as ScenarioName])) {
        reached.add(point)
        expect(violations, `death ${hit} at ${point}`).to.deep.equal([])
      }
    })
  }

  it('was tried before and after every step', () => {
    const steps = Object.keys(crashSteps).filter(step => !NOT_HERE.includes(step))
    const points = steps.flatMap(step => [`${step}.before`, `${step}.after`])
    expect([...reached]).to.have.members(points)
  })
})
