/** The event that a command is for its payment, or none when the command was done before. */
import { isOpenFor, type Payment } from '../../machines/model.js'
import { askedEvent, isUnderWay, wakeAtMs, wakeEvent } from '../../machines/payment/decide.js'
import type { PaymentEvent } from '../../machines/payment/events.js'
import type { CommandEntry } from '../../redis/commands/command-entry.js'

/**
 * Null: nothing is left to do. `isAnswered`: the result of the merchant's request is stored already; it matters for
 * redelivered commands, whose first worker may have ended them at the last moment.
 */
export function firstEvent(
  payment: Payment,
  entry: CommandEntry,
  nowMs: number,
  isAnswered: boolean
): PaymentEvent | null {
  const { command, deliveryCount } = entry
  const { progress } = payment
  const isOwn = isOpenFor(progress.operation, entry.idempotencyKey)
  const isRedelivered = deliveryCount > 0
  switch (command.kind) {
    case 'create':
      if (progress.status === 'pending') return { type: isRedelivered ? 'RESUMED' : 'AUTHORISE', nowMs }
      // Authorised but not captured yet: the capture continues under this command.
      return isOwn && isUnderWay(progress) ? { type: 'RESUMED', nowMs } : null
    case 'capture':
    case 'cancel':
      if (isAnswered) return null
      // Begun before: its call may be in flight, or reconciliation continues without this command.
      if (isOwn) return isUnderWay(progress) ? { type: 'RESUMED', nowMs } : null
      return askedEvent(command, entry.idempotencyKey ?? '', nowMs)
    case 'network_notification':
      return { type: 'NETWORK_NOTIFICATION', reported: command.reported, nowMs }
    case 'resolve_review':
      return { type: 'REVIEW_RESOLVED', nowMs }
    case 'conclude_operation':
      return { type: 'OPERATION_CONCLUDED', isBooked: command.isBooked, nowMs }
    case 'wake': {
      if (isRedelivered && progress.status !== 'pending' && isUnderWay(progress)) return { type: 'RESUMED', nowMs }
      const dueMs = wakeAtMs(progress)
      return dueMs !== null && dueMs <= nowMs ? wakeEvent(progress, nowMs) : null
    }
    // It is no event: erase-buyer.ts.
    case 'erase_buyer':
      return null
  }
}
