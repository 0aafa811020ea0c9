/**
 * What a record of a sale, or its absence, means in each place of the chart. findings.ts asks only for records that name one
 * sale and do not contradict themselves.
 */
import { DAY_MS } from '../durations.js'
import { isLive, type Sale } from '../network.js'
import type { Finding, FoundEvent } from './events.js'
import {
  type Absent,
  asFinding,
  contradicted,
  isBelowListAge,
  isChangeAwaited,
  isLapsed,
  isLate,
  isRecent,
  isReported,
  isSpecific,
  type Known,
  nothingNew,
  type ReadRecord,
  unclear
} from './finding-parts.js'
import {
  isAuthorisedOtherwise,
  knownVoidedCents,
  lessAuthorizedCents,
  shownCapturedCents,
  voidedElsewhereCents
} from './sums.js'
import { mayArrive, nextTry } from './tries.js'
import { isAcceptedBefore } from './unvouched.js'

type Compare = (known: Known, answer: ReadRecord) => Finding

const ofAuthorisation: Compare = (_, answer) => {
  if (answer.sale.status === 'captured') return asFinding('SALE_CAPTURED', answer)
  return asFinding(answer.sale.status === 'authorised' ? 'SALE_AUTHORISED' : 'SALE_GONE', answer)
}

/** The record may not show yet what the network reported. */
const ofFailure: Compare = (known, answer) => {
  if (isLive(answer.sale)) return asFinding('LATE_SALE', answer)
  return asFinding(isLate(known, answer) ? 'SALE_GONE' : 'RECORD_LAGS', answer)
}

const ofHold: Compare = (known, answer) => {
  switch (answer.sale.status) {
    case 'authorised':
      if (!isLapsed(known, answer)) {
        return isCorrected(known, answer.sale)
          ? { ...asFinding('AMOUNT_CORRECTED', answer), isRefunded: false }
          : nothingNew(known, answer)
      }
      // A recent report may be about a capture that the record does not show yet: no void until that is clear.
      return isChangeAwaited(known, answer) ? unclear(answer) : asFinding('HOLD_LAPSED', answer)
    case 'captured':
      return asFinding('SALE_CAPTURED', answer)
    case 'voided':
      return asFinding('SALE_GONE', answer)
    default:
      return contradicted(answer)
  }
}

const ofCapture: Compare = (known, answer) => {
  switch (answer.sale.status) {
    case 'captured':
      return asFinding('OPERATION_BOOKED', answer)
    case 'authorised':
      return asBefore(known, answer)
    case 'voided':
      return asFinding('SALE_GONE', answer)
    default:
      return isLate(known, answer) ? asFinding('SALE_DENIED', answer) : contradicted(answer)
  }
}

const ofCancellation: Compare = (known, answer) => {
  switch (answer.sale.status) {
    case 'voided':
      return asFinding('OPERATION_BOOKED', answer)
    case 'authorised':
      return asBefore(known, answer)
    case 'captured':
      // Until the horizon the void may still arrive and refund what was captured.
      return isLate(known, answer) ? asFinding('SALE_CAPTURED', answer) : contradicted(answer)
    default:
      return isLate(known, answer) ? asFinding('SALE_DENIED', answer) : contradicted(answer)
  }
}

/**
 * The record is cumulative: it shows the refund in doubt on top of what was voided before. A sale that is closed although
 * a part was to be refunded was refunded as a whole.
 */
const ofRefund: Compare = (known, answer) => {
  const { status, voidedCents } = answer.sale
  const [beforeCents = 0, afterCents = 0] = expectedVoidedCents(known)
  if (status !== 'captured' && status !== 'voided') return contradicted(answer)
  // The record says nothing about refunds. What may be booked is not sent again: an operator must look.
  if (voidedCents === null) return isLate(known, answer) ? contradicted(answer) : asFinding('RECORD_LAGS', answer)
  if (voidedCents >= afterCents) return asFinding('OPERATION_BOOKED', answer)
  return status === 'captured' && voidedCents === beforeCents ? asBefore(known, answer) : contradicted(answer)
}

/** What the record may show as voided. While a refund is in doubt: without it, and with it. */
export function expectedVoidedCents(known: Known): readonly number[] {
  const { progress } = known
  const cents = knownVoidedCents(progress)
  if (progress.status !== 'refunding') return [cents]
  const beforeCents = cents - takenForOthersCents(known)
  return [beforeCents, beforeCents + progress.operation.amountCents]
}

