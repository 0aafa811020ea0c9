/**
 * The webhook event of a change of status (interface 6.2), and the short form in which delivered events are remembered.
 *
 * Its id follows from the payment and the version that the change gave it, so an event that is made again from the
 * short form is the same event: a receiver that has seen it discards it. Like a payment id, an event id sorts by time
 * and ends in the partition, so that it alone tells where to look for it.
 */
import { hash } from 'node:crypto'
import { type Payment, type PaymentStatus, paymentStatuses } from '../machines/model.js'
import { compactId, expandId } from './keys.js'

/** The type of all events (interface 6), in their bodies and in the header that comes with them. */
export const EVENT_TYPE = 'payment.status_changed'

/** What an event says beyond what is fixed for the whole life of its payment. */
export interface StatusChange {
  readonly paymentId: string
  /** Version of the payment after the change: one per commit. */
  readonly version: number
  readonly status: PaymentStatus
  readonly capturedCents: number
  readonly refundedCents: number
  readonly occurredAtMs: number
}

/** The change that a commit made. */
export function statusChangeOf({ terms, version, progress }: Payment, occurredAtMs: number): StatusChange {
  const { status, capturedCents, refundedCents } = progress
  return { paymentId: terms.id, version, status, capturedCents, refundedCents, occurredAtMs }
}

/** The body as merchants get it. */
export function encodeEvent(
  change: StatusChange,
  terms: { readonly externalReference: string; readonly amountCents: number }
): string {
  return JSON.stringify({
    event_id: eventIdOf(change),
    event_type: EVENT_TYPE,
    payment_id: change.paymentId,
    external_reference: terms.externalReference,
    status: change.status,
    amount_cents: terms.amountCents,
    captured_cents: change.capturedCents,
    refunded_cents: change.refundedCents,
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

/** The short form: about 60 characters; the body is made again from it and the payment. */
export function encodeChange(change: StatusChange): string {
  const { paymentId, version, status, capturedCents, refundedCents, occurredAtMs } = change
  return [compactId(paymentId), version, status, capturedCents, refundedCents, occurredAtMs].join(' ')
}

/** Reads the short form. Throws when it is none. */
export function decodeChange(text: string): StatusChange {
  const [compact = '', version, name, captured, refunded, occurredAt] = text.split(' ')
  const status = paymentStatuses.find(known => known === name)
  if (status === undefined || occurredAt === undefined) throw new Error('This is not a remembered webhook event.')
  return {
    paymentId: expandId(compact),
    version: Number(version),
    status,
    capturedCents: Number(captured),
    refundedCents: Number(refunded),
    occurredAtMs: Number(occurredAt)
  }
}

/** The change that a body tells of; `version` travels beside it. */
export function changeOfBody(body: string, version: number): StatusChange {
  const event = JSON.parse(body) as Record<string, unknown>
  return {
    paymentId: String(event['payment_id']),
    version,
    status: event['status'] as PaymentStatus,
    capturedCents: Number(event['captured_cents']),
    refundedCents: Number(event['refunded_cents']),
    occurredAtMs: Date.parse(String(event['occurred_at']))
  }
}
