/**
 * What is not known for certain, and when the network is queried about it: doubts about operations, and what is to be
 * verified. Each export is an action of the chart, by its name (chart-setup.ts). Pure.
 */
import type { Reconciliation, Verification } from '../model.js'
import { authorizedCentsOf, saleOf } from './amounts.js'
import type { Facts, PaymentArgs } from './context.js'
import type { LifecycleEvent } from './events.js'
import { isSeenByOperator, listIfOld, reviewAfter } from './manual-review.js'
import { withOperationState } from './operations.js'
import type { Policy } from './policy.js'
import { afterTry, NO_ANSWER, nextQuery, type TryAnswer } from './reconcile-schedule.js'

type Change = (args: PaymentArgs) => Partial<Facts>

/** A try of the operation has no conclusive outcome: it is in doubt. Its request may have left until this moment. */
export const beginDoubt: Change = ({ context: { facts, policy }, event }) => {
  const isNotMade = event.type === 'UNPROVEN' && event.call === 'not_made'
  const reconciliation = isNotMade
    ? untried(policy, event.nowMs)
    : afterTry(facts.reconciliation, answerOf(event), policy, event.nowMs)
  return {
    ...withOperationState(facts, 'unknown', event.nowMs),
    ...listIfOld(facts, reconciliation.openedMs, policy, event.nowMs),
    reconciliation
  }
}

/**
 * Whether the hold of an expired pre-authorisation is voided is in doubt, and a void may have left until this moment. The
 * merchant's operation stays. The doubt is as old as the expiry.
 */
export const beginReleaseDoubt: Change = ({ context: { facts, policy }, event }) => {
  const openedMs = facts.expiresAtMs ?? event.nowMs
  return {
    ...listIfOld(facts, openedMs, policy, event.nowMs),
    reconciliation: { ...afterTry(facts.reconciliation, answerOf(event), policy, event.nowMs), openedMs }
  }
}

/** The void is on its way once more. Its outcome counts the try. */
export const resendRelease: Change = ({ context: { facts, policy }, event }) => {
  const tries = facts.reconciliation?.tries ?? 0
  return { reconciliation: { ...afterTry(facts.reconciliation, NO_ANSWER, policy, event.nowMs), tries } }
}

/** The hold is to be voided when it is clear how it stands: nothing was sent yet. */
export const releaseLater: Change = ({ context: { facts, policy }, event }) => {
  const openedMs = facts.expiresAtMs ?? event.nowMs
  return {
    ...listIfOld(facts, openedMs, policy, event.nowMs),
    reconciliation: { ...untried(policy, event.nowMs), openedMs }
  }
}

/** No conclusive answer: reconcile again later; after the list age the payment is listed for manual review. */
export const reconcileLater: Change = ({ context: { facts, policy }, event }) => {
  const open = facts.reconciliation ?? untried(policy, event.nowMs)
  return {
    ...listIfOld(facts, open.openedMs, policy, event.nowMs),
    reconciliation: { ...open, ...nextQuery(open, policy, event) }
  }
}

/** What is in doubt is to be queried at once. */
export const reconcileNow: Change = ({ context: { facts }, event }) => {
  const { reconciliation } = facts
  if (reconciliation === null) return {}
  return { reconciliation: { ...reconciliation, nextAtMs: Math.min(reconciliation.nextAtMs, event.nowMs) } }
}

/** This try did nothing, but an earlier one is still in doubt. A refusal is not sent again. */
export const keepDoubt: Change = args => {
  const { facts } = args.context
  const isRefused = args.event.type === 'EARLIER_TRY_IN_DOUBT' && args.event.outcome.type !== 'NOT_SENT'
  if (!isRefused) return { ...reconcileLater(args), ...withOperationState(facts, 'unknown', args.event.nowMs) }
  return beginDoubt(args)
}

/**
 * The record alone says that there is no sale: it is queried once more, when it can't be behind any more; if the network did
 * not know the sale for the whole horizon, much later.
 */
export const watch: Change = ({ context: { policy }, event }) => {
  const horizons = event.type === 'SALE_ABSENT' ? LATE_CHECK_HORIZONS : 1
  return {
    reconciliation: { ...untried(policy, event.nowMs), nextAtMs: event.nowMs + horizons * policy.notFoundHorizonMs }
  }
}

/** The network reports something about a payment that failed: its record may show a sale soon. */
export const watchReport: Change = ({ context: { policy }, event }) => ({
  reconciliation: untried(policy, event.nowMs)
})

