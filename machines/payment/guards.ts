/** The conditions that the chart names (setup.ts). Pure questions about figures and the event at hand. */
import type { Notice } from '../model.js'
import type { PaymentEvent } from './events.js'
import type { PaymentContext } from './progress.js'
import { isFound, knownVoidedCents, refundAmountCents, refundableCents, shownCapturedCents } from './sums.js'

/** The network answers questions about sales of the last three months (acquirer's manual, queries): at least this long. */
const NETWORK_MEMORY_MS = 89 * 24 * 3_600_000

type Guard = (context: PaymentContext, event: PaymentEvent) => boolean

/** The network captured in the same step (or captured a sale that was only to be authorised: its record counts). */
export const isCapturedAtNetwork: Guard = (_, event) => event.type === 'APPROVED' && event.isCaptured

export const isManual: Guard = ({ terms }) => terms.captureMode === 'manual'

/** Inside the window, and not above the authorised amount (docs/API.md#post-v1paymentsidcapture). */
export const isCapturable: Guard = ({ terms, figures }, event) =>
  event.type === 'CAPTURE' &&
  (event.amountCents ?? terms.amountCents) <= terms.amountCents &&
  (figures.expiresAtMs === null || event.nowMs < figures.expiresAtMs)

/** The network voids a pre-authorisation as a whole only, by the acquirer's documents. */
export const isWholeAmount: Guard = ({ terms }, event) =>
  event.type === 'CANCEL' && (event.amountCents ?? terms.amountCents) === terms.amountCents

export const isRefundable: Guard = ({ figures }, event) => {
  const amountCents = refundAmountCents(figures, event)
  return amountCents >= 1 && amountCents <= refundableCents(figures)
}

export const isDue: Guard = ({ figures }, event) => figures.expiresAtMs !== null && event.nowMs >= figures.expiresAtMs

/** With the refund at hand, nothing of the captured amount is left. */
export const isLastRefund: Guard = ({ figures }) => figures.operation.amountCents >= refundableCents(figures)

export const isPartlyRefunded: Guard = ({ figures }) => figures.refundedCents > 0

/** Silence for so long that a request in doubt can no longer arrive (docs/DESIGN.md, 6). */
export const isBeyondHorizon: Guard = ({ figures, policy }, event) =>
  figures.inquiry !== null && event.nowMs >= figures.inquiry.sinceMs + policy.notFoundHorizonMs

/** An earlier try of the running operation may still arrive: nothing proves yet that it did not. */
export const isEarlierTryInDoubt: Guard = (context, event) =>
  context.figures.inquiry !== null && !isBeyondHorizon(context, event)

/** More than one sale under one order: the buyer must not pay twice. */
export const hasSurplus: Guard = (_, event) => isFound(event) && event.surplusSaleId !== null

/** The acquirer's record contains the refund at hand (it is cumulative). */
export const isRefundBooked: Guard = ({ figures }, event) =>
  isFound(event) && event.sale.voidedCents >= knownVoidedCents(figures) + figures.operation.amountCents

/** The record shows exactly what was voided before: the refund at hand is not in it. */
export const isRefundMissing: Guard = ({ figures }, event) =>
  isFound(event) && event.sale.voidedCents === knownVoidedCents(figures)

/** A person has looked, and no copy of the request can be on its way any more. */
export const isConcludedAsBooked: Guard = (context, event) =>
  event.type === 'OPERATION_CONCLUDED' && event.isBooked && isBeyondHorizon(context, event)

export const isConcludedAsMissing: Guard = (context, event) =>
  event.type === 'OPERATION_CONCLUDED' && !event.isBooked && isBeyondHorizon(context, event)

export const isChargedBack: Guard = (_, event) => isFound(event) && event.sale.isChargedBack

/** The payment is on the list of those that need a person. */
export const isListed: Guard = ({ figures }) => figures.attention !== null

/** A refund that the network had approved is not in its record any more: it was denied afterwards. */
export const isRefundUndone: Guard = ({ figures }, event) =>
  isFound(event) && figures.refundedCents > 0 && event.sale.voidedCents < knownVoidedCents(figures)

