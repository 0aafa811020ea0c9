/**
 * The webhook event of a change of status (docs/WEBHOOKS.md#what-arrives), and the short form in which it is stored.
 *
 * Its id follows from the payment and the version that the change gave it, so an event that is made again from the
 * short form is the same event: a receiver that has seen it discards it. Like a payment id, an event id sorts by time
 * and ends in the partition, so that the id alone is enough to find it.
 */
import { hash } from 'node:crypto'
import {
  type Operation,
  operationKinds,
  operationStates,
  type Payment,
  type PaymentStatus,
  paymentStatuses,
  type Refund
} from '../../machines/model.js'
import { authorizedCentsOf } from '../../machines/payment/sums.js'
import type { Delivery } from '../../machines/webhook-delivery.js'
import { type ErrorCode, errorCatalogue } from '../../runtime/errors.js'
import { paymentIdOfKey, paymentKeyOf } from '../keys.js'
import { failureRow, presentError, presentOperation, presentRefund } from '../payments/payment-parts.js'
import { storedRefunds } from '../payments/payment-record.js'

/** The types of events (docs/WEBHOOKS.md#what-arrives), in their bodies and in the header that comes with them. */
export const EVENT_TYPE = 'payment.status_changed'
/** Sent on request in the test environment (docs/TESTING.md). */
export const TEST_EVENT_TYPE = 'webhook.test'

/** What an event says beyond what is fixed for the whole life of its payment. */
export interface StatusChange {
  readonly paymentId: string
  /** Version of the payment after the change: one per commit. */
  readonly version: number
  readonly status: PaymentStatus
  readonly capturedCents: number
  readonly refundedCents: number
  /** The last operation of the payment after the change. */
  readonly operation: Operation
  readonly refunds: readonly Refund[]
  /** Why the last operation failed, as a row of the error catalogue; null: it did not. */
  readonly error: ErrorCode | null
  readonly occurredAtMs: number
}

/** The change that a commit made. */
export function statusChangeOf({ terms, version, progress }: Payment, occurredAtMs: number): StatusChange {
  const { status, capturedCents, refundedCents, operation, refunds } = progress
  const error = progress.error === null ? null : failureRow(progress.error, terms)
  return { paymentId: terms.id, version, status, capturedCents, refundedCents, operation, refunds, error, occurredAtMs }
}

/** Payments begin with version 1: this one marks a test event, which is about no payment. */
const TEST_VERSION = 0
const TEST_CENTS = 1_000

/** The content of a test event: a captured payment that does not exist. */
export function testChange(paymentId: string, occurredAtMs: number): StatusChange {
  const operation = {
    kind: 'authorization',
    state: 'succeeded',
    amountCents: TEST_CENTS,
    idempotencyKey: 'test-event'
  } as const
  const figures = { status: 'captured', capturedCents: TEST_CENTS, refundedCents: 0, refunds: [] } as const
  return { paymentId, version: TEST_VERSION, ...figures, operation, error: null, occurredAtMs }
}

export const testTerms: EventTerms = { externalReference: 'test-event', amountCents: TEST_CENTS }

export function isTestChange({ version }: StatusChange): boolean {
  return version === TEST_VERSION
}

export function eventTypeOf(change: StatusChange): typeof EVENT_TYPE | typeof TEST_EVENT_TYPE {
  return isTestChange(change) ? TEST_EVENT_TYPE : EVENT_TYPE
}

/** The body as merchants get it. */
export function encodeEvent(change: StatusChange, terms: EventTerms): string {
  return JSON.stringify({
    event_id: eventIdOf(change),
    event_type: eventTypeOf(change),
    payment_id: change.paymentId,
    external_reference: terms.externalReference,
    status: change.status,
    amount_cents: terms.amountCents,
    captured_cents: change.capturedCents,
    refunded_cents: change.refundedCents,
    refunds: change.refunds.map(presentRefund),
    operation: presentOperation(change.operation),
    ...(change.error === null ? {} : { error: presentError(change.error) }),
    occurred_at: new Date(change.occurredAtMs).toISOString()
  })
}

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

/**
 * The short form: about 65 characters, the Idempotency-Key, and the refunds if there are any. The body is made again from
 * it and the payment.
 */
export function encodeChange(change: StatusChange): string {
  const { paymentId, version, status, capturedCents, refundedCents, operation, refunds, error, occurredAtMs } = change
  const { kind, state, amountCents, idempotencyKey } = operation
  const figures = [paymentKeyOf(paymentId), version, status, capturedCents, refundedCents, occurredAtMs]
  const how = `${operationKinds.indexOf(kind)}${operationStates.indexOf(state)}${error ?? ''}`
  const amount = refunds.length === 0 ? amountCents : `${amountCents}${inOneWord(storedRefunds.encode(refunds))}`
  // The key comes last, because it may have spaces.
  return [...figures, how, amount, idempotencyKey].join(' ')
}

