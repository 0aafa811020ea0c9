/**
 * What the API, timers, notifications of the network and operators ask of the payments workers. The words travel through the
 * command streams.
 */
import type { FailureCode, PaymentProgress, RefusalCode, ReportedChange } from './model.js'
import type { Buyer } from './network.js'

/** Where the card of a new payment comes from. */
export type CardSource =
  | { readonly type: 'token'; readonly tokenId: string }
  | {
      readonly type: 'card'
      readonly cardId: string
      readonly hasCvv: boolean
      /** The one-use token that has the CVV; absent: it came with the request. */
      readonly cvvTokenId?: string
    }

export type Command =
  /** Authorise (and capture) a payment that was accepted as `pending`. */
  | {
      readonly kind: 'create'
      readonly buyer: Buyer
      readonly source: CardSource
      /** Nothing is sent after this moment, by the clock of Redis (ms). */
      readonly authoriseByMs: number
    }
  /** `amountCents` null: the whole authorised amount. */
  | { readonly kind: 'capture'; readonly amountCents: number | null }
  /** Undo a pre-authorisation or refund; null: the whole balance. */
  | { readonly kind: 'cancel'; readonly amountCents: number | null }
  /** Something of this payment is due: its expiry, or the next reconciliation. */
  | { readonly kind: 'wake' }
  /** The network reported that something happened to the sale of this payment. */
  | { readonly kind: 'network_notification'; readonly reported: ReportedChange }
  /** An operator has looked at what the payment was listed for. */
  | { readonly kind: 'resolve_review' }
  /** An operator has seen at the acquirer whether the operation that is in doubt is booked. */
  | { readonly kind: 'conclude_operation'; readonly isBooked: boolean }
  /** An operator erases the personal data of the buyer. */
  | { readonly kind: 'erase_buyer' }

/** How a merchant's command ended; kept with its Idempotency-Key and replayed to a repeated request. */
export type CommandResult =
  | { readonly kind: 'succeeded'; readonly progress: PaymentProgress }
  | { readonly kind: 'failed'; readonly code: FailureCode }
  | { readonly kind: 'refused'; readonly code: RefusalCode }
