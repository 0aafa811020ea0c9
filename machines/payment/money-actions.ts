/**
 * How each event changes the amounts, the operation and the references of a payment. Each export is an action of the chart, by
 * its name (chart-setup.ts). Pure.
 *
 * They know nothing of states; the chart decides when they run. Money: `0 <= refunded <= captured <= amount`.
 */
import type { PaymentTerms } from '../model.js'
import { isLive, type Sale } from '../network.js'
import {
  authorizedCentsOf,
  isAuthorisedOtherwise,
  knownVoidedCents,
  lessAuthorizedCents,
  saleOf,
  shownCapturedCents
} from './amounts.js'
import type { Facts, PaymentArgs, PaymentContext } from './context.js'
import type { LifecycleEvent } from './events.js'
import { listFor, reviewAfter } from './manual-review.js'
import { failureOf, operationBegun, withOperationState } from './operations.js'
import { withElsewhere, withReversal } from './refunds.js'

type Change = (args: PaymentArgs) => Partial<Facts>

/**
 * The issuer authorised: references, and for a pre-authorisation the end of its window. Less may be authorised than was
 * requested: then less can be captured. A record with another amount goes to manual review.
 */
export const noteAuthorised: Change = ({ context: { terms, facts }, event }) => {
  const sale = saleOf(event)
  return {
    references: referencesOf(event) ?? facts.references,
    authorizedAtMs: event.nowMs,
    expiresAtMs: terms.captureMode === 'manual' ? windowEndMs(terms, event) : null,
    authorizedCents: sale === null ? null : lessAuthorizedCents(terms, sale),
    error: null,
    ...differingIf(sale !== null && sale.amountCents !== terms.amountCents, facts)
  }
}

/**
 * Captured: the amount of the running operation, or that of the acquirer's record; never more than the payment's. A record
 * with anything but the requested amount goes to manual review, and so does a capture without a request.
 */
export const noteCaptured: Change = ({ context, event }) => {
  const { terms, facts } = context
  const sale = saleOf(event)
  const { kind, amountCents: askedCents } = facts.operation
  const isUnasked = kind === 'authorization' && terms.captureMode === 'manual'
  const captured = { capturedAtMs: event.nowMs, references: mergedReferences(facts, event) }
  if (sale === null) return { ...captured, capturedCents: askedCents, ...differingIf(isUnasked, facts) }
  const isDiffering =
    sale.capturedCents !== askedCents ||
    (sale.voidedCents ?? 0) !== knownVoidedCents(facts) ||
    isAuthorisedOtherwise(context, sale)
  const isUncapturedCounted = 'isUncapturedCounted' in event && event.isUncapturedCounted === true
  return {
    ...captured,
    ...authorisedBy(context, sale),
    ...noteVoidedElsewhere({ context, event }),
    capturedCents: Math.min(sale.capturedCents, terms.amountCents),
    ...differingIf(isUnasked || isDiffering || isUncapturedCounted, facts)
  }
}

/** The hold is gone. A verification stays: it may be about another sale. */
export const noteCanceled: Change = ({ event }) => ({ canceledAtMs: event.nowMs })

/** The running refund is done. A record with another refunded or authorised amount goes to manual review. */
export const noteRefunded: Change = ({ context, event }) => {
  const { facts } = context
  const sale = saleOf(event)
  const refundedCents = facts.refundedCents + facts.operation.amountCents
  const after = { ...facts, refundedCents }
  const refunded = { refundedCents, refundedAtMs: event.nowMs }
  if (sale === null) return refunded
  const isRefundedOtherwise = sale.voidedCents !== null && sale.voidedCents !== knownVoidedCents(after)
  return {
    ...refunded,
    ...authorisedBy(context, sale),
    ...noteVoidedElsewhere({ context: { ...context, facts: after }, event }),
    ...differingIf(isRefundedOtherwise || isAuthorisedOtherwise(context, sale), facts)
  }
}

/** The network reversed an approved refund: the buyer does not have the money. */
export const noteRefundReversed: Change = ({ context: { facts }, event }) => {
  if (event.type !== 'REFUND_REVERSED') return {}
  const { refundedCents, nowMs } = event
  return { refundedCents, refunds: withReversal(facts, facts.refundedCents - refundedCents, nowMs) }
}

