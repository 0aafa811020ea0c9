/** Sums over the figures of a payment and the acquirer's record: pure, for guards.ts, progress.ts and refusals.ts. */
import type { Found, PaymentEvent } from './events.js'
import type { Figures, PaymentContext } from './progress.js'

export function isFound(event: PaymentEvent): event is Extract<PaymentEvent, Found> {
  return 'sale' in event
}

/** What the acquirer's record shows as voided if it knows what we know. */
export function knownVoidedCents({ refundedCents, voidedElsewhereCents }: Figures): number {
  return refundedCents + voidedElsewhereCents
}

/** What is left to refund. What others gave back can't be given back again. */
export function refundableCents(figures: Figures): number {
  return figures.capturedCents - knownVoidedCents(figures)
}

/** What a refund moves: the amount of the command, or the whole balance. */
export function refundAmountCents(figures: Figures, event: PaymentEvent): number {
  return (event.type === 'CANCEL' ? event.amountCents : null) ?? refundableCents(figures)
}

/** What the record shows as captured, as far as the money adds up with it. That of a voided sale may leave it out. */
export function shownCapturedCents({ terms, figures }: PaymentContext, event: PaymentEvent): number {
  if (!isFound(event) || event.sale.capturedCents === 0) return figures.capturedCents
  return Math.min(Math.max(event.sale.capturedCents, figures.refundedCents), terms.amountCents)
}
