/**
 * Measures what a command waits for: as metrics, as steps of its trace, and as sums that travel with its reply
 * (redis/commands/replies.ts).
 */
import type { CardNetwork } from '../../machines/network.js'
import type { CommandEntry } from '../../redis/commands/command-entry.js'
import type { WorkerTimes } from '../../redis/commands/replies.js'
import { paymentIdOfKey } from '../../redis/keys.js'
import type { PaymentLock } from '../../redis/locks/payment-lock.js'
import type { Commit, CommitStore } from '../../redis/payments/commits.js'
import type { Logger } from '../../runtime/log.js'
import { timed } from '../../runtime/metrics.js'
import { beginStep, recordStep, type Step, traceIdOf } from '../../runtime/tracing.js'
import type { WorkerMetrics } from './payments-metrics.js'
import type { WorkerDeps } from './worker-deps.js'

/** What one command has waited for so far, and its step in the trace. */
interface CommandTimes {
  readonly step: Step
  readonly startedMs: number
  readonly queueMs: number
  lockMs: number
  networkMs: number
}

function sumsOf({ startedMs, queueMs, lockMs, networkMs }: CommandTimes): WorkerTimes {
  return { queueMs, lockMs, networkMs, workMs: performance.now() - startedMs }
}

/** Does the work of one command with dependencies that are measured. */
export async function measureCommand<T>(
  entry: CommandEntry,
  deps: WorkerDeps,
  metrics: WorkerMetrics,
  work: (measured: WorkerDeps) => Promise<T>
): Promise<T> {
  const command = entry.command.kind
  const queueMs = Math.max(0, Date.now() - Number.parseInt(entry.entryId, 10))
  const step = beginStep(`command ${command}`, entry.traceparent, { kind: 'CONSUMER' })
  const times: CommandTimes = { step, startedMs: performance.now(), queueMs, lockMs: 0, networkMs: 0 }
  metrics.queued(queueMs, { command })
  try {
    return await work({
      ...deps,
      lock: meterLock(deps.lock, times),
      network: meterNetwork(deps.network, metrics, (ms, operation, outcome) => {
        times.networkMs += ms
        recordStep(`network ${operation}`, step.traceparent, ms, { kind: 'CLIENT', attributes: { outcome } })
      }),
      commits: meterCommits(deps, times, metrics)
    })
  } finally {
    if (step.isRecorded) step.end({ payment_id: paymentIdOfKey(entry.paymentKey), queue_ms: queueMs })
  }
}

/** The lock time of a command includes the pauses between its tries. */
function meterLock(lock: PaymentLock, times: CommandTimes): PaymentLock {
  let waitingSinceMs: number | undefined
  return {
    async hold(paymentKey, work) {
      const sinceMs = waitingSinceMs ?? performance.now()
      waitingSinceMs = sinceMs
      return await lock.hold(paymentKey, held => {
        const lockMs = performance.now() - sinceMs
        times.lockMs += lockMs
        recordStep('lock', times.step.traceparent, lockMs)
        waitingSinceMs = undefined
        return work(held)
      })
    }
  }
}

/** Times every call to the card network; `onTime` receives each duration (ms), the operation and its outcome. */
export function meterNetwork(
  network: CardNetwork,
  metrics: Pick<WorkerMetrics, 'called'>,
  onTime: (ms: number, operation: string, outcome: string) => void = () => undefined
): CardNetwork {
  const tell = (operation: string) => (outcome: string, durationMs: number) => {
    metrics.called(durationMs, { operation, outcome })
    onTime(durationMs, operation, outcome)
  }
  const kindOf = ({ kind }: { kind: string }): string => kind
  return {
    authorise: (request, signal) => timed(() => network.authorise(request, signal), kindOf, tell('authorise')),
    capture: (saleId, cents, signal) => timed(() => network.capture(saleId, cents, signal), kindOf, tell('capture')),
    void: (saleId, cents, signal) => timed(() => network.void(saleId, cents, signal), kindOf, tell('void')),
    query: (orderId, signal) => timed(() => network.query(orderId, signal), kindOf, tell('query')),
    findOrderId: (saleId, signal) =>
      timed(
        () => network.findOrderId(saleId, signal),
        orderId => (orderId ? 'found' : 'no_answer'),
        tell('find_order_id')
      )
  }
}

function meterCommits({ commits, policy, log }: WorkerDeps, times: CommandTimes, metrics: WorkerMetrics): CommitStore {
  const tell = (outcome: string, ms: number): void => {
    metrics.committed(ms, { outcome })
    recordStep('commit', times.step.traceparent, ms, { attributes: { outcome } })
  }
  return {
    begin: commits.begin,
    commit: async (write, partition) => {
      const sums = sumsOf(times)
      const traceparent = times.step.isRecorded ? times.step.traceparent : null
      const metered = { ...write, times: sums, traceparent }
      const written = await timed(
        () => commits.commit(metered, partition),
        answer => answer,
        tell
      )
      if (written !== 'committed') return written
      metrics.changed(write, policy.environment)
      if (isAbandoned(write)) {
        metrics.abandoned()
        log.error({ payment_id: write.payment.terms.id }, 'a payment in progress had no command any more')
      }
      if (write.ends !== null) logOutcome(write, write.ends, sums, log)
      return written
    },
    endWakeUp: commits.endWakeUp,
    finish: (entry, result) =>
      timed(
        () => commits.finish(entry, result, sumsOf(times)),
        () => 'finished',
        tell
      )
  }
}

/** A wake-up that no worker had before has found the payment in the middle of its way. */
function isAbandoned({ begins, payment }: Commit): boolean {
  const event = payment.history.at(-1)?.event
  const isFound = event === 'OVERDUE' || event === 'RESUMED'
  return begins?.command.kind === 'wake' && begins.deliveryCount === 0 && isFound
}

/** Logs one line for each outcome of a payment, with the time of each step until its commit (ms). */
function logOutcome(
  { payment: { terms, progress }, statusBefore }: Commit,
  { command, correlationId, traceparent }: CommandEntry,
  { queueMs, lockMs, networkMs, workMs }: WorkerTimes,
  log: Pick<Logger, 'info'>
): void {
  const { kind, state, amountCents } = progress.operation
  log.info(
    {
      payment_id: terms.id,
      merchant_id: terms.merchantId,
      ...(correlationId === null ? {} : { correlation_id: correlationId }),
      ...(traceparent === null ? {} : { trace_id: traceIdOf(traceparent) }),
      command: command.kind,
      status_before: statusBefore,
      status: progress.status,
      operation: kind,
      operation_state: state,
      amount_cents: amountCents,
      queue_ms: Math.round(queueMs),
      lock_ms: Math.round(lockMs),
      network_ms: Math.round(networkMs),
      work_ms: Math.round(workMs)
    },
    'a payment changed'
  )
}
