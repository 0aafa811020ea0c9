import { expect } from 'chai'
import { Registry } from 'prom-client'
import type { WorkerTimes } from '../../../redis/commands/replies.js'
import type { Commit } from '../../../redis/payments/commits.js'
import { CommandRecorder, type Write } from '../../../workers/payments/command-recorder.js'
import { createWorkerMetrics } from '../../../workers/payments/payments-metrics.js'
import type { WorkerDeps } from '../../../workers/payments/worker-deps.js'
import { anEntry, aPayment } from '../../support/payments.js'

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
    await recorder.commit({ payment, ends: null } as unknown as Write, 0)

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
    await recorder.commit({ payment, statusBefore: 'pending', ends: null } as unknown as Write, 0)
    await recorder.commit({ payment, statusBefore: 'pending', ends: entry } as unknown as Write, 0)
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
