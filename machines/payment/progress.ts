/**
 * How each event changes the figures of a payment: pure functions that the chart names as actions (setup.ts).
 *
 * They know nothing of states; the chart decides when they run. Money: `0 <= refunded <= captured <= amount`.
 */

import type { Attention, Operation, PaymentProgress, PaymentTerms } from '../model.js'
import type { AskedEvent, PaymentEvent, Policy } from './events.js'
import { failureOf } from './failures.js'
import { firstInquiry, nextInquiry } from './reconcile-schedule.js'
import { isFound, knownVoidedCents, refundAmountCents, shownCapturedCents } from './sums.js'

/** The figures of a payment; its status and phase are the state of the machine. */
export type Figures = Omit<PaymentProgress, 'status' | 'phase'>

export interface PaymentContext {
  readonly terms: PaymentTerms
  readonly figures: Figures
  readonly policy: Policy
}

type Change = (context: PaymentContext, event: PaymentEvent) => Partial<Figures>

/**
 * The issuer authorised: references, and for a pre-authorisation the end of its window. A record of another amount
 * than was asked for is shown to a person: what can be captured is not what the merchant counts on.
 */
export const noteAuthorised: Change = ({ terms, figures }, event) => ({
  references: referencesOf(event) ?? figures.references,
  authorizedAtMs: event.nowMs,
  expiresAtMs: terms.captureMode === 'manual' ? windowEndMs(terms, event) : null,
  error: null,
  ...differingIf(isFound(event) && event.sale.amountCents !== terms.amountCents, figures)
})

/**
 * The amount that the running operation asked for is captured, or what the acquirer's record says; never more than the
 * payment is about. A record that differs from what was asked for is shown to a person.
 */
export const noteCaptured: Change = ({ terms, figures, policy }, event) => {
  const askedCents = figures.operation.amountCents
  const captured = { capturedAtMs: event.nowMs, references: mergedReferences(figures, event) }
  if (!isFound(event)) return { ...captured, capturedCents: askedCents }
  const { capturedCents, voidedCents } = event.sale
  return {
    ...captured,
    ...noteVoidedElsewhere({ terms, figures, policy }, event),
    capturedCents: Math.min(capturedCents, terms.amountCents),
    ...differingIf(capturedCents !== askedCents || voidedCents !== knownVoidedCents(figures), figures)
  }
}

/** The hold is gone. What the network announced before is still to be looked at: it may be about another sale. */
export const noteCanceled: Change = (_, event) => ({ canceledAtMs: event.nowMs })

/** The refund at hand is done. A record that shows even more refunded does not undo that, but a person has to look. */
export const noteRefunded: Change = ({ terms, figures, policy }, event) => {
  const refundedCents = figures.refundedCents + figures.operation.amountCents
  const after = { ...figures, refundedCents }
  return {
    refundedCents,
    refundedAtMs: event.nowMs,
    ...noteVoidedElsewhere({ terms, figures: after, policy }, event),
    ...differingIf(isFound(event) && event.sale.voidedCents !== knownVoidedCents(after), figures)
  }
}

/** A refund that was approved is undone at the network: the merchant must not be told that the buyer has the money. */
export const noteRefundUndone: Change = ({ figures }, event) =>
  isFound(event) ? { refundedCents: Math.max(0, event.sale.voidedCents - figures.voidedElsewhereCents) } : {}

/** What the acquirer's record shows beyond our own refunds was voided outside this service. */
export const noteVoidedElsewhere: Change = ({ figures }, event) =>
  isFound(event) ? { voidedElsewhereCents: Math.max(0, event.sale.voidedCents - figures.refundedCents) } : {}

/** The acquirer's record has another captured amount. */
export const noteCapturedOtherwise: Change = (context, event) => ({ capturedCents: shownCapturedCents(context, event) })

/** Takes the network's references without any other change. */
export const noteReferences: Change = ({ figures }, event) => ({ references: mergedReferences(figures, event) })

