/**
 * The short form in which the webhook event of a change of status is stored.
 *
 * Its id follows from the payment and the version that the change gave it, so an event that is made again from the
 * short form is the same event: a receiver that has seen it discards it. Like a payment id, an event id sorts by time
 * and ends in the partition, so that the id alone is enough to find it.
 */
import { hash } from 'node:crypto'
import { paymentStatuses, shownFailures } from '../../machines/model.js'
import type { EventTerms, LoggedState, StatusChange } from '../../machines/status-change.js'
import { type Attempt, WAITING_MAX } from '../../machines/webhook-delivery.js'
import { paymentIdOfKey, paymentKeyOf } from '../keys.js'
import { storedOperation, storedRefunds } from '../payments/payment-record.js'
import {
  DamagedValue,
  type Format,
  knownOf,
  many,
  required,
  storedList,
  storedValue,
  wholeList
} from '../stored-fields.js'
import { encodeLineMember, type LineMember } from './delivery-entry.js'

/** A UUID in the form of version 7, whose random bits are a hash of payment and version. */
export function eventIdOf({ paymentId, version, occurredAtMs }: StatusChange): string {
  const time = occurredAtMs.toString(16).padStart(12, '0')
  const digits = hash('sha256', `${paymentId}/${version}`)
  const variant = (8 + (Number.parseInt(digits.slice(3, 4), 16) & 3)).toString(16)
  const [low, high] = [digits.slice(0, 3), digits.slice(4, 7)]
  return `${time.slice(0, 8)}-${time.slice(8)}-7${low}-${variant}${high}-${digits.slice(7, 16)}${paymentId.slice(-3)}`
}

/** When the event of an id occurred (ms). */
export function timeOfEvent(eventId: string): number {
  return Number.parseInt(eventId.slice(0, 13).replace('-', ''), 16)
}

interface StoredChange extends Omit<StatusChange, 'paymentId'> {
  readonly paymentKey: string
}

const changeList = wholeList<StoredChange>('webhook event', {
  paymentKey: [required],
  version: [required],
  status: [required, knownOf(paymentStatuses)],
  capturedCents: [0],
  refundedCents: [0],
  occurredAtMs: [required],
  operation: [required, storedOperation],
  error: [null],
  refunds: [[], storedRefunds],
  authorizedCents: [null],
  rejectionCode: [null]
})

const storedChange: Format<StatusChange, unknown[]> = {
  encode: ({ paymentId, ...change }) => changeList.encode({ paymentKey: paymentKeyOf(paymentId), ...change }),
  decode(stored) {
    const { paymentKey, error, ...change } = changeList.decode(stored)
    // A failure that only another version knows has no sentence here: such an event is sent without it.
    return {
      paymentId: paymentIdOf(paymentKey),
      ...change,
      error: error !== null && shownFailures.includes(error) ? error : null
    }
  }
}

/** The short form: about 80 characters, the Idempotency-Key, and the refunds if there are any. */
export function encodeChange(change: StatusChange): string {
  return JSON.stringify(storedChange.encode(change))
}

function paymentIdOf(paymentKey: string): string {
  try {
    return paymentIdOfKey(paymentKey)
  } catch {
    throw new DamagedValue('A stored webhook event names no payment.')
  }
}

const storedAttempts = many(storedList<Attempt>({ atMs: [required], status: [null], durationMs: [0], note: [''] }))

/** What an event that waits has besides its short form. */
interface About extends EventTerms {
  readonly traceparent: string | null
}

const storedAbout = storedList<About>({ amountCents: [0], externalReference: [required], traceparent: [null] })
// Not a spread of all terms, which takes 2 us.
const aboutOf = ({ amountCents, externalReference }: EventTerms, traceparent: string | null): About => ({
  amountCents,
  externalReference,
  traceparent
})

/** An event with its attempts, the oldest first. commit.lua writes an undeliverable one without any. */
export interface TriedEvent {
  readonly change: StatusChange
  /** Of one that waits, the failed ones; of one that was given up, the last one. */
  readonly attempts: readonly Attempt[]
}

interface WaitingEvent extends TriedEvent {
  /** When it was created or replayed. */
  readonly sinceMs: number
  readonly about: About
}

const triedTable = { change: [required, storedChange], attempts: [[], storedAttempts] } as const

const waitingEvent = storedValue<WaitingEvent>('webhook event that waits', {
  sinceMs: [required],
  about: [required, storedAbout],
  ...triedTable
})

const triedEvent = storedValue<TriedEvent>('webhook event of the log', triedTable)

/** How an event is stored that was delivered or given up. */
export const encodeConcluded = triedEvent.encode

/** Reads what `encodeConcluded` wrote. Throws as `storedValue` does. */
export const decodeConcluded = triedEvent.decode

/** What append_event.lua, which adds since when the event waits, and the scripts that include it are given of an event. */
export function encodeWaiting(
  change: StatusChange,
  terms: EventTerms,
  payment: LineMember,
  traceparent: string | null = null
) {
  return {
    event: encodeChange(change),
    about: JSON.stringify(storedAbout.encode(aboutOf(terms, traceparent))),
    occurredMs: change.occurredAtMs,
    lineMember: encodeLineMember(payment),
    waitingMax: WAITING_MAX
  }
}

/** An event that is not delivered yet. `traceparent`: of the step that made the change; null: it was not recorded. */
export interface QueuedEvent extends Omit<WaitingEvent, 'about'>, Pick<About, 'traceparent'> {
  readonly eventId: string
  readonly terms: EventTerms
}

/** Reads an event that waits. Throws as `storedValue` does. */
export function decodeQueued(stored: string): QueuedEvent {
  const {
    about: { traceparent, ...terms },
    ...event
  } = waitingEvent.decode(stored)
  return { eventId: eventIdOf(event.change), terms, traceparent, ...event }
}

/** An event as it is stored after one more failed attempt. */
export function encodeFailed({ terms, traceparent, ...event }: QueuedEvent, last: Attempt): string {
  return waitingEvent.encode({ ...event, about: aboutOf(terms, traceparent), attempts: [...event.attempts, last] })
}

/** An event as the log shows it. */
export interface LoggedEvent extends TriedEvent {
  readonly merchantId: string
  readonly eventId: string
  readonly state: LoggedState
  /** When it was sent last; of one that was not, since when it waits (ms). */
  readonly atMs: number
  /** Null: it does not wait for one. */
  readonly nextAttemptAtMs: number | null
  /** As what it is listed as undeliverable; null: it is not. */
  readonly listed: string | null
}

/** `sinceMs`: when it began to wait; of a delivered one, when it was delivered. Without a fourth argument nothing is known of the event but its state. */
export function loggedEvent(
  merchantId: string,
  state: LoggedState,
  change: StatusChange,
  known: Partial<LoggedEvent> & { readonly sinceMs?: number } = {}
): LoggedEvent {
  const { sinceMs = change.occurredAtMs, attempts = [], nextAttemptAtMs = null, listed = null } = known
  const atMs = attempts.at(-1)?.atMs ?? sinceMs
  return { merchantId, eventId: eventIdOf(change), state, change, attempts, atMs, nextAttemptAtMs, listed }
}

/** In the order in which events occurred. */
export function byTime(one: LoggedEvent, other: LoggedEvent): number {
  return one.change.occurredAtMs - other.change.occurredAtMs || one.change.version - other.change.version
}
