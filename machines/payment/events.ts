/**
 * Everything that can happen to a payment. Commands come from merchants, timers and the network's notifications;
 * outcomes are what calls to the network meant. `nowMs` travels with each event: machines have no clock.
 *
 * `PaymentEvent` is what `decide` is given. classify.ts compares it with the payment and makes the `LifecycleEvent`
 * of it that the chart takes.
 */
import type { Environment, ReportedChange, ReviewReason } from '../model.js'
import type { NetworkReferences, Sale } from '../network.js'

type At = { readonly nowMs: number }

/** What a merchant asks of a payment. `amountCents` null: everything. */
export type AskedEvent = {
  readonly type: 'CAPTURE' | 'CANCEL'
  readonly amountCents: number | null
  readonly idempotencyKey: string
} & At

type CommandEvent =
  | ({ readonly type: 'AUTHORISE' } & At)
  | AskedEvent
  | ({ readonly type: 'EXPIRE' } & At)
  | ({ readonly type: 'RECONCILE' } & At)
  /** The command is redelivered after its worker died: whether the call was made is not known. */
  | ({ readonly type: 'RESUMED' } & At)
  /** A command was delivered too often without a result. */
  | ({ readonly type: 'POISONED' } & At)
  /** The network reported that something happened to the sale. It is only a hint: the network is queried. */
  | ({ readonly type: 'NETWORK_NOTIFICATION'; readonly reported: ReportedChange } & At)
  /** An operator has looked at what the payment was listed for. */
  | ({ readonly type: 'REVIEW_RESOLVED' } & At)

/** An operator has seen at the acquirer whether the operation in doubt is booked. */
type ReviewEvent = { readonly type: 'OPERATION_CONCLUDED'; readonly isBooked: boolean } & At

export type CallEvent =
  | ({ readonly type: 'APPROVED'; readonly isCaptured: boolean; readonly references: NetworkReferences } & At)
  | ({
      readonly type: 'DECLINED'
      readonly code: string
      readonly references: NetworkReferences
    } & At)
  /** `isTooLate`: the network no longer takes this operation, because the time for it is over. */
  | ({ readonly type: 'REJECTED'; readonly code: string; readonly isTooLate?: boolean } & At)
  | ({ readonly type: 'NOT_SENT'; readonly reason: string } & At)
  | ({ readonly type: 'AMBIGUOUS'; readonly reason: string } & At)
  /** The card data is gone or was erased, or our keys do not open it; nothing was sent. */
  | ({ readonly type: 'CARD_MISSING'; readonly failure: 'invalid_token' | 'unknown_card' | 'card_unreadable' } & At)
  /** The time to authorise was over before anything was sent. */
  | ({ readonly type: 'OVERDUE' } & At)

/** `sale`: the one that the payment owns. `duplicateSaleId`: a live second sale under its order. */
export type FoundEvent = {
  readonly type: 'FOUND'
  readonly sale: Sale
  readonly duplicateSaleId: string | null
} & At

type NoAnswer = { readonly type: 'NO_ANSWER'; readonly reason: string } & At

export type QueryEvent = FoundEvent | ({ readonly type: 'ABSENT' } & At) | NoAnswer

/** The input of `decide`. */
export type PaymentEvent = CommandEvent | ReviewEvent | CallEvent | QueryEvent

/** An answer about a sale, with the figures of the acquirer's record. */
type Shown = { readonly sale: Sale } & At
/** The same where the network may have named no sale. */
type MaybeShown = { readonly sale?: Sale } & At

