import { expect } from 'chai'
import { Registry } from 'prom-client'
import type { PaymentProgress, PaymentStatus } from '../../../machines/model.js'
import type { CallOutcome } from '../../../machines/network.js'
import type { WorkerTimes } from '../../../redis/commands/replies.js'
import type { Commit } from '../../../redis/payments/commits.js'
import { createLogger } from '../../../runtime/log.js'
import { CommandRecorder, type Write } from '../../../workers/payments/command-recorder.js'
import { createOutcomeMetrics } from '../../../workers/payments/outcome-metrics.js'
import { createWorkerMetrics } from '../../../workers/payments/payments-metrics.js'
import type { WorkerDeps } from '../../../workers/payments/worker-deps.js'
import { until } from '../../support/conditions.js'
import { ambiguous, approvedAndCaptured } from '../../support/fake-network.js'
import { writingTo } from '../../support/log-lines.js'
import { anEntry, aPayment } from '../../support/payments.js'
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

const SLOW_MS = 30

const later = <T>(value: T): Promise<T> => new Promise(resolve => setTimeout(() => resolve(value), SLOW_MS))

/** What a recorder uses, and what was sent along with the last write. */
function recorded(): { deps: WorkerDeps; registry: Registry; sent: WorkerTimes[]; logged: unknown[][] } {
  const sent: WorkerTimes[] = []
  const logged: unknown[][] = []
  const registry = new Registry()
  const deps = {
    metrics: createWorkerMetrics(registry),
    commits: {
      commit: async ({ times, ends }: Commit) => {
        if (times !== undefined) sent.push(times)
        return ends === null ? 'version_conflict' : 'committed'
      }
    },
    policy: { environment: 'test' },
    log: { info: (...line: unknown[]) => void logged.push(line) }
  } as unknown as WorkerDeps
  return { deps, registry, sent, logged }
}

describe('the figures of a command', () => {
  it('have what it waited for, in the registry and with its reply', async () => {
    const { deps, registry, sent } = recorded()
    const payment = aPayment()
    const recorder = new CommandRecorder(anEntry(payment, { entryId: `${Date.now() - 2_000}-0` }), deps)
    for (const _ of ['taken', 'free']) {
      recorder.waitsForLock()
      await later(null)
    }
    recorder.hasLock()
    await recorder.call('capture', () => later({ kind: 'approved' }))
    await recorder.commit({ payment, ends: null } as unknown as Write)

    const [times] = sent
    expect(times?.queueMs).to.be.at.least(2_000)
    expect(times?.lockMs, 'both tries').to.be.at.least(2 * SLOW_MS - 5)
    expect(times?.networkMs).to.be.at.least(SLOW_MS - 3)
    expect(times?.workMs).to.be.at.least((times?.lockMs ?? 0) + (times?.networkMs ?? 0))
    const text = await registry.metrics()
    for (const line of [
      'card_payments_command_queue_seconds_count{command="create"} 1',
      'card_payments_network_call_seconds_count{operation="capture",outcome="approved"} 1',
      'card_payments_commit_seconds_count{outcome="version_conflict"} 1'
    ]) {
      expect(text).to.contain(line)
    }
  })

  it('are a line of the log when the command ends with a change of its payment', async () => {
    const { deps, logged } = recorded()
    const payment = aPayment()
    const entry = anEntry(payment, { entryId: `${Date.now()}-0`, correlationId: 'c' })
    const recorder = new CommandRecorder(entry, deps)
    await recorder.commit({ payment, statusBefore: 'pending', ends: null } as unknown as Write)
    await recorder.commit({ payment, statusBefore: 'pending', ends: entry } as unknown as Write)
    const [[fields, sentence] = [], ...others] = logged
    expect([sentence, others]).to.deep.equal(['a payment changed', []])
    expect(fields).to.include({
      payment_id: payment.terms.id,
      merchant_id: payment.terms.merchantId,
      correlation_id: 'c',
      command: 'create',
      status_before: 'pending',
      status: payment.progress.status,
      amount_cents: payment.progress.operation.amountCents
    })
    expect(fields).to.include.keys('queue_ms', 'lock_ms', 'network_ms', 'work_ms')
  })
})

/** The lines above zero after these changes of one payment of 1,000 cents, without the prefix. */
async function countsOf(...changes: [before: PaymentStatus, after: Partial<PaymentProgress>][]): Promise<string[]> {
  const registry = new Registry()
  const count = createOutcomeMetrics(registry)
  for (const [statusBefore, progress] of changes) count({ payment: aPayment({ progress }), statusBefore }, 'live')
  const lines = (await registry.metrics()).split('\n')
  return lines.filter(line => /^card_payments_.* [1-9]/.test(line)).map(line => line.replace('card_payments_', ''))
}

const operation = aPayment().progress.operation

describe('the business metrics of payments', () => {
  it('counts an approval and the captured money', async () => {
    expect(await countsOf(['pending', { status: 'captured', capturedCents: 1_000 }])).to.deep.equal([
      'authorisations_total{merchant="m_0000000001",brand="visa",outcome="approved",reason=""} 1',
      'money_cents_total{flow="captured"} 1000'
    ])
  })

  it('counts a doubt once it is over', async () => {
    expect(await countsOf(['pending', { status: 'unknown' }], ['unknown', { status: 'pre_authorized' }])).to.include(
      'authorisations_total{merchant="m_0000000001",brand="visa",outcome="approved",reason=""} 1'
    )
  })

  it('counts declines by the reason of their code, and failures by theirs', async () => {
    expect(
      await countsOf(
        ['pending', { status: 'failed', error: 'card_declined', declinedCode: '51' }],
        ['unknown', { status: 'failed', error: 'card_expired', declinedCode: '54' }],
        ['pending', { status: 'failed', error: 'network_unavailable' }]
      )
    ).to.include.members([
      'authorisations_total{merchant="m_0000000001",brand="visa",outcome="declined",reason="insufficient_funds"} 1',
      'authorisations_total{merchant="m_0000000001",brand="visa",outcome="declined",reason="expired_card"} 1',
      'authorisations_total{merchant="m_0000000001",brand="visa",outcome="failed",reason="network_unavailable"} 1'
    ])
  })

  it('counts a partial capture and refunds that succeeded', async () => {
    const refund = { ...operation, kind: 'refund', amountCents: 200 } as const
    expect(
      await countsOf(
        ['capturing', { status: 'captured', capturedCents: 700 }],
        ['captured', { status: 'refunding', operation: { ...refund, state: 'in_progress' } }],
        ['refunding', { status: 'partially_refunded', operation: { ...refund, state: 'succeeded' } }],
        ['refunding', { status: 'captured', capturedCents: 700, operation: { ...refund, state: 'failed' } }]
      )
    ).to.include.members(['money_cents_total{flow="captured"} 700', 'money_cents_total{flow="refunded"} 200'])
  })

  it('counts what a chargeback takes', async () => {
    const change = { status: 'charged_back', capturedCents: 1_000, refundedCents: 300 } as const
    expect(await countsOf(['partially_refunded', change])).to.deep.equal(['money_cents_total{flow="charged_back"} 700'])
  })

  it('counts nothing while the status stays', async () => {
    expect(await countsOf(['captured', { status: 'captured', capturedCents: 1_000 }])).to.deep.equal([])
  })
})
