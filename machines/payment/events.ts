/**
 * Everything that can happen to a payment. Commands come from merchants, timers and the network's notifications;
 * outcomes are what calls to the network meant. `nowMs` travels with each event: machines have no clock.
 */
import type { Announcement, Environment } from '../model.js'
import type { NetworkReferences, Sale } from '../network.js'

type At = { readonly nowMs: number }

/** What a merchant asks of a payment. `amountCents` null: everything. */
export type AskedEvent = {
  readonly type: 'CAPTURE' | 'CANCEL'
  readonly amountCents: number | null
  readonly idempotencyKey: string
} & At

export type CommandEvent =
  | ({ readonly type: 'AUTHORISE' } & At)
  | AskedEvent
  | ({ readonly type: 'EXPIRE' } & At)
  | ({ readonly type: 'RECONCILE' } & At)
  /** A command is redelivered after its worker died: what that worker did is not known. */
  | ({ readonly type: 'RESUMED' } & At)
  /** A command was delivered too often; a person has to look. */
  | ({ readonly type: 'POISONED' } & At)
  /** The network announced that something happened to the sale. A hint, nothing more: it is asked. */
  | ({ readonly type: 'NETWORK_NOTICE'; readonly announced: Announcement } & At)
  /** A person has looked at what the payment was listed for. */
  | ({ readonly type: 'ATTENTION_SETTLED' } & At)
  /** A person has seen at the acquirer how an operation ended that the service could not reconcile. */
  | ({ readonly type: 'OPERATION_CONCLUDED'; readonly isBooked: boolean } & At)

export type CallEvent =
  | ({ readonly type: 'APPROVED'; readonly isCaptured: boolean; readonly references: NetworkReferences } & At)
  | ({
      readonly type: 'DECLINED'
      readonly code: string
      readonly references: NetworkReferences
    } & At)
  /** `isTooLate`: the network does not take this operation any more, because the time for it is over. */
  | ({ readonly type: 'REJECTED'; readonly code: string; readonly isTooLate?: boolean } & At)
  | ({ readonly type: 'NOT_SENT'; readonly reason: string } & At)
  | ({ readonly type: 'AMBIGUOUS'; readonly reason: string } & At)
  /** The card data is gone, or our keys do not open it; nothing was sent. */
  | ({ readonly type: 'CARD_MISSING'; readonly failure: 'invalid_token' | 'card_unreadable' } & At)
  /** The time to authorise was over before anything was sent. */
  | ({ readonly type: 'OVERDUE' } & At)

export type Found = { readonly sale: Sale; readonly surplusSaleId: string | null } & At

export type QueryEvent =
  | ({ readonly type: 'FOUND_AUTHORISED' } & Found)
  | ({ readonly type: 'FOUND_CAPTURED' } & Found)
  | ({ readonly type: 'FOUND_DENIED' } & Found)
  | ({ readonly type: 'FOUND_VOIDED' } & Found)
  | ({ readonly type: 'FOUND_UNFINISHED' } & Found)
  | ({ readonly type: 'ABSENT' } & At)
  | ({ readonly type: 'NO_ANSWER'; readonly reason: string } & At)

export type PaymentEvent = CommandEvent | CallEvent | QueryEvent

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
  /** Gaps between questions that get an answer, but no conclusive one (ms); the last one repeats. */
  readonly reconcileDelaysMs: readonly number[]
  /** How long the network must know nothing of a sale until that counts as proof (ms). */
  readonly notFoundHorizonMs: number
  /** Age at which an open question is listed for a person (ms). */
  readonly reconcileListAfterMs: number
}
