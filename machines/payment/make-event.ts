/**
 * Makes the events of a payment from what merchants ask, and from what calls and queries to the network meant
 * (machines/network.ts).
 *
 * A query may show several sales under one order id; a payment owns one of them, every other live one is a duplicate.
 */
import type { Command } from '../commands.js'
import { type CallOutcome, isLive, type QueryOutcome, type Sale } from '../network.js'
import type { CallEvent, QueryEvent, RequestEvent } from './events.js'

/** The event of a merchant's capture or cancel. */
export function requestEvent(
  { kind, amountCents }: Command & { kind: 'capture' | 'cancel' },
  idempotencyKey: string,
  nowMs: number
): RequestEvent {
  return { type: kind === 'capture' ? 'CAPTURE' : 'CANCEL', amountCents, idempotencyKey, nowMs }
}

/** The event that the outcome of a call is. */
export function callEvent(outcome: CallOutcome, nowMs: number): CallEvent {
  switch (outcome.kind) {
    case 'approved':
      return {
        type: 'APPROVED',
        isCaptured: outcome.isCaptured,
        references: outcome.references,
        ...(outcome.stated && { stated: outcome.stated }),
        nowMs
      }
    case 'declined':
      return { type: 'DECLINED', code: outcome.code, references: outcome.references, nowMs }
    case 'rejected':
      return { type: 'REJECTED', code: outcome.code, isTooLate: outcome.isTooLate === true, nowMs }
    case 'not_sent':
      return { type: 'NOT_SENT', reason: outcome.reason, nowMs }
    case 'unproven':
      return { type: 'UNPROVEN', reason: outcome.reason, call: outcome.mayArrive ? 'may_arrive' : 'ended', nowMs }
    case 'ambiguous':
      return { type: 'AMBIGUOUS', reason: outcome.reason, nowMs }
  }
}

/** The event that the answer to a query is. `ownSaleId`: the sale that this payment is known to own, if any. */
export function queryEvent(outcome: QueryOutcome, ownSaleId: string | null, nowMs: number): QueryEvent {
  if (outcome.kind === 'absent') return { type: 'ABSENT', nowMs }
  if (outcome.kind === 'no_answer') return { type: 'NO_ANSWER', reason: outcome.reason, nowMs }
  const sale = ownSale(outcome.sales, ownSaleId)
  const others = outcome.sales.filter(({ references }) => references.saleId !== sale.references.saleId)
  const duplicates = others
    .filter(isLive)
    .map(({ references, isChargedBack }) => ({ saleId: references.saleId, isChargedBack }))
  const isOther = ownSaleId !== null && sale.references.saleId !== ownSaleId
  const isOtherChargedBack = others.some(({ isChargedBack }) => isChargedBack)
  return { type: 'FOUND', sale, isOther, duplicates, ...(isOtherChargedBack && { isOtherChargedBack }), nowMs }
}

/** The known one; else the first with money in it; else one that may still become live; else the last word. */
function ownSale(sales: readonly [Sale, ...Sale[]], ownSaleId: string | null): Sale {
  return (
    sales.find(sale => sale.references.saleId === ownSaleId) ??
    sales.find(isLive) ??
    sales.find(sale => sale.status === 'unfinished') ??
    sales[sales.length - 1] ??
    sales[0]
  )
}
