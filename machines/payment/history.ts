/**
 * The history of a payment: one line for each event that was taken. For operators; and unvouched.ts reads in it when the payment
 * was compared with the acquirer's record. Pure.
 */
import type { HistoryEntry, PaymentPlace } from '../model.js'
import { saleOf } from './amounts.js'
import type { LifecycleEvent } from './events.js'
import { isSeenByOperator } from './manual-review.js'

/** The line of an erasure, which looks at nothing and moves no money. */
export const BUYER_ERASED = 'BUYER_ERASED'

/** The detail of an event that stands for what the record would have shown. */
export const SEEN_BY_OPERATOR = 'an operator has seen it'

/** The line of an event, and where it led. */
export function lineOf(event: LifecycleEvent, { status, phase }: PaymentPlace): HistoryEntry {
  return { atMs: event.nowMs, event: event.type, status, phase, detail: detailOf(event), times: 1 }
}

/** Appends a line, or counts one up: a hundred queries without an answer are one line. */
export function addLine(history: readonly HistoryEntry[], line: HistoryEntry): HistoryEntry[] {
  const { event, status, phase, detail } = line
  const last = history[history.length - 1]
  if (last?.event === event && last.status === status && last.phase === phase && last.detail === detail) {
    return [...history.slice(0, -1), { ...line, times: last.times + 1 }]
  }
  return bounded([...history, line])
}

/** A long history keeps its beginning and its end; the lines between are only counted. */
const HISTORY_MAX = 100
const HISTORY_BEGINNING = 20
const LEFT_OUT = 'LEFT_OUT'

function bounded(lines: HistoryEntry[]): HistoryEntry[] {
  const [first, second, ...recent] = lines.slice(HISTORY_BEGINNING)
  if (lines.length <= HISTORY_MAX || first === undefined || second === undefined) return lines
  const leftOut = { ...second, event: LEFT_OUT, detail: null, times: first.times + second.times }
  return [...lines.slice(0, HISTORY_BEGINNING), leftOut, ...recent]
}

function detailOf(event: LifecycleEvent): string | null {
  switch (event.type) {
    case 'CAPTURE':
    case 'CANCEL':
      return event.amountCents === null ? null : `amount ${event.amountCents}`
    case 'DECLINED':
    case 'REJECTED':
      return `code ${event.code}`
    case 'NETWORK_NOTIFICATION':
      return event.reported
    case 'OPERATION_FAILED':
    case 'EARLIER_TRY_IN_DOUBT':
      return `${event.outcome.type.toLowerCase().replace('_', ' ')}: ${detailOf(event.outcome)}`
    case 'CONCLUSION_NOTED':
      return event.isBooked ? 'booked' : 'not booked'
    case 'NOT_SENT':
    case 'UNPROVEN':
    case 'AMBIGUOUS':
    case 'NO_ANSWER':
      return event.reason
    default:
      return isSeenByOperator(event) ? SEEN_BY_OPERATOR : recordText(event)
  }
}

/** What the acquirer's record showed. */
function recordText(event: LifecycleEvent): string | null {
  const note = 'note' in event ? event.note : undefined
  const sale = saleOf(event)
  if (sale === null || (event.type === 'RECORD_LAGS' && note !== undefined)) return note ?? null
  const { status, amountCents, capturedCents, voidedCents } = sale
  const amounts = `${status}, amount ${amountCents}, captured ${capturedCents}, voided ${voidedCents ?? 'not shown'}`
  if (event.type === 'DUPLICATE_SALE') return `duplicate ${event.duplicateSaleId}; own sale ${amounts}`
  return note === undefined ? amounts : `${note}: ${amounts}`
}
