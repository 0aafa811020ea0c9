/**
 * The types of the domain: a payment, its terms and its progress, and the questions that their fields answer.
 *
 * Amounts are cents, times are ms since the epoch. Sources: docs/API.md#the-payment, docs/PAYMENTS.md.
 */
import type { MerchantTexts } from './merchant-text-rules.js'
import type { NetworkReferences } from './network.js'

/** In `test` no money moves: the card network is simulated, with its own test cards and codes. */
export type Environment = 'test' | 'live'

/** In the order of a payment's life (docs/PAYMENTS.md#what-each-status-means). */
export const paymentStatuses = [
  'pending',
  'pre_authorized',
  'capturing',
  'captured',
  'cancelling',
  'canceled',
  'refunding',
  'partially_refunded',
  'refunded',
  'charged_back',
  'expired',
  'failed',
  'unknown'
] as const

export type PaymentStatus = (typeof paymentStatuses)[number]

/** The phases of statuses that have some; the chart says which (machines/payment/). */
export const paymentPhases = ['sending', 'reconciling', 'releasing', 'released', 'watched', 'settled'] as const

export type PaymentPhase = (typeof paymentPhases)[number]

/** Where a payment is in the chart; `phase` is null in a status without phases. */
export interface PaymentPlace {
  readonly status: PaymentStatus
  readonly phase: PaymentPhase | null
}

/** The only currency. All amounts are its hundredths. */
export const CURRENCY = 'BRL'

export type MetadataValue = string | number | boolean | null

/** What the merchant asked for. It never changes, but the buyer may be erased (machines/payment/erasure.ts). */
export interface PaymentTerms extends MerchantTexts {
  readonly id: string
  readonly merchantId: string
  readonly externalReference: string
  /** `auto`: created with capture true; `manual`: with capture false. */
  readonly captureMode: 'auto' | 'manual'
  readonly amountCents: number
  readonly currency: typeof CURRENCY
  readonly installments: number
  readonly card: { readonly brand: string; readonly last4: string; readonly cardId: string | null }
  readonly customer: { readonly name: string; readonly email: string }
  readonly metadata: Readonly<Record<string, MetadataValue>> | null
  /** The capture window that was promised when the payment was created. */
  readonly preauthTtlMs: number
  readonly createdAtMs: number
}

export const operationKinds = ['authorization', 'capture', 'cancel', 'refund'] as const
export const operationStates = ['in_progress', 'succeeded', 'failed', 'unknown'] as const

export type OperationKind = (typeof operationKinds)[number]
export type OperationState = (typeof operationStates)[number]

/** The last operation of a payment. Requests of merchants begin operations, nothing else does. */
export interface Operation {
  readonly kind: OperationKind
  readonly state: OperationState
  readonly amountCents: number
  /** Of the request that asked for the operation: merchants recognise their operation by it. */
  readonly idempotencyKey: string
}

/** Captured money on its way back to the buyer, or refunded. */
export interface Refund {
  readonly amountCents: number
  readonly state: OperationState
  /** Of the request that asked for it; null: made outside this service. */
  readonly idempotencyKey: string | null
  /** Null: made outside this service. */
  readonly requestedAtMs: number | null
  /** When its outcome became known; null while it is open. */
  readonly concludedAtMs: number | null
  readonly error: FailureCode | null
}

/** Whether the operation has no result yet. As long as it has none, the payment takes no other operation. */
export function isOpen({ state }: { readonly state: string }): boolean {
  return state === 'in_progress' || state === 'unknown'
}

/** Whether the operation is open and belongs to the request with this key. A key may come again after its retention. */
export function isOpenFor(operation: Operation, idempotencyKey: string | null): boolean {
  return isOpen(operation) && operation.idempotencyKey === idempotencyKey
}

/** Why an operation did not do what was asked: names of rows of the error catalogue (contract/errors.ts). */
export const shownFailures = [
  'card_declined',
  'card_expired',
  'invalid_token',
  /** Shown in the place of `invalid_token`: see `shownFailureOf`. */
  'cvv_lost',
  /** Our keys do not open the card data: nothing was sent. */
  'card_unreadable',
  'provider_rejected',
  'network_unavailable',
  'authorization_overdue',
  /** The amount is held, and the capture that was asked for with it did not happen: the hold stands. */
  'capture_rejected',
  'capture_not_sent',
  /** The stored card was erased before the payment was sent. */
  'unknown_card',
  /** A refund that had succeeded, and that the network took back. */
  'refund_reversed'
] as const

export type ShownFailure = (typeof shownFailures)[number]

export type FailureCode = Exclude<ShownFailure, 'cvv_lost'>

/** Without a token, the card data that a payment lost before it was sent is the CVV of a stored card. */
export function shownFailureOf(code: FailureCode, { card }: Pick<PaymentTerms, 'card'>): ShownFailure {
  return code === 'invalid_token' && card.cardId !== null ? 'cvv_lost' : code
}

/** Why a command was not even started; also rows of the catalogue. Nothing changes. */
export type RefusalCode =
  | 'invalid_state'
  | 'operation_in_progress'
  | 'preauth_expired'
  | 'amount_exceeds_authorized'
  | 'amount_exceeds_refundable'
  | 'too_many_refunds'
  | 'partial_void'

