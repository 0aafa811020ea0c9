import { expect } from 'chai'
import { type CrashPoint, crashSteps } from '../support/crash-steps.js'
import { crashMatrix, sleepMatrix, type Tried } from './crash-matrix.js'
import { type ScenarioName, scenarios } from './scenarios.js'

/**
 * Steps of a process that is not simulated, and of a worker that is told to stop: simulated ones die. Real ones die around
 * them in test/chaos/chaos.test.ts.
 */
const NOT_HERE = ['note_notification', 'release_command']
/** Lives with a second death: all of them by `npm run simulate -- --matrix`. */
const TWICE: readonly string[] = ['create with capture', 'expiry']
/** Lives in which processes fall suspended instead; all of them by `npm run simulate -- --matrix`. */
const SUSPENDED: readonly ScenarioName[] = [
  'create with capture',
  'capture',
  'capture while the receiver of webhooks is away',
  'refund whose answer is lost',
  'refund of an archived payment, which leaves again'
]

describe('death at every point', () => {
  const reached = new Set<CrashPoint>()
  const [triedDead, triedSuspended]: [Tried, Tried] = [[], []]

  for (const name of Object.keys(scenarios)) {
    it(`loses and duplicates nothing: ${name}`, async () => {
      const chosen = { hasSecondDeaths: TWICE.includes(name), tried: triedDead }
      for await (const { hits, points, violations } of crashMatrix([name as ScenarioName], chosen)) {
        for (const point of points) reached.add(point)
        expect(violations, `deaths ${hits.join(' and ')} at ${points.join(' and ')}`).to.deep.equal([])
      }
    })
  }

  for (const name of SUSPENDED) {
    it(`loses and duplicates nothing when a process is suspended: ${name}`, async () => {
      for await (const { hits, points, violations } of sleepMatrix(name, { tried: triedSuspended })) {
        expect(violations, `suspended ${hits} at ${points}`).to.deep.equal([])
      }
    })
  }

  it('was tried before and after every step', () => {
    const steps = crashSteps.filter(step => !NOT_HERE.includes(step))
    const points = steps.flatMap(step => [`${step}.before`, `${step}.after`])
    expect([...reached]).to.have.members(points)
  })
})