/**
 * What was taken for a refund by others since data came back: it may be a refund of the lost time, which a merchant asks for
 * again. A try of this refund was booked beside it.
 */
function takenForOthersCents({ terms, progress, policy }: Known): number {
  const isTried = progress.reconciliation === null || progress.reconciliation.tries > 0
  if (isTried || !isAcceptedBefore(terms, policy)) return 0
  const others = progress.refunds.find(({ idempotencyKey }) => idempotencyKey === null)
  return (others?.concludedAtMs ?? 0) < (policy.unvouchedBeforeMs ?? 0) ? 0 : (others?.amountCents ?? 0)
}

/**
 * The record shows the sale as it was before the operation. No further try of a capture of more than is held, which can't be
 * booked, and none of a sale whose buyer got the money back from the issuer.
 */
function asBefore(known: Known, answer: FoundEvent): Finding {
  const { progress, policy } = known
  const { operation, reconciliation } = progress
  const isTooMuch = operation.kind === 'capture' && operation.amountCents > answer.sale.amountCents
  const isOver = isTooMuch || answer.sale.isChargedBack
  const next = nextTry(known, policy, answer.nowMs)
  if (next === 'send' && !isOver) return asFinding('OPERATION_MISSING', answer)
  const isOpen = reconciliation !== null && mayArrive(reconciliation, policy, answer.nowMs)
  if (next === 'wait' || isOpen) return asFinding('RECORD_LAGS', answer)
  const isRefused = isOver || reconciliation?.refusedMs !== null
  return { ...asFinding('OPERATION_NOT_BOOKED', answer), isRefused }
}

const ofRelease: Compare = (known, answer) => {
  switch (answer.sale.status) {
    case 'authorised':
      return isChangeAwaited(known, answer) ? asFinding('RECORD_LAGS', answer) : asBefore(known, answer)
    case 'captured':
      // Until the horizon a void may still arrive and refund what was captured.
      return isLate(known, answer) ? asFinding('SALE_CAPTURED', answer) : contradicted(answer)
    default:
      return asFinding('SALE_GONE', answer)
  }
}

/** A voided hold needs nothing more, but the network may reverse the void. */
const ofVoidedHold: Compare = (known, answer) => {
  switch (answer.sale.status) {
    case 'voided':
      return answer.sale.isChargedBack ? contradicted(answer) : nothingNew(known, answer)
    case 'denied':
      return asFinding('NOTHING_NEW', answer)
    case 'authorised':
      return isRecent(known.progress.canceledAtMs, known, answer)
        ? asFinding('RECORD_LAGS', answer)
        : contradicted(answer)
    default:
      return contradicted(answer)
  }
}

const ofCharge: Compare = (known, answer) => {
  const { progress } = known
  if (answer.sale.status === 'authorised' || answer.sale.status === 'denied') {
    return isRecent(progress.capturedAtMs, known, answer) ? asFinding('RECORD_LAGS', answer) : contradicted(answer)
  }
  const { sale } = answer
  const knownCents = knownVoidedCents(progress)
  if (sale.isChargedBack && progress.status !== 'charged_back') return asFinding('CHARGED_BACK', answer)
  const voidedCents = sale.voidedCents ?? knownCents
  if (progress.refundedCents > 0 && voidedCents < knownCents) return ofMissingRefund(known, answer, voidedCents)
  if (isCorrected(known, sale)) {
    const capturedCents = shownCapturedCents({ terms: known.terms, figures: progress }, sale)
    return { ...asFinding('AMOUNT_CORRECTED', answer), isRefunded: capturedCents <= knownCents }
  }
  if (voidedCents !== knownCents) return asFinding('REFUNDED_EXTERNALLY', answer)
  // Never passed over: an operator must know that the record counts what was never captured.
  return answer.isRestCounted && progress.reviewReason === null
    ? contradicted(answer, 'the voided amount counts what was never captured')
    : nothingNew(known, answer)
}

/** The record shows less refunded than this service knows. */
function ofMissingRefund(known: Known, answer: FoundEvent, voidedCents: number): Finding {
  if (isRefundStillToShow(known, answer)) return asFinding('RECORD_LAGS', answer)
  // Only what the network reported can take a refund back. A closed sale has not lost one.
  if (!isReported(known) || answer.sale.status === 'voided') return contradicted(answer)
  const refundedCents = Math.max(0, voidedCents - voidedElsewhereCents(known.progress.refunds))
  return { ...asFinding('REFUND_REVERSED', answer), refundedCents }
}