/** JSON without spaces, which divide the fields of the short form. */
function inOneWord(value: unknown): string {
  return JSON.stringify(value).replaceAll(' ', '\\u0020')
}

/** Reads the short form. Throws when it is none. */
export function decodeChange(text: string): StatusChange {
  const [paymentKey = '', version, name, captured, refunded, occurredAt, how = '', about = '', ...key] = text.split(' ')
  const status = paymentStatuses.find(known => known === name)
  const [kind, state] = [operationKinds[Number(how[0])], operationStates[Number(how[1])]]
  const [, amount, refunds = '[]'] = /^(\d+)(\[.*)?$/.exec(about) ?? []
  if (status === undefined || kind === undefined || state === undefined || amount === undefined)
    throw new Error('This is not a remembered webhook event.')
  return {
    paymentId: paymentIdOfKey(paymentKey),
    version: Number(version),
    status,
    capturedCents: Number(captured),
    refundedCents: Number(refunded),
    operation: { kind, state, amountCents: Number(amount), idempotencyKey: key.join(' ') },
    refunds: storedRefunds.decode(JSON.parse(refunds) as unknown[][]),
    error: errorRowOf(how.slice(2)),
    occurredAtMs: Number(occurredAt)
  }
}

function errorRowOf(name: string): ErrorCode | null {
  return name in errorCatalogue ? (name as ErrorCode) : null
}

/** What an event says of its payment: of `webhooks`, which may not read payments, each event carries it along. */
export interface EventTerms {
  readonly externalReference: string
  readonly amountCents: number
}

/** What the events of a payment say of it. */
export function eventTermsOf({ terms, progress }: Pick<Payment, 'terms' | 'progress'>): EventTerms {
  return { externalReference: terms.externalReference, amountCents: authorizedCentsOf(terms, progress) }
}

/**
 * An event that waits: `<JSON list of amount, reference and traceparent> <short form>`. The script that stores it puts
 * `<since, ms>` before it.
 */
export function encodeWaiting(
  change: StatusChange,
  { amountCents, externalReference }: EventTerms,
  traceparent: string | null = null
): string {
  const about = [amountCents, externalReference, ...(traceparent === null ? [] : [traceparent])]
  return `${inOneWord(about)} ${encodeChange(change)}`
}

/** An event that is not delivered yet. */
export interface QueuedEvent {
  readonly eventId: string
  readonly change: StatusChange
  readonly terms: EventTerms
  /** The step that made the change; null: it was not recorded. */
  readonly traceparent: string | null
  /** As it is stored. */
  readonly stored: string
  readonly delivery: Delivery
}

/**
 * Reads a stored event; throws when it is none. `attempts`: how many have failed. `nextAtMs`: of the next one; null when
 * it may be sent now.
 */
export function decodeQueued(stored: string, attempts: number, nextAtMs: number | null): QueuedEvent {
  // Only U+0020 divides: `\S` would also stop at U+00A0 and the like, which merchants' texts may have.
  const [, since, about = '', short = ''] = /^(\d+) ([^ ]+) (.*)$/s.exec(stored) ?? []
  const change = decodeChange(short)
  const sinceMs = Number(since)
  const [amountCents, externalReference, traceparent = null] = JSON.parse(about) as [number, string, string?]
  return {
    eventId: eventIdOf(change),
    change,
    terms: { amountCents, externalReference },
    traceparent,
    stored,
    delivery: { state: 'waiting', attempts, sinceMs, nextAtMs: nextAtMs ?? sinceMs }
  }
}

/** One try to deliver an event. */
export interface Attempt {
  readonly eventId: string
  readonly atMs: number
  /** HTTP status; null when there was no answer. */
  readonly status: number | null
  readonly durationMs: number
  /** First characters of the answer, or why there was none. */
  readonly note: string
}

/** One line of the lists of attempts. */
export function encodeAttempt({ eventId, atMs, status, durationMs, note }: Attempt): string {
  return `${eventId} ${atMs} ${status ?? 0} ${durationMs} ${note}`
}

/** Reads such a line. */
export function decodeAttempt(line: string): Attempt {
  const [eventId = '', atMs, status, durationMs, ...note] = line.split(' ')
  return {
    eventId,
    atMs: Number(atMs),
    status: Number(status) || null,
    durationMs: Number(durationMs),
    note: note.join(' ')
  }
}
