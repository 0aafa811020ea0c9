import { expect } from 'chai'
import { ways } from '../simulation/tampering.js'
import type { CrashPoint } from '../support/crash-steps.js'
import { type ChaosOptions, runChaos, type Verdict } from './run-chaos.js'

/** `late`, which is told in seconds, is left to `npm run chaos` on a quiet machine. */
const CLEAN = { duplicates: [], lost: [], wrong: [], stuck: [], undelivered: [] }

/** One point of each process, and the one that the worker's promise hangs on. All of them: the crash matrix, `npm run chaos -- --crash-points`. */
const POINTS: readonly CrashPoint[] = [
  'accept_payment.after',
  'note_notification.after',
  'commit.after',
  'network.authorise.after',
  'fire_due.after'
]

function options(changes: Partial<ChaosOptions>): ChaosOptions {
  return {
    root: process.cwd(),
    seconds: 6,
    rate: 10,
    seed: 1,
    pace: 'brief',
    strikeEveryMs: null,
    stoppedMaxMs: 1_500,
    silenceEveryMs: null,
    tamperEveryMs: null,
    freezes: null,
    crashPoints: [],
    output: () => undefined,
    progress: () => undefined,
    ...changes
  }
}

const RUNS_MAX = 6

/** What a run meets depends on the speed of the machine: runs until nothing is `missing` any more. Each has to be clean. */
async function cleanRuns(
  changes: Partial<ChaosOptions>,
  missing: (runs: readonly Verdict[]) => readonly string[]
): Promise<void> {
  const runs: Verdict[] = []
  while (missing(runs).length > 0 && runs.length < RUNS_MAX) {
    const run = await runChaos(options({ ...changes, seed: runs.length + 1 }))
    expect(run.findings).to.deep.include(CLEAN)
    expect(run.longestBackMs.frozen, 'some process did not answer after a freeze').not.to.equal(
      Number.POSITIVE_INFINITY
    )
    runs.push(run)
  }
  expect(missing(runs)).to.deep.equal([])
}

describe('a running service under chaos', () => {
  it('loses and duplicates nothing when processes, both Redis and PostgreSQL die, at any moment and at chosen points, while payments move to the archive', async () => {
    const victims = ['postgres', 'redis', 'payments', 'api']
    await cleanRuns({ isArchiving: true, strikeEveryMs: 1_000, crashPoints: POINTS }, runs => {
      const sum = (count: (run: Verdict) => number | undefined): number =>
        runs.reduce((total, run) => total + (count(run) ?? 0), 0)
      const happened = {
        'payments beside them': sum(({ payments }) => payments) > 30,
        'processes with a wrong clock': sum(({ shiftedClocks }) => shiftedClocks) > 0,
        'payments in the archive': sum(({ archived }) => archived?.payments) > 5,
        'payments back from it': sum(({ archived }) => archived?.returned) > 0,
        deaths: victims.some(name => sum(({ struck }) => struck.killed[name]) > 0)
      }
      const missing = Object.entries(happened).flatMap(([what, hasHappened]) => (hasHappened ? [] : what))
      return [...missing, ...POINTS.filter(point => !runs.some(({ crashes }) => crashes.includes(point)))]
    })
  })

  it('loses and duplicates nothing when groups, consumers and entries of the streams are removed by hand while workers die', async () => {
    await cleanRuns({ seconds: 10, rate: 8, tamperEveryMs: 300 }, runs => {
      // A consumer that was never deleted is not missed: a group has one for moments only.
      const done = ways.filter(way => runs.some(({ struck }) => (struck.tampered[way] ?? 0) > 0))
      return done.length >= ways.length - 1 ? [] : ways
    })
  })

  it('answers again after each Redis was frozen', async () => {
    const freezes = { everyMs: 500, shortestMs: 6_000, longestMs: 6_500, inARowMax: 1 }
    await cleanRuns({ seconds: 18, rate: 4, freezes }, runs =>
      ['redis', 'secrets-redis'].filter(
        name => !runs.some(({ recoveries }) => recoveries.some(({ victim }) => victim === name))
      )
    )
  })
})