/**
 * A recent refund. Also any refund while something was reported recently, unless that was the denial of a refund.
 */
function isRefundStillToShow(known: Known, answer: FoundEvent): boolean {
  const { refundedAtMs, notification } = known.progress
  if (isRecent(refundedAtMs, known, answer)) return true
  return notification?.reported !== 'denied_refund' && isChangeAwaited(known, answer)
}

/** Another amount was authorised or captured. One that can't be taken over as it is goes to manual review once. */
function isCorrected({ terms, progress }: Known, sale: Sale): boolean {
  const { authorizedCents, capturedCents, reviewReason } = progress
  const context = { terms, figures: progress }
  const isUnlisted = reviewReason === null
  const isAuthorisedNew = lessAuthorizedCents(terms, sale) !== authorizedCents
  const isCapturedNew = shownCapturedCents(context, sale) !== capturedCents
  return (
    (isAuthorisedOtherwise(context, sale) && (isUnlisted || isAuthorisedNew)) ||
    (isCapturedOtherwise(progress, sale) && (isUnlisted || isCapturedNew))
  )
}

/** Ignores captured less voided: the acquirer may report net amounts. */
function isCapturedOtherwise({ capturedCents }: Known['progress'], sale: Sale): boolean {
  const netCents = sale.status === 'captured' ? capturedCents - (sale.voidedCents ?? 0) : capturedCents
  return ![0, capturedCents, netCents].includes(sale.capturedCents)
}

type OfAbsence = (known: Known, answer: Absent) => Finding

const notFoundYet: OfAbsence = (_, { nowMs }) => ({ type: 'RECORD_LAGS', note: 'not found', nowMs })

/** Beyond the horizon the absence counts. */
const atHorizon =
  (type: 'SALE_ABSENT' | 'SALE_GONE'): OfAbsence =>
  (known, answer) =>
    isLate(known, answer) ? { type, nowMs: answer.nowMs } : notFoundYet(known, answer)

/** The network answers queries about sales of the last three months (acquirer's manual, queries): at least this long. */
const NETWORK_MEMORY_MS = 89 * DAY_MS

/** Of a sale that is known. Beyond its memory the network finds no sale, so what it reported can't be confirmed. */
const absenceOfKnownSale: OfAbsence = (known, answer) => {
  const { nowMs } = answer
  const isForgotten = nowMs >= known.terms.createdAtMs + NETWORK_MEMORY_MS
  if (!isForgotten && isBelowListAge(known, nowMs)) return notFoundYet(known, answer)
  if (isForgotten && !isSpecific(known)) return { type: 'NOTHING_NEW', nowMs }
  return { type: 'CONTRADICTED', reason: 'notification_unconfirmed', nowMs }
}

/** What an answer means in one place of the chart: a record of the sale, or that there is none. */
export interface Meaning {
  readonly ofRecord: Compare
  readonly ofAbsence: OfAbsence
}

const failure: Meaning = { ofRecord: ofFailure, ofAbsence: atHorizon('SALE_GONE') }
const voidedHold: Meaning = { ofRecord: ofVoidedHold, ofAbsence: absenceOfKnownSale }
const charge: Meaning = { ofRecord: ofCharge, ofAbsence: absenceOfKnownSale }

/** For each place of the chart in which the payment waits for an answer. */
export const meanings: Readonly<Record<string, Meaning>> = {
  unknown: { ofRecord: ofAuthorisation, ofAbsence: atHorizon('SALE_ABSENT') },
  'failed.settled': failure,
  'failed.watched': failure,
  pre_authorized: { ofRecord: ofHold, ofAbsence: notFoundYet },
  'capturing.reconciling': { ofRecord: ofCapture, ofAbsence: notFoundYet },
  'cancelling.reconciling': { ofRecord: ofCancellation, ofAbsence: notFoundYet },
  'refunding.reconciling': { ofRecord: ofRefund, ofAbsence: notFoundYet },
  'expired.releasing': { ofRecord: ofRelease, ofAbsence: atHorizon('SALE_GONE') },
  'expired.released': voidedHold,
  canceled: voidedHold,
  captured: charge,
  partially_refunded: charge,
  refunded: charge,
  charged_back: charge
}
