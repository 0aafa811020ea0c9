/**
 * Compares the acquirer's record of a sale with the payment: one finding for each answer to a query.
 *
 * The query host is another one than the host that takes captures and refunds, and each answer may be older than the one
 * before. So what the record does not show is no contradiction until the not-found horizon.
 */
import { type Payment, placeOf, type Reconciliation } from '../model.js'
import { isLive, type Sale } from '../network.js'
import type { Finding, FoundEvent, Policy, QueryEvent } from './events.js'
import { knownVoidedCents, refundableCents, shownCapturedCents, voidedElsewhereCents } from './sums.js'

/** The network answers queries about sales of the last three months (acquirer's manual, queries): at least this long. */
const NETWORK_MEMORY_MS = 89 * 24 * 3_600_000

/** After a change of our account, a worker that was not stopped may send payments under the old one for so long (ms). */
const ACCOUNT_CHANGE_MS = 3_600_000

interface Known extends Payment {
  readonly policy: Policy
}

type Absent = Extract<QueryEvent, { type: 'ABSENT' }>
type Compare = (known: Known, answer: FoundEvent) => Finding

/** The finding that an answer is. Null: the payment waits for the outcome of its call, and for no such answer. */
export function findingOf(known: Known, answer: QueryEvent): Finding | null {
  const compare = comparisons[placeOf(known.progress)]
  if (compare === undefined) return null
  const isTold = answer.type === 'FOUND' && answer.sale.status !== 'unfinished'
  if (!isTold && isLapsed(known, answer)) return unclear(answer)
  if (answer.type === 'NO_ANSWER') return answer
  if (answer.type === 'ABSENT') return ofAbsence(known, answer)
  if (!isTold) return shown('RECORD_LAGS', answer)
  const { duplicateSaleId } = answer
  if (duplicateSaleId === null || isOwnVoidedFirst(known, answer)) return compare(known, answer)
  return { ...shown('DUPLICATE_SALE', answer), duplicateSaleId }
}

/** Whether a request in doubt can no longer arrive (docs/DESIGN.md, 6). */
export function isBeyondHorizon(reconciliation: Reconciliation | null, policy: Policy, nowMs: number): boolean {
  return reconciliation !== null && nowMs >= reconciliation.sinceMs + policy.notFoundHorizonMs
}

/**
 * Whether an absence in our present account says nothing about a payment: its sale may be in an account used before.
 * `accountSinceMs`: since when the present one is in use; 0: no other one was in use before. Both by the service's clock.
 */
export function mayBeInEarlierAccount(createdAtMs: number, accountSinceMs: number): boolean {
  return createdAtMs < accountSinceMs + ACCOUNT_CHANGE_MS
}

/** A late sale and a lapsed hold are voided before a duplicate of theirs. */
function isOwnVoidedFirst({ progress }: Known, { sale }: FoundEvent): boolean {
  const isOwnToBeVoided = progress.status === 'failed' || progress.phase === 'releasing'
  return isOwnToBeVoided && isLive(sale)
}

function ofAbsence(known: Known, answer: Absent): Finding {
  const { nowMs } = answer
  const lags = { type: 'RECORD_LAGS', note: 'not found', nowMs } as const
  switch (placeOf(known.progress)) {
    case 'unknown':
      return isLate(known, answer) ? { type: 'SALE_ABSENT', nowMs } : lags
    case 'expired.releasing':
      return isLate(known, answer) ? { type: 'SALE_GONE', nowMs } : lags
    case 'failed.settled':
    case 'failed.watched':
      return { type: 'SALE_GONE', nowMs }
    case 'pre_authorized':
    case 'capturing.reconciling':
    case 'cancelling.reconciling':
    case 'refunding.reconciling':
      return lags
  }
  // Beyond its memory the network finds no sale, so what it reported can't be confirmed.
  const isForgotten = nowMs >= known.terms.createdAtMs + NETWORK_MEMORY_MS
  if (!isForgotten && isListedLater(known, nowMs)) return lags
  if (isForgotten && !isSpecific(known)) return { type: 'NOTHING_NEW', nowMs }
  return { type: 'CONTRADICTED', reason: 'notification_unconfirmed', nowMs }
}

const ofAuthorisation: Compare = (_, answer) => {
  if (answer.sale.status === 'captured') return shown('SALE_CAPTURED', answer)
  return shown(answer.sale.status === 'authorised' ? 'SALE_AUTHORISED' : 'SALE_GONE', answer)
}

