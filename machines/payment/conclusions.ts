/** What an operator saw at the acquirer, as the event that the record would have been. Pure. */
import type { PaymentProgress } from '../model.js'
import type { Figures } from './context.js'
import type { ConcludedEvent, LifecycleEvent } from './events.js'

/** The end of what is in doubt. Only valid beyond the horizon: no copy of the request can arrive any more. */
export function conclusionOf(
  { status }: PaymentProgress,
  isBooked: boolean,
  nowMs: number,
  isChargedBack = false
): ConcludedEvent {
  const concluded = { isConcluded: true, ...(isChargedBack && { isChargedBack }), nowMs } as const
  switch (status) {
    case 'unknown':
    case 'failed':
      return { type: isBooked ? 'RESOLVED_AS_BOOKED' : 'RESOLVED_AS_MISSING', ...concluded }
    case 'expired':
      return { type: 'SALE_GONE', ...concluded }
    default:
      if (isBooked) return { type: 'OPERATION_BOOKED', ...concluded }
      return { type: 'OPERATION_NOT_BOOKED', isRefused: true, ...concluded }
  }
}

/** An operator who has seen how it ended has reviewed the payment. */
export function reviewAfter(event: LifecycleEvent, { reviewReason }: Figures): Pick<Figures, 'reviewReason'> {
  return { reviewReason: 'isConcluded' in event ? null : reviewReason }
}
