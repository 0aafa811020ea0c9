/** A webhook event on its way, and how it is written down while it waits or when it is given up. */
import type { Delivery } from '../machines/webhook-delivery.js'
import { compactId } from './keys.js'
import { fieldsOf } from './pairs.js'
import { changeOfBody, eventIdOf, type StatusChange } from './webhook-event.js'

/** One try to deliver an event. */
export interface Attempt {
  readonly atMs: number
  /** HTTP status; null when there was no answer. */
  readonly status: number | null
  readonly durationMs: number
  /** First characters of the answer, or why there was none. */
  readonly note: string
}

export interface QueuedEvent {
  readonly eventId: string
  /** Compact id of the payment. */
  readonly compact: string
  /** Version of the payment after the change. */
  readonly version: number
  /** What is signed and sent, to the byte. */
  readonly body: string
  /** Its entry in the outbox; null when it is the head of its payment's waiting line. */
  readonly entryId: string | null
  readonly delivery: Delivery
  /** Failed attempts so far, oldest first. */
  readonly history: readonly Attempt[]
}

/** An attempt together with the event that it was about. */
export interface LoggedAttempt extends Attempt {
  readonly eventId: string
  readonly compact: string
}

type StoredAttempt = [atMs: number, status: number, durationMs: number, note: string]
type StoredEvent = { v: number; b: string; s: number; n: number; h?: StoredAttempt[] }

/** The event of an outbox entry. Throws when the fields are not ours. */
export function eventOfEntry(
  entryId: string,
  pairs: readonly string[],
  delivery: Delivery
): { merchantId: string; event: QueuedEvent } {
  const fields = fieldsOf(pairs)
  const [merchantId, compact, body] = [fields.get('m'), fields.get('p'), fields.get('e')]
  const version = Number(fields.get('v'))
  if (merchantId === undefined || compact === undefined || body === undefined || !Number.isInteger(version)) {
    throw new Error('the entry is not a webhook event')
  }
  const eventId = eventIdOf(changeOfBody(body, version))
  return { merchantId, event: { eventId, compact, version, body, entryId, delivery, history: [] } }
}

export function changeOf({ body, version }: QueuedEvent): StatusChange {
  return changeOfBody(body, version)
}

/** How the record of an event in a waiting line begins: the script compares it. */
export function recordHead({ eventId, delivery }: QueuedEvent): string {
  return `${eventId} ${delivery.attempts} `
}

/** `<event id> <attempts> <JSON>`, on one line. */
export function encodeRecord(event: QueuedEvent): string {
  const { version, body, delivery, history } = event
  const stored: StoredEvent = { v: version, b: body, s: delivery.sinceMs, n: delivery.nextAtMs }
  if (history.length > 0)
    stored.h = history.map(({ atMs, status, durationMs, note }) => [atMs, status ?? 0, durationMs, note])
  return `${recordHead(event)}${JSON.stringify(stored)}`
}

/** Reads what `encodeRecord` wrote. `state`: where the record was found. */
export function decodeRecord(record: string, state: 'waiting' | 'undeliverable'): QueuedEvent {
  const [, eventId = '', attempts, json = ''] = /^(\S+) (\d+) (.*)$/s.exec(record) ?? []
  const { v, b, s, n, h = [] } = JSON.parse(json) as StoredEvent
  return {
    eventId,
    compact: compactId(changeOfBody(b, v).paymentId),
    version: v,
    body: b,
    entryId: null,
    delivery: { state, attempts: Number(attempts), sinceMs: s, nextAtMs: n },
    history: h.map(([atMs, status, durationMs, note]) => ({ atMs, status: status || null, durationMs, note }))
  }
}

/** One line of the list of attempts. */
export function encodeAttempt({ eventId, compact }: QueuedEvent, attempt: Attempt): string {
  const { atMs, status, durationMs, note } = attempt
  return `${eventId} ${compact} ${atMs} ${status ?? 0} ${durationMs} ${note}`
}

export function decodeAttempt(line: string): LoggedAttempt {
  const [, eventId = '', compact = '', atMs, status, durationMs, note = ''] =
    /^(\S+) (\S+) (\d+) (\d+) (\d+) (.*)$/s.exec(line) ?? []
  return { eventId, compact, atMs: Number(atMs), status: Number(status) || null, durationMs: Number(durationMs), note }
}
