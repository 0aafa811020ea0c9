/**
 * Compares the acquirer's record of a sale with the payment: one finding for each answer to a query.
 *
 * The query host is another one than the host that takes captures and refunds, and each answer may be older than the one
 * before. So what the record does not show is no contradiction until the not-found horizon.
 */
import { placeOf } from '../model.js'
import { isLive } from '../network.js'
import { conclusionOf } from './conclusions.js'
import { contradictionIn } from './contradictions.js'
import type { ConcludedEvent, Duplicate, Finding, FoundEvent, QueryEvent } from './events.js'
import {
  type Absent,
  asFinding,
  contradicted,
  isLapsed,
  isLate,
  isListedLater,
  isSpecific,
  type Known,
  unclear
} from './findings.js'
import { listFor } from './progress.js'
import { type Compare, comparisons, expectedVoidedCents } from './record-comparisons.js'
import { saleOf, voidedOf } from './sums.js'
import { isBeyondHorizon, isTryDue, TRIES_MAX, voidsOf } from './tries.js'
import { isAcceptedBefore } from './unvouched.js'

/** The network answers queries about sales of the last three months (acquirer's manual, queries): at least this long. */
const NETWORK_MEMORY_MS = 89 * 24 * 3_600_000

/** After a change of our account, a worker that was not stopped may send payments under the old one for so long (ms). */
const ACCOUNT_CHANGE_MS = 3_600_000

/** The finding that an answer is. Null: the payment waits for the outcome of its call, and for no such answer. */
export function findingOf(known: Known, answer: QueryEvent): Finding | ConcludedEvent | null {
  const compare = comparisons[placeOf(known.progress)]
  return compare === undefined ? null : unlessConcluded(known, ofAnswer(known, answer, compare))
}

function ofAnswer(known: Known, answer: QueryEvent, compare: Compare): Finding {
  const contradiction = answer.type === 'FOUND' ? contradictionIn(known, answer) : undefined
  const isTold = answer.type === 'FOUND' && answer.sale.status !== 'unfinished' && contradiction === undefined
  if (!isTold && isLapsed(known, answer)) return unclear(answer)
  if (answer.type === 'NO_ANSWER') return answer
  if (answer.type === 'ABSENT') return ofAbsence(known, answer)
  if (answer.sale.status === 'unfinished') return asFinding('RECORD_LAGS', answer)
  if (!isTold) return contradicted(answer, contradiction)
  const own = ofOwnSale(known, answer, compare)
  const [duplicate, ...others] = answer.duplicates
  if (duplicate === undefined || isOwnVoidedFirst(known, answer)) return own
  return besideDuplicates(known, answer, own, [duplicate, ...others])
}

function ofOwnSale(known: Known, answer: FoundEvent, compare: Compare): Finding {
  const { sale, nowMs } = answer
  const context = { terms: known.terms, figures: known.progress }
  const voided = voidedOf(sale, context, expectedVoidedCents(known))
  // A chargeback counts, also where the voided amount says nothing.
  if (voided === undefined && !sale.isChargedBack) return contradicted(answer)
  const { cents = null, isRestCounted = false } = voided ?? {}
  const read = { ...answer, sale: { ...sale, voidedCents: cents }, ...(isRestCounted && { isRestCounted }) } as const
  const finding = compare(known, read)
  if (finding.type === 'CONTRADICTED') return { ...finding, sale }
  if (finding.type !== 'LATE_SALE') return finding
  switch (voiding(known, { saleId: sale.references.saleId, isChargedBack: sale.isChargedBack }, nowMs)) {
    case 'now':
      return finding
    case 'later':
      return voidedBefore(answer)
    case 'never':
      return { ...asFinding('CONTRADICTED', answer), reason: 'sale_after_failure' }
  }
}

/** A duplicate is voided first. One that can't be is listed, and does not hide what happens to the sale of the payment. */
function besideDuplicates(
  known: Known,
  answer: FoundEvent,
  own: Finding,
  duplicates: readonly [Duplicate, ...Duplicate[]]
): Finding {
  const whens = duplicates.map(duplicate => ({ ...duplicate, when: voiding(known, duplicate, answer.nowMs) }))
  const due = whens.find(({ when }) => when === 'now')
  if (due !== undefined) return { ...asFinding('DUPLICATE_SALE', answer), duplicateSaleId: due.saleId }
  if (whens.every(({ when }) => when === 'never')) {
    return isListed(known.progress) ? own : { ...asFinding('DUPLICATE_SALE', answer), duplicateSaleId: null }
  }
  if (isLapsed(known, answer)) return unclear(answer)
  return isVerifying(known) && !ENDS_VERIFICATION.includes(own.type) ? own : voidedBefore(answer)
}

