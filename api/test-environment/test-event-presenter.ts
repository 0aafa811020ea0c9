/** A webhook event as the routes of the test environment answer it (docs/TESTING.md). */
import { eventTypeOf } from '../../contract/webhook-event.js'
import type { ListedEvent } from './test-environment.js'

export function presentTestEvent({ event, attempts }: ListedEvent): Record<string, unknown> {
  const { eventId, state, change, queued } = event
  return {
    event_id: eventId,
    event_type: eventTypeOf(change),
    payment_id: change.paymentId,
    status: change.status,
    state,
    occurred_at: new Date(change.occurredAtMs).toISOString(),
    next_attempt_at: queued === null ? null : new Date(queued.delivery.nextAtMs).toISOString(),
    attempts: attempts.map(({ atMs, status, durationMs, note }) => ({
      at: new Date(atMs).toISOString(),
      http_status: status,
      duration_ms: durationMs,
      answer: note
    }))
  }
}
