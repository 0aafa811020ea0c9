import { expect } from 'chai'
import type { CrashPoint } from '../../runtime/crash-points.js'
import { type ChaosOptions, runChaos } from './run-chaos.js'

const CLEAN = { duplicates: [], lost: [], wrong: [], stuck: [], undelivered: [], late: [] }

/** One point of each process, and the worker's most delicate ones. All of them: `npm run chaos -- --crash-points`. */
const POINTS: readonly CrashPoint[] = [
  'accept_payment.before',
  'accept_payment.after',
  'accept_operation.after',
  'note_notification.before',
  'note_notification.after',
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

/** Loaded before each process: redis/connection/silent-connections.ts protects nothing. */
const UNCUT = moduleUrl(`
  import { register } from 'node:module'
  register(${JSON.stringify(
    moduleUrl(`export const load = async (url, context, next) => ({
      ...(await next(url, context)),
      ...(url.endsWith('/redis/connection/silent-connections.js') ? { source: 'export const cutWhenSilent = redis => redis' } : {})
    })`)
  )})`)

function moduleUrl(code: string): string {
  return `data:text/javascript,${encodeURIComponent(code)}`
}

function options(changes: Partial<ChaosOptions>): ChaosOptions {
  return {
    root: process.cwd(),
    seconds: 6,
    rate: 10,
    seed: 1,
    pace: 'brief',
    strikeEveryMs: 1_000,
    stoppedMaxMs: 1_500,
    silenceEveryMs: null,
    crashPoints: [],
    output: () => undefined,
    progress: () => undefined,
    ...changes
  }
}

describe('a running service under chaos', function () {
  this.timeout(120_000)

  it('loses and duplicates nothing when processes, both Redis and PostgreSQL are killed while payments move to the archive', async () => {
    const { findings, struck, payments, shiftedClocks, archived } = await runChaos(options({ isArchiving: true }))
    expect(findings).to.deep.equal(CLEAN)
    expect(struck.killed).to.have.any.keys('postgres', 'redis', 'payments', 'api')
    expect(payments).to.be.above(30)
    expect(shiftedClocks).to.be.above(0)
    expect(archived?.payments).to.be.above(5)
    expect(archived?.returned).to.be.above(0)
  })

  it('loses and duplicates nothing when processes die at chosen points', async () => {
    const { findings, crashes } = await runChaos(options({ crashPoints: POINTS, rate: 8 }))
    expect(findings).to.deep.equal(CLEAN)
    expect(crashes).to.have.members(POINTS)
  })

  describe('when the connections to Redis go silent', () => {
    /** The first silence begins after 8 s: an outage that lasts until the end is beyond the bound. */
    const silent = { seconds: 20, silenceEveryMs: 8_000, strikeEveryMs: 60_000 }

    it('answers again within 10 s', async () => {
      const { findings, struck, longestSilenceOutageMs } = await runChaos(options(silent))
      expect(findings).to.deep.equal(CLEAN)
      expect(struck.silenced).to.include.keys('redis', 'secrets-redis')
      expect(longestSilenceOutageMs).to.be.within(1_000, 10_000)
    })

    it('is found to be late when silent connections are not cut', async () => {
      const { findings } = await runChaos(options({ ...silent, env: { NODE_OPTIONS: `--import ${UNCUT}` } }))
      expect(findings.late).to.have.lengthOf(1)
      expect({ ...findings, late: [] }).to.deep.equal(CLEAN)
    })
  })
})
