import { expect } from 'chai'
import type { CrashPoint } from '../../runtime/crash-points.js'
import { type ChaosOptions, runChaos } from '../../scripts/chaos/run.js'

const CLEAN = { duplicates: [], lost: [], wrong: [], stuck: [], untold: [] }

/** One point of each process, and the worker's most delicate ones. All of them: `npm run chaos -- --crash-points`. */
const POINTS: readonly CrashPoint[] = [
  'accept_payment.before',
  'accept_payment.after',
  'accept_operation.after',
  'note_notice.before',
  'note_notice.after',
  'read_commands.after',
  'commit.before',
  'commit.after',
  'network.authorise.before',
  'network.authorise.after',
  'network.capture.after',
  'network.void.after',
  'requeue.after',
  'fire_due.after'
]

function options(changes: Partial<ChaosOptions>): ChaosOptions {
  return {
    root: process.cwd(),
    seconds: 6,
    rate: 10,
    seed: 1,
    pace: 'brief',
    strikeEveryMs: 1_000,
    isKillsOnly: false,
    crashPoints: [],
    output: () => undefined,
    progress: () => undefined,
    ...changes
  }
}

describe('a running service under chaos', function () {
  this.timeout(120_000)

  it('keeps its books when processes and both Redis are killed at random', async () => {
    const { findings, kills, payments, shiftedClocks } = await runChaos(options({}))
    expect(findings).to.deep.equal(CLEAN)
    expect(Object.keys(kills)).to.not.be.empty
    expect(payments).to.be.above(30)
    expect(shiftedClocks).to.be.above(0)
  })

  it('keeps its books when processes die at chosen points', async () => {
    const { findings, crashes } = await runChaos(options({ crashPoints: POINTS, rate: 8 }))
    expect(findings).to.deep.equal(CLEAN)
    expect(crashes).to.have.members(POINTS)
  })
})