/** Queries to the network. */
export interface QuerySchedule {
  /** What the horizon for "not found" counts from: the last moment at which a request in doubt can have left. */
  readonly sinceMs: number
  /** Queries that got an answer, and further tries of the operation: they lengthen the gaps. */
  readonly attempts: number
  readonly nextAtMs: number
}

/** Queries to the network about an outcome that is not known. */
export interface Reconciliation extends QuerySchedule {
  /** The first doubt. Its age decides about manual review, also when more is sent in between. */
  readonly openedMs: number
  /** How often the operation was sent. */
  readonly tries: number
  /** The end of the last try without an answer, which may still be booked; null: each try was answered. */
  readonly unansweredMs: number | null
  /** When the network answered the last try with a refusal; null: it did not. */
  readonly refusedMs: number | null
  /** What an operator saw at the acquirer. Nothing is sent any more; it counts from the horizon. */
  readonly concluded: 'booked' | 'not_booked' | null
}

/** What the network reported about a sale: a chargeback, a refund that was denied afterwards, or any change. */
export type ReportedChange = 'chargeback' | 'denied_refund' | 'change'

/**
 * Queries to the network while no operation runs: the record must confirm what the network reported, or an operation of ours.
 * `sinceMs`: since when.
 */
export interface Verification extends QuerySchedule {
  /** `own`: nothing was reported; an operation of ours is to be confirmed. */
  readonly reported: ReportedChange | 'own'
}

/** The whole voids that were sent of one sale: that of the payment, a late one, a duplicate. */
export interface SaleVoids {
  /** `TRIES_MAX` also when the network no longer takes one. */
  readonly times: number
  /** When the last one had left. */
  readonly lastMs: number
  /** Null: written by a version that counted the voids of all sales of the payment together. */
  readonly saleId: string | null
}

/** Why an operator should look at a payment; what happened: scripts/operator/review-advice.ts. */
export type ReviewReason =
  | 'unresolved_for_long'
  | 'duplicate_sale'
  | 'figures_differ'
  | 'sale_after_failure'
  | 'notification_unconfirmed'
  | 'poisoned'

/** All that changes in a payment's life. Its place is the machine's state value. */
export interface PaymentProgress extends PaymentPlace {
  readonly capturedCents: number
  readonly refundedCents: number
  readonly references: NetworkReferences
  readonly declinedCode: string | null
  readonly expiresAtMs: number | null
  readonly authorizedAtMs: number | null
  readonly capturedAtMs: number | null
  readonly canceledAtMs: number | null
  readonly refundedAtMs: number | null
  readonly operation: Operation
  /** The oldest first. A refund made outside this service is one of them. */
  readonly refunds: readonly Refund[]
  readonly error: FailureCode | null
  readonly reconciliation: Reconciliation | null
  /** What is still to be compared with the acquirer's record. */
  readonly verification: Verification | null
  readonly reviewReason: ReviewReason | null
  /** What the network authorised, when that is less than was asked for; null: all of it, or nothing yet. */
  readonly authorizedCents: number | null
  /** The sale that was voided last comes first. */
  readonly voids: readonly SaleVoids[]
}

/** One line of a payment's life, for operators; where it was afterwards. */
export interface HistoryEntry extends PaymentPlace {
  readonly atMs: number
  readonly event: string
  /** What explains the line: network code, sale id, amount or reason. */
  readonly detail: string | null
  /** How often the same thing happened in a row (queries without an answer). */
  readonly times: number
}

/** A payment as it is stored. `version` counts commits; it is the fence of invariant 5. */
export interface Payment {
  readonly version: number
  readonly terms: PaymentTerms
  readonly progress: PaymentProgress
  readonly history: readonly HistoryEntry[]
}

/** The name of a place as the chart has it: `captured`, `capturing.reconciling`. */
export function placeOf({ status, phase }: PaymentPlace): string {
  return phase === null ? status : `${status}.${phase}`
}

/** The time of its last change (ms). */
export function lastChangeMs({ terms, history }: Payment): number {
  return history.at(-1)?.atMs ?? terms.createdAtMs
}

export const noReferences: NetworkReferences = { saleId: null, tid: null, nsu: null, authorizationCode: null }

/** A payment at the moment of its acceptance: version 1, `pending`. */
export function newPayment(terms: PaymentTerms, idempotencyKey: string): Payment {
  return {
    version: 1,
    terms,
    progress: {
      status: 'pending',
      phase: null,
      capturedCents: 0,
      refundedCents: 0,
      references: noReferences,
      declinedCode: null,
      expiresAtMs: null,
      authorizedAtMs: null,
      capturedAtMs: null,
      canceledAtMs: null,
      refundedAtMs: null,
      operation: { kind: 'authorization', state: 'in_progress', amountCents: terms.amountCents, idempotencyKey },
      refunds: [],
      error: null,
      reconciliation: null,
      verification: null,
      reviewReason: null,
      authorizedCents: null,
      voids: []
    },
    history: []
  }
}
