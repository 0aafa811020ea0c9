/** What a command begins with: the payment as it is now, and what the command means to it. */
import type { Payment } from '../../machines/model.js'
import type { PaymentEvent } from '../../machines/payment/events.js'
import { isInFlight } from '../../machines/payment/machine.js'
import type { CommandEntry } from '../../redis/commands/command-entry.js'
import { partitionOfPayment, paymentIdOfKey } from '../../redis/keys.js'
import { decodePayment } from '../../redis/payments/payment-record.js'
import { eventOfCommand, isFoundInFlight, isOfCall } from './event-of-command.js'
import { policyFor, type WorkerDeps } from './worker-deps.js'

/** What is decided next. */
export interface Turn {
  readonly payment: Payment
  readonly event: PaymentEvent
  /** The event is the outcome of a call that this command made. */
  readonly isOutcome: boolean
}

/**
 * Where a command starts. AUTHORISE and OVERDUE say that nothing was sent before: that is true for the delivery that marks
 * the payment as begun, and for no other. Null: there is nothing left to do, or another worker has the command.
 */
export async function startOf(entry: CommandEntry, deps: WorkerDeps): Promise<Turn | null> {
  let start = await loadPaymentAndEvent(entry, deps)
  for (;;) {
    if (start === null) return null
    if (isFoundInFlight(entry, start.event) && (await hasCommand(start.payment, entry, deps))) return null
    if (start.event.type !== 'AUTHORISE' && start.event.type !== 'OVERDUE') return start
    const begun = await deps.commits.begin(entry, start.payment.version)
    if (begun === 'begun') return start
    if (begun === 'begun_before') return { ...start, event: { type: 'RESUMED', nowMs: start.event.nowMs } }
    if (begun === 'taken_over') return null
    start = await loadPaymentAndEvent(asChanged(entry), deps)
  }
}

/** The command without the new payment that came with it: another worker has changed that. */
function asChanged(entry: CommandEntry): CommandEntry {
  return { ...entry, newRecord: null }
}

/** Whether the call that a wake-up found in flight is the work of another command. */
async function hasCommand(payment: Payment, wakeUp: CommandEntry, { queue }: WorkerDeps): Promise<boolean> {
  const all = await queue.commandsOf(wakeUp)
  const own = all.findIndex(({ entryId }) => entryId === wakeUp.entryId)
  return all.some((other, index) => index !== own && isOfCall(other, payment, index < own))
}

/** Loads the payment of a command and the event that the command is for it. Null: there is nothing left to do. */
export async function loadPaymentAndEvent(entry: CommandEntry, deps: WorkerDeps): Promise<Turn | null> {
  const payment =
    entry.newRecord === null
      ? await deps.payments.loadForChange(entry.partition, entry.paymentKey)
      : decodePayment(entry.newRecord, entry.paymentKey)
  if (payment === null) {
    // Neither Redis nor the archive loses payments: this Redis was restored from a backup that is older than the network's records.
    deps.log.error(
      { payment_id: paymentIdOfKey(entry.paymentKey), command: entry.command.kind },
      'a command is about a payment that is not stored here'
    )
    return null
  }
  const nowMs = Math.max(timeFor(payment, deps), entry.dueAtMs ?? 0)
  const event = eventOfCommand(payment, entry, nowMs, policyFor(entry.partition, deps))
  return event === null ? null : { payment, event, isOutcome: false }
}

/**
 * Another worker changed the payment. A command is decided again on the current payment. A late outcome may be money, so
 * the payment is reconciled. So is a payment that still waits for this outcome: no other wake-up would reach it.
 */
export async function startAfterConflict(
  entry: CommandEntry,
  isOutcome: boolean,
  deps: WorkerDeps
): Promise<Turn | null> {
  if (!isOutcome) return await startOf(asChanged(entry), deps)
  const payment = await deps.payments.loadForChange(entry.partition, entry.paymentKey)
  if (payment === null) return null
  deps.log.warn({ payment_id: payment.terms.id }, 'an outcome met a newer version, the payment is reconciled')
  const type = isInFlight(payment.progress) ? 'RESUMED' : 'RECONCILE'
  return { payment, event: { type, nowMs: timeFor(payment, deps) }, isOutcome }
}

/**
 * The time of the next event of a payment: not before the last one, which another worker may have written by a clock that
 * is ahead. Merchants may order the events of a payment by `occurred_at`. Nor before data came back that nothing vouches for.
 */
export function timeFor(
  { terms, history }: Payment,
  { clock, unvouchedBeforeMs }: Pick<WorkerDeps, 'clock' | 'unvouchedBeforeMs'>
): number {
  const backMs = unvouchedBeforeMs(partitionOfPayment(terms.id))
  return Math.max(clock.now(), history.at(-1)?.atMs ?? terms.createdAtMs, backMs)
}
