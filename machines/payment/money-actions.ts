/**
 * How each event changes the figures of a payment: each export is an action of the chart, by its name (setup.ts). Pure.
 *
 * They know nothing of states; the chart decides when they run. Money: `0 <= refunded <= captured <= amount`.
 */
import type { PaymentTerms } from '../model.js'
import { isLive, type Sale } from '../network.js'
import type { Figures, PaymentArgs, PaymentContext } from './context.js'
import type { LifecycleEvent } from './events.js'
import { listFor, reviewAfter } from './manual-review.js'
import { failureOf, operationBegun, withOperationState } from './operations.js'
import { withElsewhere, withReversal } from './refunds.js'
import {
  authorizedCentsOf,
  isAuthorisedOtherwise,
  knownVoidedCents,
  lessAuthorizedCents,
  saleOf,
  shownCapturedCents
} from './sums.js'

type Change = (args: PaymentArgs) => Partial<Figures>

/**
 * The issuer authorised: references, and for a pre-authorisation the end of its window. Less may be authorised than was
 * requested: then less can be captured. A record with another amount goes to manual review.
 */
export const noteAuthorised: Change = ({ context: { terms, figures }, event }) => {
  const sale = saleOf(event)
  return {
    references: referencesOf(event) ?? figures.references,
    authorizedAtMs: event.nowMs,
    expiresAtMs: terms.captureMode === 'manual' ? windowEndMs(terms, event) : null,
    authorizedCents: sale === null ? null : lessAuthorizedCents(terms, sale),
    error: null,
    ...differingIf(sale !== null && sale.amountCents !== terms.amountCents, figures)
  }
}

/**
 * Captured: the amount of the running operation, or that of the acquirer's record; never more than the payment's. A record
 * with anything but the requested amount goes to manual review, and so does a capture without a request.
 */
export const noteCaptured: Change = ({ context, event }) => {
  const { terms, figures } = context
  const sale = saleOf(event)
  const { kind, amountCents: askedCents } = figures.operation
  const isUnasked = kind === 'authorization' && terms.captureMode === 'manual'
  const captured = { capturedAtMs: event.nowMs, references: mergedReferences(figures, event) }
  if (sale === null) return { ...captured, capturedCents: askedCents, ...differingIf(isUnasked, figures) }
  const isDiffering =
    sale.capturedCents !== askedCents ||
    (sale.voidedCents ?? 0) !== knownVoidedCents(figures) ||
    isAuthorisedOtherwise(context, sale)
  const isUncapturedCounted = 'isUncapturedCounted' in event && event.isUncapturedCounted === true
  return {
    ...captured,
    ...authorisedBy(context, sale),
    ...noteVoidedElsewhere({ context, event }),
    capturedCents: Math.min(sale.capturedCents, terms.amountCents),
    ...differingIf(isUnasked || isDiffering || isUncapturedCounted, figures)
  }
}

/** The hold is gone. A verification stays: it may be about another sale. */
export const noteCanceled: Change = ({ event }) => ({ canceledAtMs: event.nowMs })

/** The running refund is done. A record with another refunded or authorised amount goes to manual review. */
export const noteRefunded: Change = ({ context, event }) => {
  const { figures } = context
  const sale = saleOf(event)
  const refundedCents = figures.refundedCents + figures.operation.amountCents
  const after = { ...figures, refundedCents }
  const refunded = { refundedCents, refundedAtMs: event.nowMs }
  if (sale === null) return refunded
  const isRefundedOtherwise = sale.voidedCents !== null && sale.voidedCents !== knownVoidedCents(after)
  return {
    ...refunded,
    ...authorisedBy(context, sale),
    ...noteVoidedElsewhere({ context: { ...context, figures: after }, event }),
    ...differingIf(isRefundedOtherwise || isAuthorisedOtherwise(context, sale), figures)
  }
}

/** The network reversed an approved refund: the buyer does not have the money. */
export const noteRefundReversed: Change = ({ context: { figures }, event }) => {
  if (event.type !== 'REFUND_REVERSED') return {}
  const { refundedCents, nowMs } = event
  return { refundedCents, refunds: withReversal(figures, figures.refundedCents - refundedCents, nowMs) }
}

