/**
 * The names that the chart of a payment may use: conditions, changes of facts, effects, tags.
 *
 * Conditions are about what the merchant asks for, the policy, and the data of the event. What the acquirer's record means
 * was decided before, by classify.ts. Effects do nothing here: their params are what decide.ts hands to the worker.
 */
import { assign, setup } from 'xstate'
import type { ReviewReason } from '../model.js'
import { authorizedCentsOf, refundAmountCents, refundableCents, saleOf } from './amounts.js'
import type { Facts, PaymentArgs, PaymentContext } from './context.js'
import * as doubtActions from './doubt-actions.js'
import type { Effect, LifecycleEvent } from './events.js'
import { listFor } from './manual-review.js'
import * as moneyActions from './money-actions.js'
import { takesRefund } from './refunds.js'

/** What is true of a place, for everything that asks: decisions, refusals, metrics, tests, documents. */
export type PaymentTag =
  /** An operation of the merchant has no result yet. */
  | 'in_progress'
  /** A call of the payment's own may be in flight, and the payment waits for its outcome. */
  | 'in_flight'
  /** What the network reports is verified at once; elsewhere it waits until no operation runs. */
  | 'verifiable'
  /** Money was taken, and its refunds are the service's to make. */
  | 'refundable'
  /** Nothing is left to do, unless the merchant or the network asks for it. */
  | 'resting'

const base = setup({
  types: {
    context: {} as PaymentContext,
    events: {} as LifecycleEvent,
    input: {} as PaymentContext,
    tags: {} as PaymentTag
  }
})

function changing(change: (args: PaymentArgs) => Partial<Facts>) {
  return base.assign(args => ({ facts: { ...args.context.facts, ...change(args) } }))
}

type Review = { readonly reason: ReviewReason }

const changes = { ...moneyActions, ...doubtActions }

const listForReview = assign<PaymentContext, LifecycleEvent, Review, LifecycleEvent, never>(
  ({ context }, { reason }) => ({ facts: { ...context.facts, ...listFor(context.facts, reason) } })
)

/** Each change of facts (money-actions.ts, doubt-actions.ts) is an action of the same name. */
type Changes = { readonly [Name in keyof typeof changes]: ReturnType<typeof changing> }
const changeActions = Object.fromEntries(
  Object.entries(changes).map(([name, change]) => [name, changing(change)])
) as Changes

const effect = (_: PaymentArgs, _effect: Effect): void => undefined

export const paymentSetup = base.extend({
  guards: {
    /** The network captured in the same step. */
    isCapturedAtNetwork: ({ event }) => event.type === 'APPROVED' && event.isCaptured,
    isManual: ({ context }) => context.terms.captureMode === 'manual',
    /** Inside the window, and not above the authorised amount (docs/API.md#post-v1paymentsidcapture). */
    isCapturable: ({ context: { terms, facts }, event }) =>
      event.type === 'CAPTURE' &&
      (event.amountCents ?? 0) <= authorizedCentsOf(terms, facts) &&
      (facts.expiresAtMs === null || event.nowMs < facts.expiresAtMs),
    /** The network voids a pre-authorisation as a whole only, by the acquirer's documents. */
    isWholeAmount: ({ context: { terms, facts }, event }) =>
      event.type === 'CANCEL' && [null, authorizedCentsOf(terms, facts)].includes(event.amountCents),
    isRefundable: ({ context: { facts }, event }) => {
      const amountCents = event.type === 'CANCEL' ? refundAmountCents(facts, event) : 0
      return amountCents >= 1 && amountCents <= refundableCents(facts) && takesRefund(facts, amountCents)
    },
    /** The window of the hold is over. */
    isDue: ({ context: { facts }, event }) => facts.expiresAtMs !== null && event.nowMs >= facts.expiresAtMs,
    /** With the refund at hand, nothing of the captured amount is left. */
    isLastRefund: ({ context: { facts } }) => facts.operation.amountCents >= refundableCents(facts),
    isPartlyRefunded: ({ context: { facts } }) => facts.refundedCents > 0,
    /** The record shows a chargeback. */
    isChargedBack: ({ event }) =>
      saleOf(event)?.isChargedBack === true || ('isChargedBack' in event && event.isChargedBack === true),
    /** No refund is left after the reversal. */
    isEveryRefundReversed: ({ event }) => event.type === 'REFUND_REVERSED' && event.refundedCents === 0,
    /** Nothing of the corrected amount is left to refund. */
    isRefundedWhole: ({ event }) => event.type === 'AMOUNT_CORRECTED' && event.isRefunded,
    isManualSaleKnown: ({ context: { terms, facts } }) =>
      terms.captureMode === 'manual' && facts.references.saleId !== null,
    /** The sale is known: it can be captured, voided and refunded. */
    isSaleKnown: ({ context: { facts } }) => facts.references.saleId !== null,
    /** The payment is on the list for manual review. */
    isListed: ({ context: { facts } }) => facts.reviewReason !== null
  },
  actions: {
    authorise: effect,
    captureSale: effect,
    voidSale: effect,
    voidDuplicate: effect,
    voidLateSale: effect,
    refundSale: effect,
    queryNetwork: effect,
    ...changeActions,
    listForReview
  }
})

/** What the chart's states are written in. */
export type PaymentState = Parameters<typeof paymentSetup.createStateConfig>[0]
