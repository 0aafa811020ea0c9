/** What the API and the timers ask of the payments workers. The words travel through the command streams. */
import type { Announcement, FailureCode, OperationKind, PaymentProgress, PaymentTerms, RefusalCode } from './model.js'
import type { Buyer } from './network.js'

/** Where the card of a new payment comes from. */
export type CardSource =
  | { readonly type: 'token'; readonly tokenId: string }
  | { readonly type: 'card'; readonly cardId: string; readonly hasCvv: boolean }

export type Command =
  /** Authorise (and capture) a payment that was accepted as `pending`. */
  | { readonly kind: 'create'; readonly buyer: Buyer; readonly source: CardSource }
  /** `amountCents` null: the whole authorised amount. */
  | { readonly kind: 'capture'; readonly amountCents: number | null }
  /** Undo a pre-authorisation or refund; null: the whole balance. */
  | { readonly kind: 'cancel'; readonly amountCents: number | null }
  /** Something of this payment is due: its expiry, or the next question to the network. */
  | { readonly kind: 'wake' }
  /** The network announced that something happened to the sale of this payment. */
  | { readonly kind: 'network_notice'; readonly announced: Announcement }
  /** An operator has looked at what the payment was listed for. */
  | { readonly kind: 'settle_attention' }
  /** An operator has seen at the acquirer whether the refund that is in doubt is booked. */
  | { readonly kind: 'conclude_refund'; readonly isBooked: boolean }

/** How a merchant's command ended; kept with its Idempotency-Key and replayed to a repeated request. */
export type CommandResult =
  | { readonly kind: 'succeeded'; readonly progress: PaymentProgress }
  | { readonly kind: 'failed'; readonly code: FailureCode }
  | { readonly kind: 'refused'; readonly code: RefusalCode }

/** Where the time of a request went, ms: waiting for a worker, for the payment's lock, for the network, and the rest. */
export interface StepTimes {
  readonly queueMs: number
  readonly lockMs: number
  readonly networkMs: number
  readonly storeMs: number
}

/**
 * What became of a submitted request; `times` where its worker has told them.
 * - `finished`: ended; `isReplay` when an earlier request with the same key did the work
 * - `in_progress`: accepted, not ended within the wait, or the outcome is unknown: the payment as it stands (202).
 *   `waiting` is the accepted operation while no worker has begun it: `progress` does not show it yet
 * - `create_in_progress`: the same key is still creating its payment (409)
 * - `conflict`: the key was used with another request (409)
 * - `not_found`: no such payment of this merchant
 */
export type Submission =
  | {
      readonly kind: 'finished'
      readonly terms: PaymentTerms
      readonly result: CommandResult
      readonly isReplay: boolean
      readonly times?: StepTimes
    }
  | {
      readonly kind: 'in_progress'
      readonly terms: PaymentTerms
      readonly progress: PaymentProgress
      readonly waiting: OperationKind | null
      readonly isReplay: boolean
      readonly times?: StepTimes
    }
  | { readonly kind: 'create_in_progress'; readonly paymentId: string }
  | { readonly kind: 'conflict' }
  | { readonly kind: 'not_found' }