/** `declinedCode` is the issuer's word. A refusal of the network is no decline: its code is in the history only. */
export const noteDeclined: Change = ({ figures }, event) => {
  if (event.type === 'DECLINED') return { declinedCode: event.code, references: mergedReferences(figures, event) }
  if (isFound(event)) return { declinedCode: event.sale.declinedCode, references: mergedReferences(figures, event) }
  return {}
}

/** The operation that a capture or cancel asks for, as the payment stands; it takes the place of the one before. */
export function operationOf(terms: PaymentTerms, figures: Figures, asked: AskedEvent): Operation {
  const { type, amountCents, idempotencyKey } = asked
  const state = 'in_progress'
  if (type === 'CAPTURE')
    return { kind: 'capture', state, amountCents: amountCents ?? terms.amountCents, idempotencyKey }
  if (figures.capturedCents === 0) return { kind: 'cancel', state, amountCents: terms.amountCents, idempotencyKey }
  return { kind: 'refund', state, amountCents: refundAmountCents(figures, asked), idempotencyKey }
}

export const beginOperation: Change = ({ terms, figures }, event) =>
  'idempotencyKey' in event ? { operation: operationOf(terms, figures, event), error: null } : {}

/**
 * A payment that asked for capture but was only authorised: the capture goes on under the same request. Until it is
 * done there is a hold, so there is a window: a refused capture must not leave a hold that never ends.
 */
export const continueWithCapture: Change = ({ terms, figures }, event) => ({
  expiresAtMs: windowEndMs(terms, event),
  operation: { ...figures.operation, kind: 'capture', state: 'in_progress', amountCents: terms.amountCents },
  error: null
})

export const resend: Change = ({ figures }) => ({ operation: { ...figures.operation, state: 'in_progress' } })

/** The operation did what was asked. */
export const succeed: Change = ({ figures }) => ({
  operation: { ...figures.operation, state: 'succeeded' },
  error: null,
  inquiry: null
})

export const fail: Change = (context, event) => ({
  operation: { ...context.figures.operation, state: 'failed' },
  error: failureOf(context.terms, context.figures.operation, event, context.policy),
  inquiry: null
})

/** From now on the outcome is asked about; a request in doubt may have left until this very moment. */
export const beginInquiry: Change = ({ figures, policy }, event) => ({
  operation: { ...figures.operation, state: 'unknown' },
  inquiry: firstInquiry(figures.inquiry, policy, event)
})

/**
 * The hold of an expired pre-authorisation is not surely released, and a void may have left until this very moment; the
 * operation of the merchant is not touched. Each try begins a new doubt, so the age of the expiry lists the payment.
 */
export const beginReleaseInquiry: Change = ({ figures, policy }, event) => ({
  ...openLonger(figures, figures.expiresAtMs ?? event.nowMs, policy, event),
  inquiry: firstInquiry(figures.inquiry, policy, event)
})

/** No conclusive answer: reconcile again later; after the list age the payment is listed for manual review. */
export const askLater: Change = ({ figures, policy }, event) => {
  const open = figures.inquiry ?? { sinceMs: event.nowMs, attempts: 0 }
  return { ...openLonger(figures, open.sinceMs, policy, event), inquiry: nextInquiry(open, policy, event) }
}

/** As `askLater`, for an operation that was about to end: a try of it is still in doubt. */
export const keepAsking: Change = (context, event) => ({
  ...askLater(context, event),
  operation: { ...context.figures.operation, state: 'unknown' }
})

/** A sale that the network did not know for the whole horizon is looked for once more, much later. */
export const watch: Change = ({ policy }, event) => ({
  inquiry: { sinceMs: event.nowMs, attempts: 0, nextAtMs: event.nowMs + LATE_CHECK_HORIZONS * policy.notFoundHorizonMs }
})

export const endInquiry: Change = () => ({ inquiry: null })

