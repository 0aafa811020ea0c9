/** What moved money in the life of a payment, each with its time: the lines of a settlement report. */
import type { Payment } from './model.js'

export interface MoneyMove {
  readonly type: 'capture' | 'refund' | 'chargeback'
  readonly atMs: number
  /** Above 0; `type` says to whom it went. */
  readonly amountCents: number
  /** Of the refund's request; null for what has none, or was made outside this service. */
  readonly idempotencyKey: string | null
}

/**
 * As the record says now: captured less refunded is the sum of captures less that of refunds, but for refunds that were
 * made outside this service, which a payment does not count as refunded. A chargeback takes what was left.
 */
export function moneyMoves({ progress, history }: Payment): MoneyMove[] {
  const { capturedCents, capturedAtMs, refunds, status } = progress
  const moves: MoneyMove[] = []
  if (capturedAtMs !== null && capturedCents > 0) {
    moves.push({ type: 'capture', atMs: capturedAtMs, amountCents: capturedCents, idempotencyKey: null })
  }
  let leftCents = capturedCents
  for (const { state, amountCents, concludedAtMs, idempotencyKey } of refunds) {
    if (state !== 'succeeded' || concludedAtMs === null) continue
    leftCents -= amountCents
    moves.push({ type: 'refund', atMs: concludedAtMs, amountCents, idempotencyKey })
  }
  if (status === 'charged_back' && leftCents > 0) {
    const line = history.find(({ status: after }) => after === 'charged_back') ?? history.at(-1)
    moves.push({ type: 'chargeback', atMs: line?.atMs ?? 0, amountCents: leftCents, idempotencyKey: null })
  }
  return moves
}
