/** One event as the log of webhooks has it. */
import type { LoggedState, StatusChange } from '../../machines/status-change.js'
import { eventIdOf, type QueuedEvent } from './webhook-event.js'

/** How long an event can be sent again after its delivery, or after the last attempt that it might have got. */
export const RETENTION_DAYS = 30

export interface LoggedEvent {
  readonly merchantId: string
  readonly eventId: string
  readonly state: LoggedState
  readonly change: StatusChange
  /** Of what waits: its failed attempts and the time of the next one. */
  readonly queued: QueuedEvent | null
}

/** An event of which nothing is known but its state. */
export function loggedEvent(merchantId: string, state: LoggedState, change: StatusChange): LoggedEvent {
  return { merchantId, eventId: eventIdOf(change), state, change, queued: null }
}

/** In the order in which events occurred. */
export function byTime(one: Pick<LoggedEvent, 'change'>, other: Pick<LoggedEvent, 'change'>): number {
  return one.change.occurredAtMs - other.change.occurredAtMs || one.change.version - other.change.version
}