const ofFailure: Compare = (_, answer) => shown(isLive(answer.sale) ? 'LATE_SALE' : 'SALE_GONE', answer)

const ofHold: Compare = (known, answer) => {
  switch (answer.sale.status) {
    case 'authorised':
      if (!isLapsed(known, answer)) return nothingNew(known, answer)
      // A recent report may be about a capture that the record does not show yet: no void until that is clear.
      return isChangeAwaited(known, answer) ? unclear(answer) : shown('HOLD_LAPSED', answer)
    case 'captured':
      return shown('SALE_CAPTURED', answer)
    case 'voided':
      return shown('SALE_GONE', answer)
    default:
      return contradicted(answer)
  }
}

const ofCapture: Compare = (known, answer) => {
  switch (answer.sale.status) {
    case 'captured':
      return shown('OPERATION_BOOKED', answer)
    case 'authorised':
      return shown('OPERATION_MISSING', answer)
    case 'voided':
      return shown('SALE_GONE', answer)
    default:
      return isLate(known, answer) ? shown('SALE_DENIED', answer) : contradicted(answer)
  }
}

const ofCancellation: Compare = (known, answer) => {
  switch (answer.sale.status) {
    case 'voided':
      return shown('OPERATION_BOOKED', answer)
    case 'authorised':
      return shown('OPERATION_MISSING', answer)
    case 'captured':
      // Until the horizon the void may still arrive and refund what was captured.
      return isLate(known, answer) ? shown('SALE_CAPTURED', answer) : contradicted(answer)
    default:
      return isLate(known, answer) ? shown('SALE_DENIED', answer) : contradicted(answer)
  }
}

/** The record is cumulative: it shows the refund in doubt on top of what was voided before. */
const ofRefund: Compare = (known, answer) => {
  const { progress } = known
  const { amountCents } = progress.operation
  const voidedBeforeCents = knownVoidedCents(progress)
  const isBooked = answer.sale.voidedCents >= voidedBeforeCents + amountCents
  const isLast = amountCents >= refundableCents(progress)
  if (answer.sale.status === 'voided' && isBooked && isLast) return shown('OPERATION_BOOKED', answer)
  if (answer.sale.status !== 'captured') return contradicted(answer)
  if (isBooked) return shown('OPERATION_BOOKED', answer)
  if (answer.sale.voidedCents !== voidedBeforeCents) return contradicted(answer)
  // Refunds add up at the network: what may still arrive is not sent again.
  return shown(isLate(known, answer) ? 'OPERATION_MISSING' : 'RECORD_LAGS', answer)
}

const ofRelease: Compare = (known, answer) => {
  switch (answer.sale.status) {
    case 'authorised':
      return shown(isChangeAwaited(known, answer) ? 'RECORD_LAGS' : 'OPERATION_MISSING', answer)
    case 'captured':
      // Until the horizon a void may still arrive and refund what was captured.
      return isLate(known, answer) ? shown('SALE_CAPTURED', answer) : contradicted(answer)
    default:
      return shown('SALE_GONE', answer)
  }
}

/** A voided hold needs nothing more, but the network may reverse the void. */
const ofVoidedHold: Compare = (known, answer) => {
  switch (answer.sale.status) {
    case 'voided':
      return answer.sale.isChargedBack ? contradicted(answer) : nothingNew(known, answer)
    case 'denied':
      return shown('NOTHING_NEW', answer)
    case 'authorised':
      return isRecent(known.progress.canceledAtMs, known, answer) ? shown('RECORD_LAGS', answer) : contradicted(answer)
    default:
      return contradicted(answer)
  }
}

const ofCharge: Compare = (known, answer) => {
  const { progress } = known
  if (answer.sale.status === 'authorised' || answer.sale.status === 'denied') {
    return isRecent(progress.capturedAtMs, known, answer) ? shown('RECORD_LAGS', answer) : contradicted(answer)
  }
  const { sale } = answer
  const knownCents = knownVoidedCents(progress)
  if (sale.isChargedBack && progress.status !== 'charged_back') return shown('CHARGED_BACK', answer)
  if (progress.refundedCents > 0 && sale.voidedCents < knownCents) {
    if (isRefundStillToShow(known, answer)) return shown('RECORD_LAGS', answer)
    const refundedCents = Math.max(0, sale.voidedCents - voidedElsewhereCents(progress.refunds))
    return { ...shown('REFUND_REVERSED', answer), refundedCents }
  }
  if (isCapturedOtherwise(known, sale)) {
    const capturedCents = shownCapturedCents({ terms: known.terms, figures: progress }, sale)
    return { ...shown('AMOUNT_CORRECTED', answer), isRefunded: capturedCents <= knownCents }
  }
  return sale.voidedCents === knownCents ? nothingNew(known, answer) : shown('REFUNDED_EXTERNALLY', answer)
}

