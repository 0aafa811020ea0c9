import { expect } from 'chai'
import { Registry } from 'prom-client'
import type { CardNetwork } from '../../../machines/network.js'
import type { WorkerTimes } from '../../../redis/commands/replies.js'
import type { Commit } from '../../../redis/payments/commits.js'
import { measureCommand } from '../../../workers/payments/metered-work.js'
import { createWorkerMetrics } from '../../../workers/payments/payments-metrics.js'
import type { WorkerDeps } from '../../../workers/payments/worker-deps.js'
import { noAbort } from '../../support/card-network.js'
import { anEntry, aPayment, references } from '../../support/payments.js'

const SLOW_MS = 30

const later = <T>(value: T): Promise<T> => new Promise(resolve => setTimeout(() => resolve(value), SLOW_MS))

/** Dependencies that take their time, and what was sent along with the last write. */
function slowDeps(): { deps: WorkerDeps; sent: WorkerTimes[]; logged: unknown[][] } {
  const sent: WorkerTimes[] = []
  const logged: unknown[][] = []
  const outcome = { kind: 'approved', isCaptured: true, references } as const
  const network = { capture: () => later(outcome) } as unknown as CardNetwork
  let tries = 0
  const deps = {
    network,
    lock: {
      hold: async (_: string, work: (held: AbortSignal) => Promise<unknown>) =>
        (await later(++tries)) === 1 ? 'taken' : await work(noAbort)
    },
    commits: {
      commit: async ({ times, ends }: Commit) => {
        if (times !== undefined) sent.push(times)
        return ends === null ? 'version_conflict' : 'committed'
      },
      finish: async () => undefined
    },
    policy: { environment: 'test' },
    log: { info: (...line: unknown[]) => void logged.push(line) }
  } as unknown as WorkerDeps
  return { deps, sent, logged }
}

describe('the figures of a command', () => {
  it('have what it waited for, in the registry and with its reply', async () => {
    const registry = new Registry()
    const metrics = createWorkerMetrics(registry)
    const { deps, sent } = slowDeps()
    const payment = aPayment()
    const entry = anEntry(payment, { entryId: `${Date.now() - 2_000}-0` })
    await measureCommand(entry, deps, metrics, async measured => {
      const work = async (): Promise<void> => {
        await measured.network.capture('sale', 100, noAbort)
        await measured.commits.commit({ payment, ends: null } as unknown as Commit, 0)
      }
      if ((await measured.lock.hold('x', work)) === 'taken') await measured.lock.hold('x', work)
    })

    const [times] = sent
    expect(times?.queueMs).to.be.within(2_000, 3_000)
    expect(times?.lockMs, 'both tries').to.be.within(2 * SLOW_MS - 5, 2_000)
    expect(times?.networkMs).to.be.within(SLOW_MS - 3, 2_000)
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
    const metrics = createWorkerMetrics(new Registry())
    const { deps, logged } = slowDeps()
    const payment = aPayment()
    const entry = anEntry(payment, { entryId: `${Date.now()}-0`, correlationId: 'c' })
    await measureCommand(entry, deps, metrics, async measured => {
      await measured.commits.commit({ payment, statusBefore: 'pending', ends: null } as unknown as Commit, 0)
      await measured.commits.commit({ payment, statusBefore: 'pending', ends: entry } as unknown as Commit, 0)
    })
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
