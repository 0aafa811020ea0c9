/** One event as the log of webhooks has it. */
import type { LoggedState, StatusChange } from '../../machines/status-change.js'
import { type Attempt, eventIdOf } from './webhook-event.js'

export interface LoggedEvent {
  readonly merchantId: string
  readonly eventId: string
  readonly state: LoggedState
  readonly change: StatusChange
  /** The oldest first; of one that was given up, the last one. */
  readonly attempts: readonly Attempt[]
  /** When it was sent last; of one that was not, since when it waits (ms). */
  readonly atMs: number
  /** Null: it does not wait for one. */
  readonly nextAttemptAtMs: number | null
  /** As it is listed; null: it was not read from a list of concluded events. */
  readonly listed: string | null
}

/** An event of which nothing is known but its state. */
export function loggedEvent(merchantId: string, state: LoggedState, change: StatusChange): LoggedEvent {
  const unknown = { attempts: [], atMs: change.occurredAtMs, nextAttemptAtMs: null, listed: null }
  return { merchantId, eventId: eventIdOf(change), state, change, ...unknown }
}

/** In the order in which events occurred. */
export function byTime(one: Pick<LoggedEvent, 'change'>, other: Pick<LoggedEvent, 'change'>): number {
  return one.change.occurredAtMs - other.change.occurredAtMs || one.change.version - other.change.version
}
