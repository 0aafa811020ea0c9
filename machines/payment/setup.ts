/**
 * The names that the chart of a payment may use: its conditions, its changes of figures, its effects.
 *
 * Conditions and changes are pure functions of guards.ts and progress.ts. Effects do nothing here: decide.ts reads their
 * names and hands them to the worker as data.
 */
import { setup } from 'xstate'
import type { PaymentEvent } from './events.js'
import * as guards from './guards.js'
import type { PaymentContext } from './progress.js'
import * as progress from './progress.js'

type Args = { context: PaymentContext; event: PaymentEvent }

const base = setup({
  types: {
    context: {} as PaymentContext,
    events: {} as PaymentEvent,
    input: {} as PaymentContext
  }
})

function figures(change: (context: PaymentContext, event: PaymentEvent) => Partial<progress.Figures>) {
  return base.assign(({ context, event }) => ({ figures: { ...context.figures, ...change(context, event) } }))
}

function guard(condition: (context: PaymentContext, event: PaymentEvent) => boolean) {
  return ({ context, event }: Args) => condition(context, event)
}

function effect() {
  return () => undefined
}

export const paymentSetup = base.extend({
  guards: {
    isCapturedAtNetwork: guard(guards.isCapturedAtNetwork),
    isManual: guard(guards.isManual),
    isCapturable: guard(guards.isCapturable),
    isWholeAmount: guard(guards.isWholeAmount),
    isRefundable: guard(guards.isRefundable),
    isDue: guard(guards.isDue),
    isLastRefund: guard(guards.isLastRefund),
    isPartlyRefunded: guard(guards.isPartlyRefunded),
    isBeyondHorizon: guard(guards.isBeyondHorizon),
    isEarlierTryInDoubt: guard(guards.isEarlierTryInDoubt),
    hasSurplus: guard(guards.hasSurplus),
    isRefundBooked: guard(guards.isRefundBooked),
    isRefundBookedWhole: guard(
      (context, event) => guards.isRefundBooked(context, event) && guards.isLastRefund(context, event)
    ),
    isRefundSurelyMissing: guard(
      (context, event) => guards.isRefundMissing(context, event) && guards.isBeyondHorizon(context, event)
    ),
    isChargedBack: guard(guards.isChargedBack),
    isVoidedOtherwise: guard(guards.isVoidedOtherwise),
    isListed: guard(guards.isListed)
  },
  actions: {
    authorise: effect(),
    captureSale: effect(),
    voidSale: effect(),
    voidSurplus: effect(),
    refundSale: effect(),
    askNetwork: effect(),
    noteAuthorised: figures(progress.noteAuthorised),
    noteCaptured: figures(progress.noteCaptured),
    noteCanceled: figures(progress.noteCanceled),
    noteRefunded: figures(progress.noteRefunded),
    noteReferences: figures(progress.noteReferences),
    noteDeclined: figures(progress.noteDeclined),
    beginCapture: figures(progress.beginCapture),
    continueWithCapture: figures(progress.continueWithCapture),
    beginCancel: figures(progress.beginCancel),
    beginRefund: figures(progress.beginRefund),
    resend: figures(progress.resend),
    succeed: figures(progress.succeed),
    fail: figures(progress.fail),
    beginInquiry: figures(progress.beginInquiry),
    beginReleaseInquiry: figures(progress.beginReleaseInquiry),
    askLater: figures(progress.askLater),
    keepAsking: figures(progress.keepAsking),
    watch: figures(progress.watch),
    endInquiry: figures(progress.endInquiry),
    noteDispute: figures(progress.noteDispute),
    verifyDisputeLater: figures(progress.verifyDisputeLater),
    endDispute: figures(progress.endDispute),
    callForSurplus: figures(progress.callFor('surplus_sale')),
    callForLateSale: figures(progress.callFor('sale_after_failure')),
    callForFigures: figures(progress.callFor('figures_differ')),
    callForPoison: figures(progress.callFor('poisoned')),
    settleAttention: figures(progress.settleAttention)
  }
})