/** What the acquirer's record shows beyond our refunds was refunded outside this service. */
export const noteVoidedElsewhere: Change = ({ context: { figures }, event }) => {
  const voidedCents = saleOf(event)?.voidedCents ?? null
  if (voidedCents === null) return {}
  return { refunds: withElsewhere(figures, Math.max(0, voidedCents - figures.refundedCents), event.nowMs) }
}

/** Another amount was authorised or captured. */
export const noteCorrection: Change = ({ context, event }) => {
  const sale = saleOf(event)
  if (sale === null) return {}
  return { ...authorisedBy(context, sale), capturedCents: shownCapturedCents(context, sale) }
}

/** An answer may have left out what was authorised; the record shows it. */
function authorisedBy(context: PaymentContext, sale: Sale): Partial<Figures> {
  return isAuthorisedOtherwise(context, sale) ? { authorizedCents: lessAuthorizedCents(context.terms, sale) } : {}
}

/** Takes the references of a live sale without any other change. A payment keeps the sale that it has. */
export const noteReferences: Change = ({ context: { figures }, event }) => {
  const sale = saleOf(event)
  const { saleId } = figures.references
  const isOwn = sale !== null && isLive(sale) && (saleId === null || saleId === sale.references.saleId)
  return isOwn ? { references: mergedReferences(figures, event) } : {}
}

/** `declinedCode` is the issuer's code. A refusal of the network is no decline: its code is in the history only. */
export const noteDeclined: Change = ({ context: { figures }, event }) => {
  if (event.type === 'DECLINED') return { declinedCode: event.code, references: mergedReferences(figures, event) }
  const sale = saleOf(event)
  return sale === null ? {} : { declinedCode: sale.declinedCode, references: mergedReferences(figures, event) }
}

export const beginOperation: Change = ({ context: { terms, figures }, event }) =>
  'idempotencyKey' in event ? operationBegun(terms, figures, event) : {}

/**
 * A payment with capture was only authorised: the capture continues under the same request. Until then there is a hold, so
 * it has a window: a refused capture must not leave a hold that never ends.
 */
export const continueWithCapture: Change = ({ context: { terms, figures }, event }) => ({
  expiresAtMs: windowEndMs(terms, event),
  operation: {
    ...figures.operation,
    kind: 'capture',
    state: 'in_progress',
    amountCents: authorizedCentsOf(terms, figures)
  },
  error: null,
  // The authorisation is not in doubt any more. The capture has an age of its own.
  reconciliation: null
})

export const resend: Change = ({ context: { figures }, event }) =>
  withOperationState(figures, 'in_progress', event.nowMs)

/** The operation did what was asked. */
export const succeed: Change = ({ context: { figures }, event }) => ({
  ...withOperationState(figures, 'succeeded', event.nowMs),
  ...reviewAfter(event, figures),
  error: null,
  reconciliation: null
})

export const fail: Change = ({ context: { terms, figures, policy }, event }) => {
  const error = failureOf(terms, figures.operation, event, policy)
  return {
    ...withOperationState(figures, 'failed', event.nowMs, error),
    ...reviewAfter(event, figures),
    error,
    reconciliation: null
  }
}

/** An operator has looked. The next reason lists the payment again. */
export const endReview: Change = () => ({ reviewReason: null })

function differingIf(isDifferent: boolean, figures: Figures): Pick<Figures, 'reviewReason'> {
  return isDifferent ? listFor(figures, 'figures_differ') : { reviewReason: figures.reviewReason }
}

/**
 * The window counts from the authorisation. A sale that a query found was authorised at an unknown moment, so its window
 * counts from the creation: too short is safe, too long would promise a capture that fails.
 */
function windowEndMs(terms: PaymentTerms, event: LifecycleEvent): number {
  return (saleOf(event) === null ? event.nowMs : terms.createdAtMs) + terms.preauthTtlMs
}

function referencesOf(event: LifecycleEvent): Figures['references'] | null {
  return saleOf(event)?.references ?? ('references' in event ? event.references : null)
}

/** Later answers leave out references of the first one (a capture has no sale id): those stay. */
function mergedReferences(figures: Figures, event: LifecycleEvent): Figures['references'] {
  const later = referencesOf(event)
  if (later === null) return figures.references
  return {
    saleId: later.saleId ?? figures.references.saleId,
    tid: later.tid ?? figures.references.tid,
    nsu: later.nsu ?? figures.references.nsu,
    authorizationCode: later.authorizationCode ?? figures.references.authorizationCode
  }
}