const comparisons: Readonly<Record<string, Compare>> = {
  unknown: ofAuthorisation,
  'failed.settled': ofFailure,
  'failed.watched': ofFailure,
  pre_authorized: ofHold,
  'capturing.reconciling': ofCapture,
  'cancelling.reconciling': ofCancellation,
  'refunding.reconciling': ofRefund,
  'expired.releasing': ofRelease,
  'expired.released': ofVoidedHold,
  canceled: ofVoidedHold,
  captured: ofCharge,
  partially_refunded: ofCharge,
  refunded: ofCharge,
  charged_back: ofCharge
}

function shown<T extends Finding['type']>(
  type: T,
  { sale, nowMs }: FoundEvent
): { type: T; sale: Sale; nowMs: number } {
  return { type, sale, nowMs }
}

function unclear({ nowMs }: QueryEvent): Finding {
  return { type: 'HOLD_UNCLEAR', nowMs }
}

function contradicted(answer: FoundEvent): Finding {
  return { ...shown('CONTRADICTED', answer), reason: 'figures_differ' }
}

/** The record shows what we know. What was reported, and when, decides whether it is verified. */
function nothingNew(known: Known, answer: FoundEvent): Finding {
  const { notification } = known.progress
  const isUnshown = isSpecific(known) && !(notification?.reported === 'chargeback' && answer.sale.isChargedBack)
  if (isUnshown && isListedLater(known, answer.nowMs)) return shown('RECORD_LAGS', answer)
  if (isUnshown) return { ...shown('CONTRADICTED', answer), reason: 'notification_unconfirmed' }
  if (isChangeAwaited(known, answer)) return { ...shown('RECORD_LAGS', answer), isAgreeing: true }
  return shown('NOTHING_NEW', answer)
}

/** More than "something" was reported. */
function isSpecific({ progress: { notification } }: Known): boolean {
  return notification !== null && notification.reported !== 'change'
}

/** What was reported is not old enough for manual review. */
function isListedLater({ progress: { notification }, policy }: Known, nowMs: number): boolean {
  return nowMs < (notification?.sinceMs ?? nowMs) + policy.reconcileListAfterMs
}

/**
 * A recent refund. Also any refund while something was reported recently, unless that was the denial of a refund.
 */
function isRefundStillToShow(known: Known, answer: FoundEvent): boolean {
  const { refundedAtMs, notification } = known.progress
  if (isRecent(refundedAtMs, known, answer)) return true
  return notification?.reported !== 'denied_refund' && isChangeAwaited(known, answer)
}

/**
 * Another amount was captured than the payment has. One that can't be taken over as it is goes to manual review once.
 * Ignores captured less voided: the acquirer may report net amounts.
 */
function isCapturedOtherwise({ terms, progress }: Known, sale: Sale): boolean {
  const { capturedCents, reviewReason } = progress
  const netCents = sale.status === 'captured' ? capturedCents - sale.voidedCents : capturedCents
  if ([0, capturedCents, netCents].includes(sale.capturedCents)) return false
  return reviewReason === null || shownCapturedCents({ terms, figures: progress }, sale) !== capturedCents
}

/** Something was reported so recently that the record may not show it yet. */
function isChangeAwaited(known: Known, answer: FoundEvent): boolean {
  return isRecent(known.progress.notification?.sinceMs ?? null, known, answer)
}

function isRecent(sinceMs: number | null, { policy }: Known, { nowMs }: FoundEvent): boolean {
  return sinceMs !== null && nowMs < sinceMs + policy.notFoundHorizonMs
}

function isLate({ progress, policy }: Known, { nowMs }: FoundEvent | Absent): boolean {
  return isBeyondHorizon(progress.reconciliation, policy, nowMs)
}

/** The window of a hold is over. */
function isLapsed({ progress }: Known, { nowMs }: QueryEvent): boolean {
  return progress.status === 'pre_authorized' && progress.expiresAtMs !== null && nowMs >= progress.expiresAtMs
}
