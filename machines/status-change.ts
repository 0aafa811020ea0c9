/** What the webhook event of a change of status tells (docs/WEBHOOKS.md#what-arrives). */
import { type MerchantTexts, noTexts, type TextInEvents } from './merchant-text-rules.js'
import {
  type Operation,
  type Payment,
  type PaymentStatus,
  type PaymentTerms,
  type Refund,
  type ShownFailure,
  shownFailureOf
} from './model.js'

/** What an event says beyond what is fixed for the whole life of its payment. */
export interface StatusChange {
  readonly paymentId: string
  /** Version of the payment after the change: one per commit. */
  readonly version: number
  readonly status: PaymentStatus
  /** As in the progress of the payment: what was authorised, where that is less than was asked for. */
  readonly authorizedCents: number | null
  readonly capturedCents: number
  readonly refundedCents: number
  /** The last operation of the payment after the change. */
  readonly operation: Operation
  readonly refunds: readonly Refund[]
  /** Why the last operation failed; null: it did not. */
  readonly error: ShownFailure | null
  /** The code with which the network rejected the sale; null: it did not. */
  readonly rejectionCode: string | null
  readonly occurredAtMs: number
}

/** The change that a commit made. */
export function statusChangeOf(payment: Payment, occurredAtMs: number): StatusChange {
  const { terms, version, progress } = payment
  const { status, authorizedCents, capturedCents, refundedCents, operation, refunds } = progress
  const amounts = { authorizedCents, capturedCents, refundedCents }
  const error = progress.error === null ? null : shownFailureOf(progress.error, terms)
  const rejectionCode = rejectionCodeOf(payment)
  return { paymentId: terms.id, version, status, ...amounts, operation, refunds, error, rejectionCode, occurredAtMs }
}

/** The code with which the network rejected the sale; null when it did not. Only the history has it. */
export function rejectionCodeOf({ history, progress }: Pick<Payment, 'history' | 'progress'>): string | null {
  if (progress.status !== 'failed' || progress.error !== 'provider_rejected') return null
  const line = history.find(({ event }) => event === 'REJECTED')
  return line?.detail?.replace(/^code /, '') ?? null
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
  const amounts = { authorizedCents: null, capturedCents: TEST_CENTS, refundedCents: 0 }
  const captured = { status: 'captured', ...amounts, refunds: [] } as const
  return { paymentId, version: TEST_VERSION, ...captured, operation, error: null, rejectionCode: null, occurredAtMs }
}

export const testTerms: EventTerms = { ...noTexts, externalReference: 'test-event', amountCents: TEST_CENTS }

export function isTestChange({ version }: StatusChange): boolean {
  return version === TEST_VERSION
}

/** What an event says of its payment: of `webhooks`, which may not read payments, each event carries it along. */
export type EventTerms = Pick<PaymentTerms, 'externalReference' | 'amountCents'> & Pick<MerchantTexts, TextInEvents>

/** Where an event of the log is: it waits for its next attempt, was given up, or was delivered. */
export const loggedStates = ['waiting', 'undeliverable', 'delivered'] as const

export type LoggedState = (typeof loggedStates)[number]
