/** What a command means to its payment. */
import { isOpenFor, type Payment } from '../../machines/model.js'
import type { PaymentEvent } from '../../machines/payment/events.js'
import { isInFlight } from '../../machines/payment/machine.js'
import { requestEvent } from '../../machines/payment/make-event.js'
import type { Policy } from '../../machines/payment/policy.js'
import { comparisonEvent, isUnvouched } from '../../machines/payment/unvouched.js'
import { CALL_MAX_MS, wakeAtMs, wakeEvent } from '../../machines/payment/wake-ups.js'
import type { CommandEntry } from '../../redis/commands/command-entry.js'

/** The event that a command is for its payment. Null: nothing is left to do. */
export function eventOfCommand(
  payment: Payment,
  entry: CommandEntry,
  nowMs: number,
  policy: Policy
): PaymentEvent | null {
  const { command } = entry
  const { progress } = payment
  const isOwn = isOpenFor(progress.operation, entry.idempotencyKey)
  switch (command.kind) {
    case 'create':
      if (progress.status === 'pending') return { type: 'AUTHORISE', nowMs }
      // Authorised but not captured yet: the capture continues under this command.
      return isOwn && isInFlight(progress) ? { type: 'RESUMED', nowMs } : null
    case 'capture':
    case 'cancel':
      // Begun before: its call may be in flight, or reconciliation continues without this command.
      if (isOwn) return isInFlight(progress) ? { type: 'RESUMED', nowMs } : null
      return requestEvent(command, entry.idempotencyKey ?? '', nowMs)
    case 'network_notification':
      return { type: 'NETWORK_NOTIFICATION', reported: command.reported, nowMs }
    case 'resolve_review':
      return { type: 'REVIEW_RESOLVED', nowMs }
    case 'conclude_operation':
      return { type: 'OPERATION_CONCLUDED', isBooked: command.isBooked, nowMs }
    case 'wake':
      return eventOfWakeUp(payment, entry, nowMs, policy)
    // It is no event: erase-buyer.ts.
    case 'erase_buyer':
      return null
  }
}

/**
 * Whether a wake-up found a call in flight. That call is the work of the command that made or makes it. The wake-up takes over
 * only when an operator has removed that command from its stream.
 */
export function isFoundInFlight({ command, deliveryCount }: CommandEntry, event: PaymentEvent): boolean {
  return command.kind === 'wake' && deliveryCount === 0 && (event.type === 'OVERDUE' || event.type === 'RESUMED')
}

/** Whether another command of the payment makes its call, or may have made it. Of two wake-ups the earlier one acts, or one that was begun in vain. */
export function isOfCall(
  { command, deliveryCount, idempotencyKey }: CommandEntry,
  { progress }: Payment,
  isEarlier: boolean
): boolean {
  if (command.kind === 'wake') return isEarlier || deliveryCount > 0
  return command.kind === 'create' || isOpenFor(progress.operation, idempotencyKey)
}

function eventOfWakeUp(payment: Payment, entry: CommandEntry, nowMs: number, policy: Policy): PaymentEvent | null {
  const { progress } = payment
  const dueMs = wakeAtMs(progress)
  if (isInFlight(progress) && (dueMs === null || entry.deliveryCount > 0)) return inFlightEvent(payment, entry, nowMs)
  if (dueMs !== null && dueMs <= nowMs) return wakeEvent(progress, nowMs)
  return isUnvouched(payment, policy) ? comparisonEvent(payment, nowMs) : null
}

/**
 * A wake-up during a call: of the command that made the call when that is redelivered, or of a payment that no command
 * works on any more. A new payment may not have been begun at all, which the worker finds out.
 */
function inFlightEvent({ terms, progress, history }: Payment, entry: CommandEntry, nowMs: number): PaymentEvent | null {
  const dueMs = entry.dueAtMs ?? 0
  if (progress.status === 'pending') return dueMs > terms.createdAtMs ? { type: 'OVERDUE', nowMs } : null
  const isLost = dueMs >= (history.at(-1)?.atMs ?? terms.createdAtMs) + CALL_MAX_MS
  return entry.deliveryCount > 0 || isLost ? { type: 'RESUMED', nowMs } : null
}
