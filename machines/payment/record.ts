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
import type { ConcludedEvent, Finding, FoundEvent, QueryEvent } from './events.js'
import {
  type Absent,
  asFinding,
  type Compare,
  comparisons,
  contradicted,
  isLapsed,
  isLate,
  isListedLater,
  isSpecific,
  type Known,
  unclear
} from './record-comparisons.js'
import { isBeyondHorizon, isTryDue, TRIES_MAX } from './tries.js'
import { isAcceptedBefore } from './unvouched.js'

/** The network answers queries about sales of the last three months (acquirer's manual, queries): at least this long. */
const NETWORK_MEMORY_MS = 89 * 24 * 3_600_000

/** After a change of our account, a worker that was not stopped may send payments under the old one for so long (ms). */
const ACCOUNT_CHANGE_MS = 3_600_000

/** The finding that an answer is. Null: the payment waits for the outcome of its call, and for no such answer. */
export function findingOf(known: Known, answer: QueryEvent): Finding | ConcludedEvent | null {
  const compare = comparisons[placeOf(known.progress)]
  return compare === undefined ? null : unlessConcluded(known, voidedInTime(known, ofAnswer(known, answer, compare)))
}

function ofAnswer(known: Known, answer: QueryEvent, compare: Compare): Finding {
  const contradiction = answer.type === 'FOUND' ? contradictionIn(known, answer) : undefined
  const isTold = answer.type === 'FOUND' && answer.sale.status !== 'unfinished' && contradiction === undefined
  if (!isTold && isLapsed(known, answer)) return unclear(answer)
  if (answer.type === 'NO_ANSWER') return answer
  if (answer.type === 'ABSENT') return ofAbsence(known, answer)
  if (answer.sale.status === 'unfinished') return asFinding('RECORD_LAGS', answer)
  if (!isTold) return contradicted(answer, contradiction)
  const { duplicateSaleId } = answer
  if (duplicateSaleId === null || isOwnVoidedFirst(known, answer)) return compare(known, answer)
  return { ...asFinding('DUPLICATE_SALE', answer), duplicateSaleId }
}

/**
 * Findings that would void a sale: not before the acquirer takes another void of it, not for ever, and not when the data may
 * have lost what the sale is about.
 */
function voidedInTime({ terms, progress: { voids }, policy }: Known, finding: Finding): Finding {
  if (finding.type !== 'DUPLICATE_SALE' && finding.type !== 'LATE_SALE') return finding
  if (isAcceptedBefore(terms, policy)) return leftToOperator(finding)
  if (voids === null || isTryDue(voids.times, voids.lastMs, finding.nowMs)) return finding
  const { sale, nowMs } = finding
  if (voids.times < TRIES_MAX) return { type: 'RECORD_LAGS', note: 'voided a moment ago', sale, nowMs }
  return leftToOperator(finding)
}

function leftToOperator({ type, sale, nowMs }: Extract<Finding, { type: 'DUPLICATE_SALE' | 'LATE_SALE' }>): Finding {
  return { type: 'CONTRADICTED', reason: type === 'LATE_SALE' ? 'sale_after_failure' : 'duplicate_sale', sale, nowMs }
}

/** Findings that leave it open whether the operation is booked. */
const OPEN: readonly Finding['type'][] = [
  'RECORD_LAGS',
  'NO_ANSWER',
  'CONTRADICTED',
  'OPERATION_MISSING',
  'OPERATION_NOT_BOOKED',
  'LATE_SALE',
  'DUPLICATE_SALE'
]

/** What an operator saw decides at the horizon, unless the record does. Until then nothing is sent. */
function unlessConcluded({ progress, policy }: Known, finding: Finding): Finding | ConcludedEvent {
  const concluded = progress.reconciliation?.concluded ?? null
  if (concluded === null || !OPEN.includes(finding.type)) return finding
  const { nowMs } = finding
  if (!isBeyondHorizon(progress.reconciliation, policy, nowMs)) {
    return { type: 'RECORD_LAGS', note: `an operator has seen it ${concluded.replace('_', ' ')}`, nowMs }
  }
  return conclusionOf(progress, concluded === 'booked', nowMs)
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
