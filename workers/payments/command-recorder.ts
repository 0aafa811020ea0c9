/**
 * Commits, finishes and refuses for one command, and measures what it waits for: as metrics, as steps of its trace, and as sums
 * that travel with its reply (redis/commands/replies.ts).
 */
import type { Payment, RefusalCode } from '../../machines/model.js'
import type { CommandEntry } from '../../redis/commands/command-entry.js'
import type { WorkerTimes } from '../../redis/commands/replies.js'
import { partitionOfPayment, paymentIdOfKey } from '../../redis/keys.js'
import type { Commit, CommitOutcome } from '../../redis/payments/commits.js'
import { entryTimeMs } from '../../redis/streams.js'
import type { Logger } from '../../runtime/log.js'
import { timed } from '../../runtime/metrics.js'
import { beginStep, recordStep, type Step, traceIdOf } from '../../runtime/tracing.js'
import type { WorkerDeps } from './worker-deps.js'

/** A commit of a worker. The recorder adds what travels with it. */
export type Write = Omit<Commit, 'times' | 'traceparent'>

export class CommandRecorder {
  readonly #entry: CommandEntry
  readonly #deps: Pick<WorkerDeps, 'commits' | 'metrics' | 'policy' | 'log'>
  readonly #step: Step
  readonly #startedMs = performance.now()
  readonly #queueMs: number
  #waitsSinceMs: number | null = null
  #lockMs = 0
  #networkMs = 0

  constructor(entry: CommandEntry, deps: Pick<WorkerDeps, 'commits' | 'metrics' | 'policy' | 'log'>) {
    const command = entry.command.kind
    this.#entry = entry
    this.#deps = deps
    this.#queueMs = Math.max(0, Date.now() - entryTimeMs(entry.entryId))
    this.#step = beginStep(`command ${command}`, entry.traceparent, { kind: 'CONSUMER' })
    deps.metrics.queued(this.#queueMs, { command })
  }

  /** The command is done, as far as this worker is concerned. */
  end(): void {
    if (!this.#step.isRecorded) return
    this.#step.end({ payment_id: paymentIdOfKey(this.#entry.paymentKey), queue_ms: this.#queueMs })
  }

  /** A try to get the lock begins. The time of the lock has the pauses between the tries. */
  waitsForLock(): void {
    this.#waitsSinceMs ??= performance.now()
  }

  hasLock(): void {
    const lockMs = performance.now() - (this.#waitsSinceMs ?? performance.now())
    this.#waitsSinceMs = null
    this.#lockMs += lockMs
    recordStep('lock', this.#step.traceparent, lockMs)
  }

  /** Times a call to the card network. */
  async call<T extends { kind: string }>(operation: string, call: () => Promise<T>): Promise<T> {
    return await timed(
      call,
      ({ kind }) => kind,
      (outcome, ms) => {
        this.#deps.metrics.called(ms, { operation, outcome })
        this.#networkMs += ms
        recordStep(`network ${operation}`, this.#step.traceparent, ms, { kind: 'CLIENT', attributes: { outcome } })
      }
    )
  }

  /** Writes a decision, and counts it. */
  async commit(write: Write): Promise<CommitOutcome> {
    const { commits, metrics, policy, log } = this.#deps
    const times = this.#times()
    const traceparent = this.#step.isRecorded ? this.#step.traceparent : null
    const partition = partitionOfPayment(write.payment.terms.id)
    const written = await timed(
      () => commits.commit({ ...write, times, traceparent }, partition),
      answer => answer,
      this.#committed
    )
    if (written !== 'committed') return written
    metrics.changed(write, policy.environment)
    if (isAbandoned(write)) {
      metrics.abandoned()
      log.error({ payment_id: write.payment.terms.id }, 'a payment in progress had no command any more')
    }
    if (write.ends !== null) logOutcome(write, write.ends, times, log)
    return written
  }

  /** Ends the command without a change and without a result. */
  async finish(): Promise<void> {
    await timed(
      () => this.#deps.commits.finish(this.#entry),
      () => 'finished',
      this.#committed
    )
  }

  /** Ends the request that this payment refuses. False: the payment has changed meanwhile, nothing was written. */
  async refuse(code: RefusalCode, { version }: Payment): Promise<boolean> {
    return await timed(
      () => this.#deps.commits.refuse(this.#entry, code, version, this.#times()),
      isWritten => (isWritten ? 'finished' : 'version_conflict'),
      this.#committed
    )
  }

  #times(): WorkerTimes {
    const workMs = performance.now() - this.#startedMs
    return { queueMs: this.#queueMs, lockMs: this.#lockMs, networkMs: this.#networkMs, workMs }
  }

  readonly #committed = (outcome: string, ms: number): void => {
    this.#deps.metrics.committed(ms, { outcome })
    recordStep('commit', this.#step.traceparent, ms, { attributes: { outcome } })
  }
}

/** A wake-up, at its first delivery, found a call in flight: the command that made the call is lost. */
function isAbandoned({ begins, payment }: Write): boolean {
  const event = payment.history.at(-1)?.event
  const isFound = event === 'OVERDUE' || event === 'RESUMED'
  return begins?.command.kind === 'wake' && begins.deliveryCount === 0 && isFound
}

/** Logs one line for each outcome of a payment, with the time of each step until its commit (ms). */
function logOutcome(
  { payment: { terms, progress }, statusBefore }: Write,
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
