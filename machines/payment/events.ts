/**
 * Everything that can happen to a payment. Commands come from merchants, timers, operators and the network's notifications;
 * outcomes are what calls to the network meant. `nowMs` travels with each event: machines have no clock.
 *
 * `PaymentEvent` is what `decide` is given. classify.ts compares it with the payment and makes the `LifecycleEvent`
 * of it that the chart takes.
 */
import type { ReportedChange, ReviewReason } from '../model.js'
import type { NetworkReferences, Sale, StatedSale } from '../network.js'

/** An event with its data. */
type Event<Type extends string, Data = unknown> = { readonly type: Type; readonly nowMs: number } & Readonly<Data>

/** What a merchant asks of a payment. `amountCents` null: everything. */
export type RequestEvent = Event<'CAPTURE' | 'CANCEL', { amountCents: number | null; idempotencyKey: string }>

type CommandEvent =
  | Event<'AUTHORISE'>
  | RequestEvent
  | Event<'EXPIRE'>
  | Event<'RECONCILE'>
  /** The command is redelivered after its worker died: whether the call was made is not known. */
  | Event<'RESUMED'>
  /** A command was delivered too often without a result. */
  | Event<'POISONED'>
  /** The network reported that something happened to the sale. It is only a hint: the network is queried. */
  | Event<'NETWORK_NOTIFICATION', { reported: ReportedChange }>
  /** An operator has looked at what the payment was listed for. */
  | Event<'REVIEW_RESOLVED'>

/** An operator has seen at the acquirer whether the operation in doubt is booked. */
type ReviewEvent = Event<'OPERATION_CONCLUDED', { isBooked: boolean }>

export type CallEvent =
  | Event<'APPROVED', { isCaptured: boolean; references: NetworkReferences; stated?: StatedSale }>
  | Event<'DECLINED', { code: string; references: NetworkReferences }>
  /** `isTooLate`: the network no longer takes this operation, because the time for it is over. */
  | Event<'REJECTED', { code: string; isTooLate?: boolean }>
  | Event<'NOT_SENT', { reason: string }>
  /**
   * What the network did is not proven: its record decides. The call `ended` with an answer that proves nothing; it
   * `may_arrive` in spite of one, and be booked (acquirer-answers.ts); or it was `not_made`, because the operation may have been
   * done before (unvouched.ts).
   */
  | Event<'UNPROVEN', { reason: string; call: 'ended' | 'may_arrive' | 'not_made' }>
  | Event<'AMBIGUOUS', { reason: string }>
  /** The card data is gone or was erased, or our keys do not open it; nothing was sent. */
  | Event<'CARD_MISSING', { failure: 'invalid_token' | 'unknown_card' | 'card_unreadable' }>
  /** The time to authorise was over before anything was sent. */
  | Event<'OVERDUE'>

/**
 * `sale`: the one that the payment owns. `isOther`: the payment is known to own another one, which the record lacks.
 * `duplicates`: live further sales under its order. `isOtherChargedBack`: one of the further sales is, live or not.
 */
export type FoundEvent = Event<
  'FOUND',
  { sale: Sale; isOther: boolean; duplicates: readonly Duplicate[]; isOtherChargedBack?: true }
>

export interface Duplicate {
  readonly saleId: string
  readonly isChargedBack: boolean
}

type NoAnswer = Event<'NO_ANSWER', { reason: string }>

export type QueryEvent = FoundEvent | Event<'ABSENT'> | NoAnswer

/** The input of `decide`. */
export type PaymentEvent = CommandEvent | ReviewEvent | CallEvent | QueryEvent

/** An answer about a sale, with what the acquirer's record shows. */
type Shown = { sale: Sale; isUncapturedCounted?: true }
/** The same where the network may have named no sale. `isUncapturedCounted`: its voided amount counted what was never captured. */
type MaybeShown = { sale?: Sale; isUncapturedCounted?: true }

/** An operator has seen it at the acquirer: the payment needs no review any more. `isChargedBack`: the record shows that. */
type Concluded = { isSeenByOperator?: true; isChargedBack?: true }

export type Lag = 'behind' | 'agrees' | 'just_voided' | 'void_is_over'

