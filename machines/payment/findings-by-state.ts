/**
 * What a record of a sale, or its absence, means in each place of the chart. findings.ts asks only for records that name one
 * sale and do not contradict themselves.
 */
import { DAY_MS } from '../durations.js'
import { isLive, type Sale } from '../network.js'
import {
  isAuthorisedOtherwise,
  knownVoidedCents,
  lessAuthorizedCents,
  shownCapturedCents,
  voidedElsewhereCents
} from './amounts.js'
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
  nothingNew,
  type PaymentUnderPolicy,
  type ReadRecord,
  recordLags,
  unclear
} from './finding-parts.js'
import { mayArrive, nextTry } from './tries.js'
import { isAcceptedBefore } from './unvouched.js'

type Compare = (payment: PaymentUnderPolicy, answer: ReadRecord) => Finding

const ofAuthorisation: Compare = (_, answer) => {
  if (answer.sale.status === 'captured') return asFinding('SALE_CAPTURED', answer)
  return asFinding(answer.sale.status === 'authorised' ? 'SALE_AUTHORISED' : 'SALE_GONE', answer)
}

/** The record may not show yet what the network reported. */
const ofFailure: Compare = (payment, answer) => {
  if (isLive(answer.sale)) return asFinding('LATE_SALE', answer)
  return isLate(payment, answer) ? asFinding('SALE_GONE', answer) : recordLags(answer)
}

const ofHold: Compare = (payment, answer) => {
  switch (answer.sale.status) {
    case 'authorised':
      if (!isLapsed(payment, answer)) {
        return isCorrected(payment, answer.sale)
          ? { ...asFinding('AMOUNT_CORRECTED', answer), isRefunded: false }
          : nothingNew(payment, answer)
      }
      // A recent report may be about a capture that the record does not show yet: no void until that is clear.
      return isChangeAwaited(payment, answer) ? unclear(answer) : asFinding('HOLD_LAPSED', answer)
    case 'captured':
      return asFinding('SALE_CAPTURED', answer)
    case 'voided':
      return asFinding('SALE_GONE', answer)
    default:
      return contradicted(answer)
  }
}

const ofCapture: Compare = (payment, answer) => {
  switch (answer.sale.status) {
    case 'captured':
      return asFinding('OPERATION_BOOKED', answer)
    case 'authorised':
      return asBefore(payment, answer)
    case 'voided':
      return asFinding('SALE_GONE', answer)
    default:
      return isLate(payment, answer) ? asFinding('SALE_DENIED', answer) : contradicted(answer)
  }
}

const ofCancellation: Compare = (payment, answer) => {
  switch (answer.sale.status) {
    case 'voided':
      return asFinding('OPERATION_BOOKED', answer)
    case 'authorised':
      return asBefore(payment, answer)
    case 'captured':
      // Until the horizon the void may still arrive and refund what was captured.
      return isLate(payment, answer) ? asFinding('SALE_CAPTURED', answer) : contradicted(answer)
    default:
      return isLate(payment, answer) ? asFinding('SALE_DENIED', answer) : contradicted(answer)
  }
}

/**
 * The record is cumulative: it shows the refund in doubt on top of what was voided before. A sale that is closed although
 * a part was to be refunded was refunded as a whole.
 */
const ofRefund: Compare = (payment, answer) => {
  const { status, voidedCents } = answer.sale
  const [beforeCents = 0, afterCents = 0] = expectedVoidedCents(payment)
  if (status !== 'captured' && status !== 'voided') return contradicted(answer)
  // The record says nothing about refunds. What may be booked is not sent again: an operator must look.
  if (voidedCents === null) return isLate(payment, answer) ? contradicted(answer) : recordLags(answer)
  if (voidedCents >= afterCents) return asFinding('OPERATION_BOOKED', answer)
  return status === 'captured' && voidedCents === beforeCents ? asBefore(payment, answer) : contradicted(answer)
}

/** What the record may show as voided. While a refund is in doubt: without it, and with it. */
export function expectedVoidedCents(payment: PaymentUnderPolicy): readonly number[] {
  const { progress } = payment
  const cents = knownVoidedCents(progress)
  if (progress.status !== 'refunding') return [cents]
  const beforeCents = cents - takenForOthersCents(payment)
  return [beforeCents, beforeCents + progress.operation.amountCents]
}

/**
 * What was taken for a refund by others since data came back: it may be a refund of the lost time, which a merchant asks for
 * again. A try of this refund was booked beside it.
 */
function takenForOthersCents({ terms, progress, policy }: PaymentUnderPolicy): number {
  const isTried = progress.reconciliation === null || progress.reconciliation.tries > 0
  if (isTried || !isAcceptedBefore(terms, policy)) return 0
  const others = progress.refunds.find(({ idempotencyKey }) => idempotencyKey === null)
  return (others?.concludedAtMs ?? 0) < policy.unvouchedBeforeMs ? 0 : (others?.amountCents ?? 0)
}

/**
 * The record shows the sale as it was before the operation. No further try of a capture of more than is held, which can't be
 * booked, and none of a sale whose buyer got the money back from the issuer.
 */
function asBefore(payment: PaymentUnderPolicy, answer: FoundEvent): Finding {
  const { progress, policy } = payment
  const { operation, reconciliation } = progress
  const isTooMuch = operation.kind === 'capture' && operation.amountCents > answer.sale.amountCents
  const isOver = isTooMuch || answer.sale.isChargedBack
  const next = nextTry(payment, policy, answer.nowMs)
  if (next === 'send' && !isOver) return asFinding('OPERATION_MISSING', answer)
  const mayBeBooked = reconciliation !== null && mayArrive(reconciliation, policy, answer.nowMs)
  if (next === 'wait' || mayBeBooked) return recordLags(answer)
  const isRefused = isOver || reconciliation?.refusedMs !== null
  return { ...asFinding('OPERATION_NOT_BOOKED', answer), isRefused }
}

