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
    isRefundMissing: guard(guards.isRefundMissing),
    isConcludedAsBooked: guard(guards.isConcludedAsBooked),
    isConcludedAsBookedWhole: guard(
      (context, event) => guards.isConcludedAsBooked(context, event) && guards.isLastRefund(context, event)
    ),
    isConcludedAsMissing: guard(guards.isConcludedAsMissing),
    isConcludedAsMissingAfterOthers: guard(
      (context, event) => guards.isConcludedAsMissing(context, event) && guards.isPartlyRefunded(context, event)
    ),
    isChargedBack: guard(guards.isChargedBack),
    isEveryRefundUndone: guard(guards.isEveryRefundUndone),
    isRefundUndone: guard(guards.isRefundUndone),
    isRefundStillToShow: guard(guards.isRefundStillToShow),
    isCaptureStillToShow: guard(guards.isCaptureStillToShow),
    isCancelStillToShow: guard(guards.isCancelStillToShow),
    isVoidedElsewhere: guard(guards.isVoidedElsewhere),
    isCapturedOtherwise: guard(guards.isCapturedOtherwise),
    isCapturedAsFarAsRefunded: guard(guards.isCapturedAsFarAsRefunded),
    isNoticeAwaited: guard(guards.isNoticeAwaited),
    isChangeAwaited: guard(guards.isChangeAwaited),
    isDueWithChangeAwaited: guard(
      (context, event) => guards.isDue(context, event) && guards.isChangeAwaited(context, event)
    ),
    isNoticeUnconfirmed: guard(guards.isNoticeUnconfirmed),
    isAbsencePassing: guard(guards.isAbsencePassing),
    isChangeForgotten: guard(guards.isChangeForgotten),
    isTooLate: guard(guards.isTooLate),
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
    noteRefundUndone: figures(progress.noteRefundUndone),
    noteVoidedElsewhere: figures(progress.noteVoidedElsewhere),
    noteCapturedOtherwise: figures(progress.noteCapturedOtherwise),
    noteReferences: figures(progress.noteReferences),
    noteDeclined: figures(progress.noteDeclined),
    beginOperation: figures(progress.beginOperation),
    continueWithCapture: figures(progress.continueWithCapture),
    resend: figures(progress.resend),
    succeed: figures(progress.succeed),
    fail: figures(progress.fail),
    beginInquiry: figures(progress.beginInquiry),
    beginReleaseInquiry: figures(progress.beginReleaseInquiry),
    askLater: figures(progress.askLater),
    keepAsking: figures(progress.keepAsking),
    watch: figures(progress.watch),
    endInquiry: figures(progress.endInquiry),
    noteNotice: figures(progress.noteNotice),
    verifyNoticeLater: figures(progress.verifyNoticeLater),
    verifyChangeLater: figures(progress.verifyChangeLater),
    endNotice: figures(progress.endNotice),
    callForSurplus: figures(progress.callFor('surplus_sale')),
    callForLateSale: figures(progress.callFor('sale_after_failure')),
    callForFigures: figures(progress.callFor('figures_differ')),
    callForNotice: figures(progress.callFor('notice_unconfirmed')),
    callForPoison: figures(progress.callFor('poisoned')),
    settleAttention: figures(progress.settleAttention)
  }
})