/** After these a payment does not look at the record again: not while a duplicate is to be voided. */
const ENDS_VERIFICATION: readonly Finding['type'][] = ['NOTHING_NEW', 'CONTRADICTED', 'SALE_GONE']

function isVerifying({ progress }: Known): boolean {
  return progress.reconciliation === null
}

/** Whether a payment that has a reason for manual review keeps it. */
function isListed(progress: Known['progress']): boolean {
  return listFor(progress, 'duplicate_sale').reviewReason === progress.reviewReason
}

/**
 * When a sale may be voided: not before the acquirer takes another void of it, and not for ever. Never when the data may have
 * lost what the sale is about, or when its buyer got the money back from the issuer.
 */
function voiding(
  { terms, progress, policy }: Known,
  { saleId, isChargedBack }: Duplicate,
  nowMs: number
): 'now' | 'later' | 'never' {
  if (isChargedBack || isAcceptedBefore(terms, policy)) return 'never'
  const { times, lastMs } = voidsOf(progress.voids, saleId)
  if (isTryDue(times, lastMs, nowMs)) return 'now'
  return times < TRIES_MAX ? 'later' : 'never'
}

function voidedBefore(answer: FoundEvent): Finding {
  return { ...asFinding('RECORD_LAGS', answer), isVoided: true, note: 'voided a moment ago' }
}

/** Findings that leave it open whether the operation is booked. */
const OPEN: readonly Finding['type'][] = [
  'RECORD_LAGS',
  'NO_ANSWER',
  'CONTRADICTED',
  'OPERATION_MISSING',
  'OPERATION_NOT_BOOKED'
]

/**
 * What an operator saw decides at the horizon, unless the record does: also a live sale that is to be voided. Until then
 * nothing is sent.
 */
function unlessConcluded({ progress, policy }: Known, finding: Finding): Finding | ConcludedEvent {
  const concluded = progress.reconciliation?.concluded ?? null
  const isOfLiveSale = finding.type === 'LATE_SALE' || finding.type === 'DUPLICATE_SALE' || 'isVoided' in finding
  if (concluded === null || !(isOfLiveSale || OPEN.includes(finding.type))) return finding
  const { nowMs } = finding
  if (!isBeyondHorizon(progress.reconciliation, policy, nowMs)) {
    return { type: 'RECORD_LAGS', note: `an operator has seen it ${concluded.replace('_', ' ')}`, nowMs }
  }
  return isOfLiveSale ? finding : conclusionOf(progress, concluded === 'booked', nowMs, saleOf(finding)?.isChargedBack)
}

/**
 * Whether an absence in our present account says nothing about a payment: its sale may be in an account used before.
 * `accountSinceMs`: since when the present one is in use; 0: no other one was in use before. Both by the service's clock.
 */
export function mayBeInEarlierAccount(createdAtMs: number, accountSinceMs: number): boolean {
  return createdAtMs < accountSinceMs + ACCOUNT_CHANGE_MS
}

/** A lapsed hold, and a late sale that can be voided, go before a duplicate of theirs. */
function isOwnVoidedFirst(known: Known, { sale, nowMs }: FoundEvent): boolean {
  const { status, phase } = known.progress
  if (!isLive(sale) || phase === 'releasing') return isLive(sale)
  const { references, isChargedBack } = sale
  return status === 'failed' && voiding(known, { saleId: references.saleId, isChargedBack }, nowMs) !== 'never'
}

function ofAbsence(known: Known, answer: Absent): Finding {
  const { nowMs } = answer
  const lags = { type: 'RECORD_LAGS', note: 'not found', nowMs } as const
  switch (placeOf(known.progress)) {
    case 'unknown':
      return isLate(known, answer) ? { type: 'SALE_ABSENT', nowMs } : lags
    case 'expired.releasing':
    case 'failed.settled':
    case 'failed.watched':
      return isLate(known, answer) ? { type: 'SALE_GONE', nowMs } : lags
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