/** What an operator saw counts from the horizon. Nothing is sent until then. */
export const noteConclusion: Change = ({ context: { facts, policy }, event }) => {
  const { reconciliation } = facts
  if (event.type !== 'CONCLUSION_NOTED' || reconciliation === null) return {}
  const horizonMs = reconciliation.sinceMs + policy.notFoundHorizonMs
  const concluded = event.isBooked ? 'booked' : 'not_booked'
  return { reconciliation: { ...reconciliation, concluded, nextAtMs: Math.min(reconciliation.nextAtMs, horizonMs) } }
}

/** Nothing is in doubt any more. */
export const endDoubt: Change = ({ context: { facts }, event }) => ({
  reconciliation: null,
  ...reviewAfter(event, facts)
})

/** Something is to be verified as soon as no operation runs. A reported chargeback stays. */
export const scheduleVerification: Change = ({ context: { facts }, event }) => {
  const reported = event.type === 'NETWORK_NOTIFICATION' ? event.reported : 'change'
  const earlier = facts.verification?.reported ?? 'own'
  const isEarlierKept = REPORTED_BY_WEIGHT.indexOf(earlier) > REPORTED_BY_WEIGHT.indexOf(reported)
  return {
    verification: {
      sinceMs: event.nowMs,
      attempts: 0,
      nextAtMs: event.nowMs,
      reported: isEarlierKept ? earlier : reported
    }
  }
}

/** The record that proves an operation shows a chargeback as well: it is taken over next. */
export const verifyChargeback: Change = args => (saleOf(args.event)?.isChargedBack ? scheduleVerification(args) : {})

const REPORTED_BY_WEIGHT: readonly Verification['reported'][] = ['own', 'change', 'denied_refund', 'chargeback']

/**
 * An operation that the network refused is compared with the record twice, soon and at the horizon: the network may have
 * done other than it answered. The comparisons of an earlier change do not reach the horizon of this operation. Those of a
 * chargeback or a denied refund go on until the record shows it.
 */
export const confirmLater: Change = ({ context: { facts, policy }, event }) => {
  const { nowMs } = event
  const { verification } = facts
  const { reported = 'own', nextAtMs: dueMs = Number.POSITIVE_INFINITY } = verification ?? {}
  const isNotSent = event.type === 'OPERATION_FAILED' && event.outcome.type === 'NOT_SENT'
  if (isNotSent || reported === 'chargeback' || reported === 'denied_refund') return {}
  const isByRecord = event.type === 'OPERATION_NOT_BOOKED' && !isSeenByOperator(event)
  const afterMs = policy.notFoundHorizonMs * (isByRecord ? 1 : CONFIRM_AFTER_HORIZONS)
  // The comparison that follows one that agrees is at the horizon.
  return { verification: { sinceMs: nowMs, attempts: 1, nextAtMs: Math.min(dueMs, nowMs + afterMs), reported } }
}

/** The same for a capture or refund of a part: the network may have taken the whole. */
export const confirmPart: Change = args => {
  const { terms, facts } = args.context
  const { kind, amountCents } = facts.operation
  const wholeCents = kind === 'refund' ? facts.capturedCents : authorizedCentsOf(terms, facts)
  return amountCents < wholeCents ? confirmLater(args) : {}
}

/** Most records have caught up after a minute of the ten, and the merchant waits for nothing. */
const CONFIRM_AFTER_HORIZONS = 0.1

/**
 * The acquirer's record does not show it yet, or there was no answer: verify again later. The network also notifies us of
 * our own operations. So a record that agrees is read only twice more: soon, and when it can't be behind any more.
 */
export const verifyLater: Change = ({ context: { facts, policy }, event }) => {
  const { verification } = facts
  if (
    event.type === 'RECORD_LAGS' &&
    event.because === 'agrees' &&
    verification !== null &&
    verification.attempts > 0
  ) {
    return {
      verification: {
        ...verification,
        attempts: verification.attempts + 1,
        nextAtMs: verification.sinceMs + policy.notFoundHorizonMs
      }
    }
  }
  const { reported, ...open } = verification ?? { sinceMs: event.nowMs, attempts: 0, reported: 'change' as const }
  return {
    ...listIfOld(facts, open.sinceMs, policy, event.nowMs),
    verification: { ...nextQuery(open, policy, event), reported }
  }
}

export const endVerification: Change = () => ({ verification: null })

/** When `watch` queries again a sale that was not found: an hour later by default. */
const LATE_CHECK_HORIZONS = 6

/** A doubt that no try of ours began. */
function untried(policy: Policy, nowMs: number): Reconciliation {
  return { ...afterTry(null, NO_ANSWER, policy, nowMs), tries: 0, unansweredMs: null }
}

/** What this try was answered. */
function answerOf(event: LifecycleEvent): TryAnswer {
  const isRefused = event.type === 'UNPROVEN' || event.type === 'EARLIER_TRY_IN_DOUBT'
  return { isRefused, mayArrive: !isRefused || (event.type === 'UNPROVEN' && event.call === 'may_arrive') }
}
