import { expect } from 'chai'
import type { CallOutcome } from '../../../machines/network.js'
import { createLogger } from '../../../runtime/log.js'
import { until } from '../../support/conditions.js'
import { ambiguous, approvedAndCaptured } from '../../support/fake-network.js'
import { writingTo } from '../../support/log-lines.js'
import { useRedis } from '../../support/redis.js'
import { aWorker } from '../../support/worker.js'

describe('what the card network did', () => {
  const test = useRedis()
  afterEach(() => test.redis.flushdb())

  /** The warnings of a worker whose one authorisation ends like that. */
  const warningsAfter = async (outcome: CallOutcome): Promise<Record<string, unknown>[]> => {
    const lines: string[] = []
    const worker = aWorker(test, () => ({ log: createLogger('payments', 'warn', writingTo(lines)) }))
    await worker.accept()
    worker.network.willAnswer(outcome)
    await worker.work()
    return lines.map(line => JSON.parse(line))
  }

  it('is in the log with its reason when it was no clear answer', async () => {
    const [warning, ...others] = await warningsAfter(ambiguous)
    expect(warning).to.include({ operation: 'authorise', outcome: 'ambiguous' })
    expect(warning).to.have.property('payment_id')
    expect(warning?.['reason']).to.be.a('string').that.is.not.equal('')
    expect(others).to.deep.equal([])
  })

  it('is in the log with its code when it refused the sale as such: it may be our credentials', async () => {
    const [warning] = await warningsAfter({ kind: 'rejected', code: 'http_401' })
    expect(warning).to.include({ msg: 'the card network refused a sale as such', code: 'http_401' })
  })

  it('causes no warning when it was an answer', async () => {
    expect(await warningsAfter(approvedAndCaptured)).to.deep.equal([])
  })
})

describe('refunds of one payment', () => {
  const test = useRedis()
  afterEach(() => test.redis.flushdb())

  /** How long the second one takes, so much after the first (ms). */
  const secondAfter = async (laterMs: number, environment: 'live' | 'test'): Promise<number> => {
    const worker = aWorker(test, ({ policy }) => ({ policy: { ...policy, environment } }))
    const payment = await worker.created('auto', approvedAndCaptured, approvedAndCaptured, approvedAndCaptured)
    const refund = async (): Promise<void> => {
      await worker.acceptOperation(payment, { kind: 'cancel', amountCents: 100 })
      await worker.work()
    }
    await refund()
    worker.clock.atMs += laterMs
    const beganMs = performance.now()
    await refund()
    expect((await worker.load(payment)).progress.refundedCents).to.equal(200)
    return performance.now() - beganMs
  }

  it('are five seconds apart: the acquirer may take the second for a copy of the first', async () => {
    const tookMs = await until('the second one waits for the rest alone', async () => {
      const ms = await secondAfter(4_700, 'live')
      return ms < 4_500 && ms
    })
    expect(tookMs).to.be.at.least(290)
  })

  it('are sent without a gap in the test environment', async () => {
    await until('the second one does not wait', async () => (await secondAfter(0, 'test')) < 4_500)
  })
})
