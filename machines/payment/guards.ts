/** The conditions that the chart (payment.ts) names. Pure questions about figures and the event at hand. */
import type { PaymentEvent } from './events.js'
import { isFound, type PaymentContext, refundAmountCents } from './progress.js'

type Guard = (context: PaymentContext, event: PaymentEvent) => boolean

/** The network captured in the same step (or captured a sale that was only to be authorised: its books rule). */
export const isCapturedAtNetwork: Guard = (_, event) => event.type === 'APPROVED' && event.isCaptured

export const isManual: Guard = ({ terms }) => terms.captureMode === 'manual'

/** Interface 4.2: inside the window, and not above the authorised amount. */
export const isCapturable: Guard = ({ terms, figures }, event) =>
  event.type === 'CAPTURE' &&
  (event.amountCents ?? terms.amountCents) <= terms.amountCents &&
  (figures.expiresAtMs === null || event.nowMs < figures.expiresAtMs)

/** The network voids a pre-authorisation as a whole only (network protocol 6). */
export const isWholeAmount: Guard = ({ terms }, event) =>
  event.type === 'CANCEL' && (event.amountCents ?? terms.amountCents) === terms.amountCents

export const isRefundable: Guard = ({ figures }, event) => {
  const amountCents = refundAmountCents(figures, event)
  return amountCents >= 1 && amountCents <= figures.capturedCents - figures.refundedCents
}

export const isDue: Guard = ({ figures }, event) => figures.expiresAtMs !== null && event.nowMs >= figures.expiresAtMs

/** With the refund at hand, nothing of the captured amount is left. */
export const isLastRefund: Guard = ({ figures }) =>
  figures.refundedCents + figures.operation.amountCents >= figures.capturedCents

export const isPartlyRefunded: Guard = ({ figures }) => figures.refundedCents > 0

/** Silence for so long that a request in doubt can no longer arrive (design 6). */
export const isBeyondHorizon: Guard = ({ figures, policy }, event) =>
  figures.inquiry !== null && event.nowMs >= figures.inquiry.sinceMs + policy.notFoundHorizonMs

/** An earlier try of the running operation may still arrive: nothing proves yet that it did not. */
export const isEarlierTryInDoubt: Guard = (context, event) =>
  context.figures.inquiry !== null && !isBeyondHorizon(context, event)

/** More than one sale under one order: the buyer must not pay twice. */
export const hasSurplus: Guard = (_, event) => isFound(event) && event.surplusSaleId !== null

/** The network's books contain the refund at hand (they are cumulative). */
export const isRefundBooked: Guard = ({ figures }, event) =>
  isFound(event) && event.sale.voidedCents >= figures.refundedCents + figures.operation.amountCents

/** The books show exactly what was refunded before: the refund at hand is not in them. */
export const isRefundMissing: Guard = ({ figures }, event) =>
  isFound(event) && event.sale.voidedCents === figures.refundedCents

export const isChargedBack: Guard = (_, event) => isFound(event) && event.sale.isChargedBack

/** The payment is on the list of those that need a person. */
export const isListed: Guard = ({ figures }) => figures.attention !== null

/** The network gave back more or less than we know of: a refund denied afterwards, or one made by hand. */
export const isVoidedOtherwise: Guard = ({ figures }, event) =>
  isFound(event) && event.sale.voidedCents !== figures.refundedCents