/** What the acquirer's record shows beyond our refunds was refunded outside this service. */
export const noteVoidedElsewhere: Change = ({ context: { facts }, event }) => {
  const voidedCents = saleOf(event)?.voidedCents ?? null
  if (voidedCents === null) return {}
  return { refunds: withElsewhere(facts, Math.max(0, voidedCents - facts.refundedCents), event.nowMs) }
}

/** Another amount was authorised or captured. */
export const noteCorrection: Change = ({ context, event }) => {
  const sale = saleOf(event)
  if (sale === null) return {}
  return { ...authorisedBy(context, sale), capturedCents: shownCapturedCents(context, sale) }
}

/** An answer may have left out what was authorised; the record shows it. */
function authorisedBy(context: PaymentContext, sale: Sale): Partial<Facts> {
  return isAuthorisedOtherwise(context, sale) ? { authorizedCents: lessAuthorizedCents(context.terms, sale) } : {}
}

/** Takes the references of a live sale without any other change. A payment keeps the sale that it has. */
export const noteReferences: Change = ({ context: { facts }, event }) => {
  const sale = saleOf(event)
  const { saleId } = facts.references
  const isOwn = sale !== null && isLive(sale) && (saleId === null || saleId === sale.references.saleId)
  return isOwn ? { references: mergedReferences(facts, event) } : {}
}

/** `declinedCode` is the issuer's code. A refusal of the network is no decline: its code is in the history only. */
export const noteDeclined: Change = ({ context: { facts }, event }) => {
  if (event.type === 'DECLINED') return { declinedCode: event.code, references: mergedReferences(facts, event) }
  const sale = saleOf(event)
  return sale === null ? {} : { declinedCode: sale.declinedCode, references: mergedReferences(facts, event) }
}

export const beginOperation: Change = ({ context: { terms, facts }, event }) =>
  'idempotencyKey' in event ? operationBegun(terms, facts, event) : {}

/**
 * A payment with capture was only authorised: the capture continues under the same request. Until then there is a hold, so
 * it has a window: a refused capture must not leave a hold that never ends.
 */
export const continueWithCapture: Change = ({ context: { terms, facts }, event }) => ({
  expiresAtMs: windowEndMs(terms, event),
  operation: {
    ...facts.operation,
    kind: 'capture',
    state: 'in_progress',
    amountCents: authorizedCentsOf(terms, facts)
  },
  error: null,
  // The authorisation is not in doubt any more. The capture has an age of its own.
  reconciliation: null
})

export const resend: Change = ({ context: { facts }, event }) => withOperationState(facts, 'in_progress', event.nowMs)

/** The operation did what was asked. */
export const succeed: Change = ({ context: { facts }, event }) => ({
  ...withOperationState(facts, 'succeeded', event.nowMs),
  ...reviewAfter(event, facts),
  error: null,
  reconciliation: null
})

export const fail: Change = ({ context: { terms, facts, policy }, event }) => {
  const error = failureOf(terms, facts.operation, event, policy)
  return {
    ...withOperationState(facts, 'failed', event.nowMs, error),
    ...reviewAfter(event, facts),
    error,
    reconciliation: null
  }
}

/** An operator has looked. The next reason lists the payment again. */
export const endReview: Change = () => ({ reviewReason: null })

function differingIf(isDifferent: boolean, facts: Facts): Pick<Facts, 'reviewReason'> {
  return isDifferent ? listFor(facts, 'figures_differ') : { reviewReason: facts.reviewReason }
}

/**
 * The window counts from the authorisation. A sale that a query found was authorised at an unknown moment, so its window
 * counts from the creation: too short is safe, too long would promise a capture that fails.
 */
function windowEndMs(terms: PaymentTerms, event: LifecycleEvent): number {
  return (saleOf(event) === null ? event.nowMs : terms.createdAtMs) + terms.preauthTtlMs
}

function referencesOf(event: LifecycleEvent): Facts['references'] | null {
  return saleOf(event)?.references ?? ('references' in event ? event.references : null)
}

/** Later answers leave out references of the first one (a capture has no sale id): those stay. */
function mergedReferences(facts: Facts, event: LifecycleEvent): Facts['references'] {
  const later = referencesOf(event)
  if (later === null) return facts.references
  return {
    saleId: later.saleId ?? facts.references.saleId,
    tid: later.tid ?? facts.references.tid,
    nsu: later.nsu ?? facts.references.nsu,
    authorizationCode: later.authorizationCode ?? facts.references.authorizationCode
  }
}