/** What an answer of the network means to a payment, once it is compared with it. */
export type Finding =
  /** The record shows nothing new, and is not behind any more. */
  | Event<'NOTHING_NEW', MaybeShown>
  /**
   * The record does not settle it yet: it may be `behind`; it `agrees` with us, a moment after a change was reported; a sale was
   * `just_voided`; or the `void_is_over`, because the network no longer takes the one that was sent. `note` explains an answer
   * without amounts.
   */
  | Event<'RECORD_LAGS', { because: Lag; note?: string } & MaybeShown>
  | NoAnswer
  /** The record and the payment can't both be right. `reason`: why an operator must look; `note`: more of it. */
  | Event<'CONTRADICTED', { reason: ReviewReason; note?: string } & MaybeShown>
  /** A second live sale under our order: the buyer must not pay twice. Null: it is not voided, an operator must look. */
  | Event<'DUPLICATE_SALE', { duplicateSaleId: string | null } & Shown>
  /** A live sale of a payment that has failed. */
  | Event<'LATE_SALE', Shown>
  | Event<'SALE_AUTHORISED', Shown>
  | Event<'SALE_CAPTURED', Shown>
  /** There is no hold and no charge: the sale was voided or denied, or there is none. */
  | Event<'SALE_GONE', Concluded & MaybeShown>
  /** A sale that was authorised is denied, also after the not-found horizon. */
  | Event<'SALE_DENIED', Shown>
  /** The network did not know the sale for the whole not-found horizon. */
  | Event<'SALE_ABSENT'>
  /** The window is over, and the sale is still authorised. */
  | Event<'HOLD_LAPSED', Shown>
  /** The window is over, and the record does not show the state of the sale. */
  | Event<'HOLD_UNCLEAR'>
  /** What was asked for is in the record. */
  | Event<'OPERATION_BOOKED', Concluded & MaybeShown>
  /** It is not in the record, and safe to send again. */
  | Event<'OPERATION_MISSING', Shown>
  /** It is not in the record, and no try of it can be booked any more. `isRefused`: the network said so. */
  | Event<'OPERATION_NOT_BOOKED', { isRefused: boolean } & Concluded & MaybeShown>
  | Event<'CHARGED_BACK', Shown>
  /** Another amount was authorised or captured. `isRefunded`: nothing of it is left to refund. */
  | Event<'AMOUNT_CORRECTED', { isRefunded: boolean } & Shown>
  /** Refunds that were approved are denied afterwards; `refundedCents` are left. */
  | Event<'REFUND_REVERSED', { refundedCents: number } & Shown>
  /** The acquirer gave money back without a refund of ours. */
  | Event<'REFUNDED_EXTERNALLY', Shown>

/** What the outcome of a capture, void or refund means while it runs. */
type OperationEvent =
  /** It is proven that it did not happen; `outcome` says why. */
  | Event<'OPERATION_FAILED', { outcome: CallEvent }>
  /** It is proven that this try did not happen, but an earlier one may still arrive. */
  | Event<'EARLIER_TRY_IN_DOUBT', { outcome: CallEvent }>

/** What an operator saw about a sale in doubt. */
type ResolvedEvent = Event<'RESOLVED_AS_BOOKED' | 'RESOLVED_AS_MISSING', Concluded>

/** The end of what is in doubt by what an operator saw, when no copy of the request can arrive any more. */
export type ConcludedEvent =
  | ResolvedEvent
  | Extract<Finding, { type: 'SALE_GONE' | 'OPERATION_BOOKED' | 'OPERATION_NOT_BOOKED' }>

/** A copy may still arrive: what the operator saw counts from the horizon, and nothing is sent until then. */
type NotedEvent = Event<'CONCLUSION_NOTED', { isBooked: boolean }>

/** The events of the chart. None of its conditions compares amounts of the acquirer's record. */
export type LifecycleEvent = CommandEvent | CallEvent | Finding | OperationEvent | ResolvedEvent | NotedEvent

/** What a decision asks the worker to do: at most one call to the network. Its outcome comes back as an event. */
export type Effect =
  | { readonly kind: 'authorise' }
  | { readonly kind: 'capture'; readonly saleId: string; readonly amountCents: number }
  /** Undoes the whole sale. */
  | { readonly kind: 'void'; readonly saleId: string }
  | { readonly kind: 'refund'; readonly saleId: string; readonly amountCents: number }
  | { readonly kind: 'query' }
