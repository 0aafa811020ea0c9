/**
 * The calls to the card network, and what their answers mean to a payment.
 *
 * The adapter (workers/network/) turns HTTP into these; the machine decides on nothing else. Amounts are cents.
 */
import type { Lease } from './lease.js'

/** Transaction identifiers at the card network; `null` where the network gave none. */
export interface NetworkReferences {
  /** The network's own id of the sale: key of capture, void and query. */
  readonly saleId: string | null
  readonly tid: string | null
  /** `ProofOfSale`. */
  readonly nsu: string | null
  readonly authorizationCode: string | null
}

/**
 * The meaning of one call that moves money (acquirer-answers.ts). Exactly one of:
 * - `approved`: done. For an authorisation `isCaptured` tells whether the sale was captured in the same step. `stated`:
 *   what the answer to a capture, void or refund says about the sale afterwards.
 * - `declined`: the issuer said no; nothing was charged.
 * - `rejected`: the network refused the operation as such; nothing changed. `isTooLate`: the time for it is over.
 * - `not_sent`: it is proven that nothing happened (no connection, or no byte of the request left). `isCircuitOpen`: our
 *   circuit refused the call; it stays open for longer than a retry may take.
 * - `unproven`: the acquirer answered, and the answer does not prove what it did. No copy of the call is left, unless it
 *   `mayArrive`: then a gateway may have answered instead.
 * - `ambiguous`: anything else (timeout, cut connection, 5xx, nonsense, "not finished"): the call may still be booked.
 */
export type CallOutcome =
  | {
      readonly kind: 'approved'
      readonly isCaptured: boolean
      readonly references: NetworkReferences
      readonly stated?: StatedSale
    }
  | { readonly kind: 'declined'; readonly code: string; readonly references: NetworkReferences }
  | { readonly kind: 'rejected'; readonly code: string; readonly isTooLate?: boolean }
  | { readonly kind: 'not_sent'; readonly reason: string; readonly isCircuitOpen?: true }
  | { readonly kind: 'unproven'; readonly reason: string; readonly mayArrive?: true }
  | { readonly kind: 'ambiguous'; readonly reason: string }

/** What the answer to a capture, void or refund states about the sale (cents); null: nothing. */
export interface StatedSale {
  readonly capturedCents: number | null
  /** Cumulative. */
  readonly voidedCents: number | null
  /** Nothing of the sale is left: it is voided or refunded as a whole. */
  readonly isClosed: boolean
}

/** A sale as the network's query shows it. */
export interface Sale {
  readonly references: NetworkReferences & { readonly saleId: string }
  /** `unfinished`: the network itself does not know yet. */
  readonly status: 'unfinished' | 'authorised' | 'captured' | 'denied' | 'voided'
  readonly amountCents: number
  /** Null: the record names none. */
  readonly currency: string | null
  readonly capturedCents: number
  /** Voided or refunded so far, cumulative. Null: the record does not say, and the account has never shown it. */
  readonly voidedCents: number | null
  readonly declinedCode: string | null
  readonly isChargedBack: boolean
}

/** Whether the sale holds or has taken the buyer's money. */
export function isLive({ status }: Sale): boolean {
  return status === 'authorised' || status === 'captured'
}

/** The meaning of a query about an order. `sales` is newest last; more than one is a duplicate at the network. */
export type QueryOutcome =
  | { readonly kind: 'found'; readonly sales: readonly [Sale, ...Sale[]] }
  | { readonly kind: 'absent' }
  | { readonly kind: 'no_answer'; readonly reason: string }

/** Card data in the clear, for the length of one call. Never logged, never stored. */
export interface OpenCard {
  readonly number: string
  readonly holderName: string
  /** "01".."12" */
  readonly expirationMonth: string
  /** "YYYY" */
  readonly expirationYear: string
  readonly cvv: string | null
}

/** What an authorisation needs beyond the payment: the buyer's data that the network requires. */
export interface Buyer {
  readonly name: string
  readonly email: string
  /** CPF (11 digits) or CNPJ (14 characters: digits or capital letters, then two digits). */
  readonly document: string
  readonly phone: string
  readonly address: {
    readonly zipCode: string
    readonly street: string
    readonly number: string
    readonly complement: string | null
    readonly district: string
    readonly city: string
    readonly state: string
  }
}

export interface AuthoriseRequest {
  readonly orderId: string
  readonly amountCents: number
  readonly installments: number
  /** true: authorise and capture in one step. */
  readonly capture: boolean
  readonly statementDescriptor: string | null
  /** Our brand name in lower case, as in machines/card-brands.ts. */
  readonly brand: string
  readonly card: OpenCard
  readonly isStoredCard: boolean
  readonly buyer: Buyer
}

/** The card network. No method throws: every failure is an outcome. A lease that is lost stops
 * a call before it starts, and a query also while it is in flight. */
export interface CardNetwork {
  authorise(request: AuthoriseRequest, lease: Lease): Promise<CallOutcome>
  /** Captures `amountCents` of an authorised sale; the network allows exactly one capture. */
  capture(saleId: string, amountCents: number, lease: Lease): Promise<CallOutcome>
  /** Voids or refunds. `null` voids the whole sale; an amount is additive at the network: never repeat it blindly. */
  void(saleId: string, amountCents: number | null, lease: Lease): Promise<CallOutcome>
  /** All sales under one order id, each with its present state. */
  query(orderId: string, lease: Lease): Promise<QueryOutcome>
  /** The order id that a sale belongs to, for notifications that name only the sale. `null`: unknown or no answer. */
  findOrderId(saleId: string, lease: Lease): Promise<string | null>
}

/** Our order id at the network is the payment id without its hyphens: reconciliation asks by it. */
export function orderIdOf(paymentId: string): string {
  return paymentId.replaceAll('-', '')
}

/** The payment id behind an order id, or `null` when it is not one of ours. */
export function paymentIdOf(orderId: string): string | null {
  const match = /^([0-9a-f]{8})([0-9a-f]{4})([0-9a-f]{4})([0-9a-f]{4})([0-9a-f]{12})$/.exec(orderId)
  return match === null ? null : match.slice(1).join('-')
}
