/** Commands that no worker can end: they become dead letters, and their payments are listed for manual review. */
import { isOpenFor } from '../../machines/model.js'
import { decide } from '../../machines/payment/decide.js'
import { wakeAtMs, wakeTimes } from '../../machines/payment/wake-ups.js'
import type { CommandEntry } from '../../redis/commands/command-entry.js'
import type { DeadLetterDetails } from '../../redis/commands/command-queue.js'
import { isWrongType } from '../../redis/connection/redis-errors.js'
import { DamagedValue } from '../../redis/stored-fields.js'
import type { CommandRecorder } from './command-recorder.js'
import { idsOf } from './command-run.js'
import { timeFor } from './command-start.js'
import { policyFor, type WorkerDeps } from './worker-deps.js'

/** The wake-up of a payment whose command became a dead letter fires this much later (ms). */
const DEAD_LETTER_WAKE_MS = 60_000

/** Another failure makes it a dead letter. It may have failed before because of another command that ended its worker. */
export function isLastDelivery({ deliveryCount }: CommandEntry, deliveriesMax: number): boolean {
  return deliveryCount > 0 && deliveryCount === deliveriesMax - 1
}

/** Why a command is not run again; null: it is run. */
export function poisonIn({ deliveryCount }: CommandEntry, { deliveriesMax }: WorkerDeps): string | null {
  return deliveryCount < deliveriesMax ? null : `delivered ${deliveryCount} times without a result`
}

/**
 * Reconciles the payment, lists it for manual review and moves the command to the dead letters. The payment keeps its
 * wake-up. A request that was never begun has failed: nothing was sent for it.
 */
export async function deadLetterPoison(
  entry: CommandEntry,
  reason: string,
  deps: WorkerDeps,
  recorder: CommandRecorder
): Promise<void> {
  const owed = await noteAndOwe(entry, deps, recorder)
  deps.log.error({ ...idsOf(entry), reason }, 'a command could not be completed, moving it to the dead letters')
  await deps.queue.deadLetter(entry, { reason, nowMs: deps.clock.now(), ...owed })
}

/** A payment that is damaged itself can't be noted: no wake-up helps before an operator has looked at its letter. */
async function noteAndOwe(entry: CommandEntry, deps: WorkerDeps, recorder: CommandRecorder): Promise<Owed> {
  try {
    while (!(await notePoison(entry, deps, recorder)));
    return await owedAfterDeadLetter(entry, deps)
  } catch (error) {
    // It keeps its wake-up: the key may be well by then.
    if (isWrongType(error)) return { wakeAtMs: null, result: null }
    if (!(error instanceof DamagedValue)) throw error
    return { wakeAtMs: 'never', result: null }
  }
}

/** False when another worker wrote the payment meanwhile: read it again. */
async function notePoison(entry: CommandEntry, deps: WorkerDeps, recorder: CommandRecorder): Promise<boolean> {
  const payment = await deps.payments.loadForChange(entry.partition, entry.paymentKey)
  if (payment === null) return true
  const nowMs = timeFor(payment, deps)
  const policy = policyFor(entry.partition, deps)
  const decision = decide(payment, { type: 'POISONED', nowMs }, policy)
  if (decision.kind === 'refused' || !decision.isChanged) return true
  const { statusBefore, operationResult } = decision
  const wake = wakeTimes(decision.payment, nowMs, policy)
  const write = { payment: decision.payment, statusBefore, operationResult, nowMs, wake, ends: null, begins: null }
  return (await recorder.commit(write)) === 'committed'
}

type Owed = Pick<DeadLetterDetails, 'wakeAtMs' | 'result'>

/** What a dead letter still needs: the next wake-up of its payment, and the result of its request. */
async function owedAfterDeadLetter(entry: CommandEntry, deps: WorkerDeps): Promise<Owed> {
  const nowMs = deps.clock.now()
  const payment = await deps.payments.load(entry.partition, entry.paymentKey)
  const dueMs = payment === null ? null : wakeAtMs(payment.progress)
  const isBegun = payment !== null && isOpenFor(payment.progress.operation, entry.idempotencyKey)
  const isRequest = entry.command.kind === 'capture' || entry.command.kind === 'cancel'
  return {
    wakeAtMs: dueMs === null ? null : Math.max(dueMs, nowMs + DEAD_LETTER_WAKE_MS),
    result: isRequest && !isBegun ? { kind: 'failed', code: 'network_unavailable' } : null
  }
}