const ofRelease: Compare = (payment, answer) => {
  switch (answer.sale.status) {
    case 'authorised':
      return isChangeAwaited(payment, answer) ? recordLags(answer) : asBefore(payment, answer)
    case 'captured':
      // Until the horizon a void may still arrive and refund what was captured.
      return isLate(payment, answer) ? asFinding('SALE_CAPTURED', answer) : contradicted(answer)
    default:
      return asFinding('SALE_GONE', answer)
  }
}

/** A voided hold needs nothing more, but the network may reverse the void. */
const ofVoidedHold: Compare = (payment, answer) => {
  switch (answer.sale.status) {
    case 'voided':
      return answer.sale.isChargedBack ? contradicted(answer) : nothingNew(payment, answer)
    case 'denied':
      return asFinding('NOTHING_NEW', answer)
    case 'authorised':
      return isRecent(payment.progress.canceledAtMs, payment, answer) ? recordLags(answer) : contradicted(answer)
    default:
      return contradicted(answer)
  }
}

const ofCharge: Compare = (payment, answer) => {
  const { progress } = payment
  if (answer.sale.status === 'authorised' || answer.sale.status === 'denied') {
    return isRecent(progress.capturedAtMs, payment, answer) ? recordLags(answer) : contradicted(answer)
  }
  const { sale } = answer
  const knownCents = knownVoidedCents(progress)
  if (sale.isChargedBack && progress.status !== 'charged_back') return asFinding('CHARGED_BACK', answer)
  const voidedCents = sale.voidedCents ?? knownCents
  if (progress.refundedCents > 0 && voidedCents < knownCents) return ofMissingRefund(payment, answer, voidedCents)
  if (isCorrected(payment, sale)) {
    const capturedCents = shownCapturedCents({ terms: payment.terms, facts: progress }, sale)
    return { ...asFinding('AMOUNT_CORRECTED', answer), isRefunded: capturedCents <= knownCents }
  }
  if (voidedCents !== knownCents) return asFinding('REFUNDED_EXTERNALLY', answer)
  // Never passed over: an operator must know that the record counts what was never captured.
  return answer.isUncapturedCounted && progress.reviewReason === null
    ? contradicted(answer, 'the voided amount counts what was never captured')
    : nothingNew(payment, answer)
}

/** The record shows less refunded than this service knows. */
function ofMissingRefund(payment: PaymentUnderPolicy, answer: FoundEvent, voidedCents: number): Finding {
  if (isRefundStillToShow(payment, answer)) return recordLags(answer)
  // Only what the network reported can take a refund back. A closed sale has not lost one.
  if (!isReported(payment) || answer.sale.status === 'voided') return contradicted(answer)
  const refundedCents = Math.max(0, voidedCents - voidedElsewhereCents(payment.progress.refunds))
  return { ...asFinding('REFUND_REVERSED', answer), refundedCents }
}

/**
 * A recent refund. Also any refund while something was reported recently, unless that was the denial of a refund.
 */
function isRefundStillToShow(payment: PaymentUnderPolicy, answer: FoundEvent): boolean {
  const { refundedAtMs, verification } = payment.progress
  if (isRecent(refundedAtMs, payment, answer)) return true
  return verification?.reported !== 'denied_refund' && isChangeAwaited(payment, answer)
}

/** Another amount was authorised or captured. One that can't be taken over as it is goes to manual review once. */
function isCorrected({ terms, progress }: PaymentUnderPolicy, sale: Sale): boolean {
  const { authorizedCents, capturedCents, reviewReason } = progress
  const context = { terms, facts: progress }
  const isUnlisted = reviewReason === null
  const isAuthorisedNew = lessAuthorizedCents(terms, sale) !== authorizedCents
  const isCapturedNew = shownCapturedCents(context, sale) !== capturedCents
  return (
    (isAuthorisedOtherwise(context, sale) && (isUnlisted || isAuthorisedNew)) ||
    (isCapturedOtherwise(progress, sale) && (isUnlisted || isCapturedNew))
  )
}

/** Ignores captured less voided: the acquirer may report net amounts. */
function isCapturedOtherwise({ capturedCents }: PaymentUnderPolicy['progress'], sale: Sale): boolean {
  const netCents = sale.status === 'captured' ? capturedCents - (sale.voidedCents ?? 0) : capturedCents
  return ![0, capturedCents, netCents].includes(sale.capturedCents)
}

type OfAbsence = (payment: PaymentUnderPolicy, answer: Absent) => Finding

const notFoundYet: OfAbsence = (_, { nowMs }) => ({ type: 'RECORD_LAGS', because: 'behind', note: 'not found', nowMs })

/** Beyond the horizon the absence counts. */
const atHorizon =
  (type: 'SALE_ABSENT' | 'SALE_GONE'): OfAbsence =>
  (payment, answer) =>
    isLate(payment, answer) ? { type, nowMs: answer.nowMs } : notFoundYet(payment, answer)

/** The network answers queries about sales of the last three months (acquirer's manual, queries): at least this long. */
const NETWORK_MEMORY_MS = 89 * DAY_MS

/** Of a sale that is known. Beyond its memory the network finds no sale, so what it reported can't be confirmed. */
const absenceOfKnownSale: OfAbsence = (payment, answer) => {
  const { nowMs } = answer
  const isForgotten = nowMs >= payment.terms.createdAtMs + NETWORK_MEMORY_MS
  if (!isForgotten && isBelowListAge(payment, nowMs)) return notFoundYet(payment, answer)
  if (isForgotten && !isSpecific(payment)) return { type: 'NOTHING_NEW', nowMs }
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
