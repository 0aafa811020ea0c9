/** What figures of a payment and of the acquirer's record come to: pure arithmetic. */
import type { PaymentTerms, Refund } from '../model.js'
import { isLive, type Sale } from '../network.js'
import type { Figures, PaymentContext } from './context.js'
import type { AskedEvent, LifecycleEvent } from './events.js'

/** The sale that the acquirer's record shows; null for an event that is no answer about a sale. */
export function saleOf(event: LifecycleEvent): Sale | null {
  return ('sale' in event ? event.sale : null) ?? null
}

/** What was voided outside this service, by the acquirer's record. Refunds are compared with what was there before. */
export function voidedElsewhereCents(refunds: readonly Refund[]): number {
  return refunds.find(({ idempotencyKey }) => idempotencyKey === null)?.amountCents ?? 0
}

/** What the record shows as voided if the acquirer knows what we know. */
export function knownVoidedCents({ refundedCents, refunds }: Pick<Figures, 'refundedCents' | 'refunds'>): number {
  return refundedCents + voidedElsewhereCents(refunds)
}

/** What the network authorised (cents). Until then: what was asked for. */
export function authorizedCentsOf(
  terms: Pick<PaymentTerms, 'amountCents'>,
  figures: Pick<Figures, 'authorizedCents'>
): number {
  return figures.authorizedCents ?? terms.amountCents
}

/**
 * What the record shows as voided of what was captured. Some records also count the rest of the hold, which a capture of a part
 * released. `isRestCounted`: this one does. `expectedCents`: the voided amounts that fit the payment. Undefined: with the rest
 * and without it the record says different things, or neither is possible.
 */
export function voidedOf(
  { status, amountCents, capturedCents, voidedCents }: Sale,
  figures: Pick<Figures, 'capturedCents'>,
  expectedCents: readonly number[]
): { readonly cents: number | null; readonly isRestCounted: boolean } | undefined {
  // The record of a voided sale may leave out what was captured.
  const takenCents = capturedCents || figures.capturedCents
  const isTaken = (status === 'captured' || status === 'voided') && takenCents > 0
  const plain = { cents: voidedCents, isRestCounted: false }
  const lessCents = (voidedCents ?? 0) - (amountCents - takenCents)
  if (voidedCents === null || !isTaken || lessCents < 0 || lessCents >= voidedCents) return plain
  const less = { cents: lessCents, isRestCounted: true }
  // A sale is closed when all that was captured is given back.
  const fitting = status === 'voided' ? [takenCents] : expectedCents
  const [isPlainFitting, isLessFitting] = [fitting.includes(voidedCents), fitting.includes(lessCents)]
  if (isPlainFitting && isLessFitting) return undefined
  if (isPlainFitting || isLessFitting) return isPlainFitting ? plain : less
  // No more can be given back than was captured. The record may show less of it than was: net amounts.
  const mostCents = Math.max(takenCents, figures.capturedCents)
  if (voidedCents <= mostCents) return plain
  return lessCents <= mostCents ? less : undefined
}

/**
 * Another amount was authorised than the payment has. A captured sale may show what was captured in its place: the manual
 * doesn't say.
 */
export function isAuthorisedOtherwise(
  { terms, figures }: Pick<PaymentContext, 'terms' | 'figures'>,
  sale: Sale
): boolean {
  return isLive(sale) && ![authorizedCentsOf(terms, figures), sale.capturedCents].includes(sale.amountCents)
}

/** What the record shows as authorised, if that is less than was asked for; else null. More can't be captured. */
export function lessAuthorizedCents(terms: Pick<PaymentTerms, 'amountCents'>, { amountCents }: Sale): number | null {
  return amountCents < terms.amountCents ? amountCents : null
}

/** What is left to refund. What was refunded outside this service can't be refunded again. */
export function refundableCents(figures: Figures): number {
  return figures.capturedCents - knownVoidedCents(figures)
}

/** What a refund moves: the amount of the command, or the whole balance. */
export function refundAmountCents(figures: Figures, { amountCents }: AskedEvent): number {
  return amountCents ?? refundableCents(figures)
}

/** What the record shows as captured, as far as the money adds up with it. That of a voided sale may leave it out. */
export function shownCapturedCents({ terms, figures }: Pick<PaymentContext, 'terms' | 'figures'>, sale: Sale): number {
  if (sale.capturedCents === 0) return figures.capturedCents
  return Math.min(Math.max(sale.capturedCents, figures.refundedCents), terms.amountCents)
}
