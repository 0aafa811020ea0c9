/**
 * The names that the chart of a payment may use: conditions, changes of figures, effects, tags.
 *
 * Conditions are about what the merchant asks for, the policy, and the data of the event. What the acquirer's record means
 * was decided before, by classify.ts. Effects do nothing here: their params are what decide.ts hands to the worker.
 */
import { assign, setup } from 'xstate'
import type { ReviewReason } from '../model.js'
import type { Figures, PaymentArgs, PaymentContext } from './context.js'
import * as doubtActions from './doubt-actions.js'
import type { Effect, LifecycleEvent } from './events.js'
import { listFor } from './manual-review.js'
import * as moneyActions from './money-actions.js'
import { takesRefund } from './refunds.js'
import { authorizedCentsOf, refundAmountCents, refundableCents, saleOf } from './sums.js'

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

function figures(change: (args: PaymentArgs) => Partial<Figures>) {
  return base.assign(args => ({ figures: { ...args.context.figures, ...change(args) } }))
}

type Review = { readonly reason: ReviewReason }

const changes = { ...moneyActions, ...doubtActions }

const listForReview = assign<PaymentContext, LifecycleEvent, Review, LifecycleEvent, never>(
  ({ context }, { reason }) => ({ figures: { ...context.figures, ...listFor(context.figures, reason) } })
)

/** Each change of figures (money-actions.ts, doubt-actions.ts) is an action of the same name. */
type FigureActions = { readonly [Name in keyof typeof changes]: ReturnType<typeof figures> }
const figureActions = Object.fromEntries(
  Object.entries(changes).map(([name, change]) => [name, figures(change)])
) as FigureActions

const effect = (_: PaymentArgs, _effect: Effect): void => undefined

export const paymentSetup = base.extend({
  guards: {
    /** The network captured in the same step. */
    isCapturedAtNetwork: ({ event }) => event.type === 'APPROVED' && event.isCaptured,
    isManual: ({ context }) => context.terms.captureMode === 'manual',
    /** Inside the window, and not above the authorised amount (docs/API.md#post-v1paymentsidcapture). */
    isCapturable: ({ context: { terms, figures }, event }) =>
      event.type === 'CAPTURE' &&
      (event.amountCents ?? 0) <= authorizedCentsOf(terms, figures) &&
      (figures.expiresAtMs === null || event.nowMs < figures.expiresAtMs),
    /** The network voids a pre-authorisation as a whole only, by the acquirer's documents. */
    isWholeAmount: ({ context: { terms, figures }, event }) =>
      event.type === 'CANCEL' && [null, authorizedCentsOf(terms, figures)].includes(event.amountCents),
    isRefundable: ({ context: { figures }, event }) => {
      const amountCents = event.type === 'CANCEL' ? refundAmountCents(figures, event) : 0
      return amountCents >= 1 && amountCents <= refundableCents(figures) && takesRefund(figures, amountCents)
    },
    /** The window of the hold is over. */
    isDue: ({ context: { figures }, event }) => figures.expiresAtMs !== null && event.nowMs >= figures.expiresAtMs,
    /** With the refund at hand, nothing of the captured amount is left. */
    isLastRefund: ({ context: { figures } }) => figures.operation.amountCents >= refundableCents(figures),
    isPartlyRefunded: ({ context: { figures } }) => figures.refundedCents > 0,
    /** The record shows a chargeback. */
    isChargedBack: ({ event }) =>
      saleOf(event)?.isChargedBack === true || ('isChargedBack' in event && event.isChargedBack === true),
    /** No refund is left after the reversal. */
    isEveryRefundReversed: ({ event }) => event.type === 'REFUND_REVERSED' && event.refundedCents === 0,
    /** Nothing of the corrected amount is left to refund. */
    isRefundedWhole: ({ event }) => event.type === 'AMOUNT_CORRECTED' && event.isRefunded,
    isManualSaleKnown: ({ context: { terms, figures } }) =>
      terms.captureMode === 'manual' && figures.references.saleId !== null,
    /** The sale is known: it can be captured, voided and refunded. */
    isSaleKnown: ({ context: { figures } }) => figures.references.saleId !== null,
    /** The payment is on the list for manual review. */
    isListed: ({ context: { figures } }) => figures.reviewReason !== null
  },
  actions: {
    authorise: effect,
    captureSale: effect,
    voidSale: effect,
    voidDuplicate: effect,
    voidLateSale: effect,
    refundSale: effect,
    queryNetwork: effect,
    ...figureActions,
    listForReview
  }
})

/** What the chart's states are written in. */
export type PaymentState = Parameters<typeof paymentSetup.createStateConfig>[0]