/** Something is to be looked at as soon as nothing else goes on. A chargeback that is awaited stays awaited. */
export const noteNotice: Change = ({ figures }, event) => {
  const announced = event.type === 'NETWORK_NOTICE' ? event.announced : 'change'
  const earlier = figures.notice?.announced ?? 'change'
  return {
    notice: {
      sinceMs: event.nowMs,
      attempts: 0,
      nextAtMs: event.nowMs,
      announced: announced === 'change' || earlier === 'chargeback' ? earlier : announced
    }
  }
}

/** The acquirer record does not show it yet, or there was no answer: look again later. */
export const verifyNoticeLater: Change = ({ figures, policy }, event) => {
  const { announced, ...open } = figures.notice ?? { sinceMs: event.nowMs, attempts: 0, announced: 'change' as const }
  return {
    ...openLonger(figures, open.sinceMs, policy, event),
    notice: { ...nextInquiry(open, policy, event), announced }
  }
}

/**
 * Something was announced, and the record shows nothing new. The network announces what the service did itself in the
 * same words, so this is looked at twice more only: after a moment, and when the record can't be behind any more.
 */
export const verifyChangeLater: Change = (context, event) => {
  const { notice } = context.figures
  if (notice === null || notice.attempts === 0) return verifyNoticeLater(context, event)
  const nextAtMs = notice.sinceMs + context.policy.notFoundHorizonMs
  return { notice: { ...notice, attempts: notice.attempts + 1, nextAtMs } }
}

export const endNotice: Change = () => ({ notice: null })

/** Calls for a person. */
export function callFor(reason: Attention): Change {
  return ({ figures }) => ({ attention: withReason(figures, reason) })
}

function differingIf(isDifferent: boolean, figures: Figures): Pick<Figures, 'attention'> {
  return { attention: isDifferent ? withReason(figures, 'figures_differ') : figures.attention }
}

/**
 * The first reason stays: what follows from it is less interesting. But that something is open for long is no reason by
 * itself, and gives way to what comes of it.
 */
function withReason({ attention }: Figures, reason: Attention): Attention {
  return attention === null || attention === 'unresolved_for_long' ? reason : attention
}

/** A person has looked. What calls for one next is listed anew. */
export const settleAttention: Change = () => ({ attention: null })

/** A payment of which nothing was found is looked for once more: six horizons after the first verdict, an hour by default. */
const LATE_CHECK_HORIZONS = 6

/** A question that stays open beyond the list age is one for a person. */
function openLonger(
  figures: Figures,
  sinceMs: number,
  policy: Policy,
  event: PaymentEvent
): Pick<Figures, 'attention'> {
  const isOld = event.nowMs - sinceMs >= policy.reconcileListAfterMs
  return { attention: figures.attention ?? (isOld ? 'unresolved_for_long' : null) }
}

/**
 * The window counts from the authorisation. A sale that was found later was authorised at an unknown moment after the
 * creation, so its window counts from there: too short is safe, too long would promise a capture that fails.
 */
function windowEndMs(terms: PaymentTerms, event: PaymentEvent): number {
  return (isFound(event) ? terms.createdAtMs : event.nowMs) + terms.preauthTtlMs
}

function referencesOf(event: PaymentEvent): Figures['references'] | null {
  if (isFound(event)) return event.sale.references
  return 'references' in event ? event.references : null
}

/** Later answers are poorer than the first one (a capture tells no sale id): keep what they leave out. */
function mergedReferences(figures: Figures, event: PaymentEvent): Figures['references'] {
  const told = referencesOf(event)
  if (told === null) return figures.references
  return {
    saleId: told.saleId ?? figures.references.saleId,
    tid: told.tid ?? figures.references.tid,
    nsu: told.nsu ?? figures.references.nsu,
    authorizationCode: told.authorizationCode ?? figures.references.authorizationCode
  }
}