/** What an answer of the network means to a payment, once it is compared with it. */
export type Finding =
  /** The record shows nothing new, and is not behind any more. */
  | ({ readonly type: 'NOTHING_NEW' } & MaybeShown)
  /**
   * The record may be behind. `isAgreeing`: it shows what we know, a moment after a change was reported. `note` explains
   * an answer without figures.
   */
  | ({ readonly type: 'RECORD_LAGS'; readonly isAgreeing?: true; readonly note?: string } & MaybeShown)
  | NoAnswer
  /** The record and the payment can't both be right. `reason`: why an operator must look. */
  | ({ readonly type: 'CONTRADICTED'; readonly reason: ReviewReason } & MaybeShown)
  /** A second live sale under our order: the buyer must not pay twice. */
  | ({ readonly type: 'DUPLICATE_SALE'; readonly duplicateSaleId: string } & Shown)
  /** A live sale of a payment that has failed. */
  | ({ readonly type: 'LATE_SALE' } & Shown)
  | ({ readonly type: 'SALE_AUTHORISED' } & Shown)
  | ({ readonly type: 'SALE_CAPTURED' } & Shown)
  /** There is no hold and no charge: the sale was voided or denied, or there is none. */
  | ({ readonly type: 'SALE_GONE' } & MaybeShown)
  /** A sale that was authorised is denied, also after the not-found horizon. */
  | ({ readonly type: 'SALE_DENIED' } & Shown)
  /** The network did not know the sale for the whole not-found horizon. */
  | ({ readonly type: 'SALE_ABSENT' } & At)
  /** The window is over, and the sale is still authorised. */
  | ({ readonly type: 'HOLD_LAPSED' } & Shown)
  /** The window is over, and the record does not show the state of the sale. */
  | ({ readonly type: 'HOLD_UNCLEAR' } & At)
  /** What was asked for is in the record. */
  | ({ readonly type: 'OPERATION_BOOKED' } & Shown)
  /** It is not in the record, and safe to send again. */
  | ({ readonly type: 'OPERATION_MISSING' } & Shown)
  | ({ readonly type: 'CHARGED_BACK' } & Shown)
  /** Another amount was captured. `isRefunded`: nothing of it is left to refund. */
  | ({ readonly type: 'AMOUNT_CORRECTED'; readonly isRefunded: boolean } & Shown)
  /** Refunds that were approved are denied afterwards; `refundedCents` are left. */
  | ({ readonly type: 'REFUND_REVERSED'; readonly refundedCents: number } & Shown)
  /** The acquirer gave money back without a refund of ours. */
  | ({ readonly type: 'REFUNDED_EXTERNALLY' } & Shown)

/** What the outcome of a capture, void or refund means while it runs. */
type OperationEvent =
  /** It is proven that it did not happen; `outcome` says why. */
  | ({ readonly type: 'OPERATION_FAILED'; readonly outcome: CallEvent } & At)
  /** It is proven that this try did not happen, but an earlier one may still arrive. */
  | ({ readonly type: 'EARLIER_TRY_IN_DOUBT'; readonly outcome: CallEvent } & At)

/** What an operator saw about the operation in doubt, when no copy of its request can arrive any more. */
type ResolvedEvent = { readonly type: 'RESOLVED_AS_BOOKED' | 'RESOLVED_AS_MISSING' } & At

/** The events of the chart. None of its conditions compares figures of the acquirer's record. */
export type LifecycleEvent = CommandEvent | CallEvent | Finding | OperationEvent | ResolvedEvent

/** What a decision asks the worker to do: at most one call to the network. Its outcome comes back as an event. */
export type Effect =
  | { readonly kind: 'authorise' }
  | { readonly kind: 'capture'; readonly saleId: string; readonly amountCents: number }
  /** Undoes the whole sale. */
  | { readonly kind: 'void'; readonly saleId: string }
  | { readonly kind: 'refund'; readonly saleId: string; readonly amountCents: number }
  | { readonly kind: 'query' }

/** The rules that come from configuration. */
export interface Policy {
  /** Decides what return codes mean. */
  readonly environment: Environment
  /** Gaps between queries that get an answer, but no conclusive one (ms); the last one repeats. */
  readonly reconcileDelaysMs: readonly number[]
  /** How long the network must know nothing of a sale until that counts as proof (ms). */
  readonly notFoundHorizonMs: number
  /** Age at which an open query is listed for manual review (ms). */
  readonly reconcileListAfterMs: number
}
