/** What amounts of a payment and of the acquirer's record come to: pure arithmetic. */
import type { PaymentTerms, Refund } from '../model.js'
import { isLive, type Sale } from '../network.js'
import type { Facts, PaymentContext } from './context.js'
import type { LifecycleEvent, RequestEvent } from './events.js'

/** What a record is compared with. */
type Compared = Pick<PaymentContext, 'terms' | 'facts'>

/** The sale that the acquirer's record shows; null for an event that is no answer about a sale. */
export function saleOf(event: LifecycleEvent): Sale | null {
  return ('sale' in event ? event.sale : null) ?? null
}

/** What was voided outside this service, by the acquirer's record. Refunds are compared with what was there before. */
export function voidedElsewhereCents(refunds: readonly Refund[]): number {
  return refunds.find(({ idempotencyKey }) => idempotencyKey === null)?.amountCents ?? 0
}

/** What the record shows as voided if the acquirer knows what we know. */
export function knownVoidedCents({ refundedCents, refunds }: Pick<Facts, 'refundedCents' | 'refunds'>): number {
  return refundedCents + voidedElsewhereCents(refunds)
}

/** What the network authorised (cents). Until then: what was asked for. */
export function authorizedCentsOf(
  terms: Pick<PaymentTerms, 'amountCents'>,
  facts: Pick<Facts, 'authorizedCents'>
): number {
  return facts.authorizedCents ?? terms.amountCents
}

/**
 * What the record shows as voided of what was captured. Some records also count what was never captured: the part of the hold
 * that a capture of less released. `isUncapturedCounted`: this one does. `expectedCents`: the voided amounts that fit the payment.
 * Undefined: with that part and without it the record says different things, or neither is possible.
 */
export function voidedOf(
  sale: Sale,
  context: Compared,
  expectedCents: readonly number[]
): { readonly cents: number | null; readonly isUncapturedCounted: boolean } | undefined {
  const { status, voidedCents } = sale
  const captured = capturedOf(sale, context)
  if (voidedCents === null || captured === null) return { cents: voidedCents, isUncapturedCounted: false }
  const { mostCents, isNet } = captured
  // A sale is closed when all that was captured is given back.
  const wanted = status === 'voided' ? [mostCents] : expectedCents
  const isBeyond = (cents: number): boolean => isNet && wanted.length > 1 && cents > Math.max(...wanted)
  const possible = readingsOf(voidedCents, sale, captured, context)
  const fitting = possible.filter(cents => wanted.includes(cents) || isBeyond(cents))
  const [cents] = fitting.length > 0 ? fitting : possible
  if (cents === undefined || fitting.length > 1) return undefined
  return { cents, isUncapturedCounted: cents !== voidedCents }
}

interface Captured {
  readonly shownCents: number
  /** No more can be given back. */
  readonly mostCents: number
  /** What was captured is shown less what was voided. */
  readonly isNet: boolean
}

/** What was captured of a sale, by its record and the payment; null: nothing. */
function capturedOf({ status, capturedCents }: Sale, { terms, facts }: Compared): Captured | null {
  const knownCents = facts.capturedCents
  // The record of a voided sale may leave out what was captured.
  const shownCents = capturedCents || knownCents
  if ((status !== 'captured' && status !== 'voided') || shownCents === 0) return null
  const mostCents = Math.min(terms.amountCents, Math.max(shownCents, knownCents))
  return { shownCents, mostCents, isNet: shownCents < knownCents }
}

/** What the shown amount may mean: itself, and itself less what was never captured, as the record and the payment have it. */
function readingsOf(
  voidedCents: number,
  { amountCents }: Sale,
  { shownCents, mostCents, isNet }: Captured,
  { terms, facts }: Compared
): number[] {
  const knownCents = facts.capturedCents
  // What was captured is shown less what was voided, or the amount is: then only the payment knows what was never captured.
  const isUncapturedKnown = knownCents > 0 && (isNet || voidedCents > mostCents)
  const knownUncapturedCents = isUncapturedKnown ? authorizedCentsOf(terms, facts) - knownCents : 0
  const uncaptured = [amountCents - shownCents, knownUncapturedCents].filter(cents => cents > 0)
  const readings = new Set([0, ...uncaptured].map(cents => voidedCents - cents))
  return [...readings].filter(cents => cents >= 0 && cents <= mostCents)
}

/**
 * Another amount was authorised than the payment has. A captured sale may show what was captured in its place: the manual
 * doesn't say.
 */
export function isAuthorisedOtherwise({ terms, facts }: Compared, sale: Sale): boolean {
  return isLive(sale) && ![authorizedCentsOf(terms, facts), sale.capturedCents].includes(sale.amountCents)
}

/** What the record shows as authorised, if that is less than was asked for; else null. More can't be captured. */
export function lessAuthorizedCents(terms: Pick<PaymentTerms, 'amountCents'>, { amountCents }: Sale): number | null {
  return amountCents < terms.amountCents ? amountCents : null
}

/** What is left to refund. What was refunded outside this service can't be refunded again. */
export function refundableCents(facts: Facts): number {
  return facts.capturedCents - knownVoidedCents(facts)
}

/** What a refund moves: the amount of the command, or the whole balance. */
export function refundAmountCents(facts: Facts, { amountCents }: RequestEvent): number {
  return amountCents ?? refundableCents(facts)
}

/** What the record shows as captured, as far as the money adds up with it. That of a voided sale may leave it out. */
export function shownCapturedCents({ terms, facts }: Compared, sale: Sale): number {
  if (sale.capturedCents === 0) return facts.capturedCents
  return Math.min(Math.max(sale.capturedCents, facts.refundedCents), terms.amountCents)
}