/** ... and nothing is left of what we refunded. */
export const isEveryRefundUndone: Guard = (context, event) =>
  isRefundUndone(context, event) && isFound(event) && event.sale.voidedCents <= context.figures.voidedElsewhereCents

/**
 * The record has less than was refunded, and may be behind: it is read from another host than the one that approved a
 * refund a moment ago, and each of its answers may be older than the last one. Unless a denial was announced.
 */
export const isRefundStillToShow: Guard = (context, event) => {
  const { refundedAtMs, notice } = context.figures
  if (!isRefundUndone(context, event)) return false
  if (isWithinHorizon(refundedAtMs, context, event)) return true
  return notice?.announced !== 'denied_refund' && isChangeAwaited(context, event)
}

/** What was captured a moment ago, and the record may not show yet. */
export const isCaptureStillToShow: Guard = (context, event) =>
  isWithinHorizon(context.figures.capturedAtMs, context, event)

/** What was canceled a moment ago, and the record may not show yet. */
export const isCancelStillToShow: Guard = (context, event) =>
  isWithinHorizon(context.figures.canceledAtMs, context, event)

/** The record shows more voided than we know of, or less though none of it was ours: done outside this service. */
export const isVoidedElsewhere: Guard = ({ figures }, event) =>
  isFound(event) && event.sale.voidedCents !== knownVoidedCents(figures)

/**
 * The record shows another captured amount than ours. One that can't be taken over as it is, is listed for a person
 * once. Ignores captured − refunded while some of it is left: the acquirer may report net amounts.
 */
export const isCapturedOtherwise: Guard = (context, event) => {
  const { capturedCents, attention } = context.figures
  if (!isFound(event)) return false
  const { sale } = event
  const netCents = sale.status === 'captured' ? capturedCents - sale.voidedCents : capturedCents
  if ([0, capturedCents, netCents].includes(sale.capturedCents)) return false
  return attention === null || shownCapturedCents(context, event) !== capturedCents
}

/** ... and nothing of it is left to refund. */
export const isCapturedAsFarAsRefunded: Guard = (context, event) =>
  isCapturedOtherwise(context, event) && shownCapturedCents(context, event) <= knownVoidedCents(context.figures)

/** The network announced more than "something", and its record may still be behind: it is read from another host. */
export const isNoticeAwaited: Guard = ({ figures, policy }, event) =>
  isNoticeUnshown(figures.notice, event) && event.nowMs < figures.notice.sinceMs + policy.reconcileListAfterMs

/** Something was announced so lately that the record may not show it yet. */
export const isChangeAwaited: Guard = (context, event) =>
  isWithinHorizon(context.figures.notice?.sinceMs ?? null, context, event)

/** The network announced more than "something", and its record never showed it. */
export const isNoticeUnconfirmed: Guard = ({ figures }, event) => isNoticeUnshown(figures.notice, event)

/** The network should find the sale again: it is recent, and so is what was announced about it. */
export const isAbsencePassing: Guard = (context, event) => {
  const { figures, policy } = context
  const sinceMs = figures.notice?.sinceMs ?? event.nowMs
  return !isSaleForgotten(context, event) && event.nowMs < sinceMs + policy.reconcileListAfterMs
}

/** "Something happened" to a sale of which the network tells no more: mostly a late refund of ours. */
export const isChangeForgotten: Guard = (context, event) =>
  isSaleForgotten(context, event) && !isNoticeUnshown(context.figures.notice, event)

/** The network does not take the operation any more. */
export const isTooLate: Guard = (_, event) => event.type === 'REJECTED' && event.isTooLate === true

function isWithinHorizon(sinceMs: number | null, { policy }: PaymentContext, { nowMs }: PaymentEvent): boolean {
  return sinceMs !== null && nowMs < sinceMs + policy.notFoundHorizonMs
}

const isSaleForgotten: Guard = ({ terms }, event) => event.nowMs >= terms.createdAtMs + NETWORK_MEMORY_MS

/** More than "something" was announced, and the answer at hand does not show it. */
function isNoticeUnshown(notice: Notice | null, event: PaymentEvent): notice is Notice {
  if (notice === null || notice.announced === 'change') return false
  return !(notice.announced === 'chargeback' && isFound(event) && event.sale.isChargedBack)
}
