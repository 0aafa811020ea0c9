/** What findings are made of, and what a payment and the policy say about the age of a record. */
import type { Payment } from '../model.js'
import type { Sale } from '../network.js'
import type { Finding, FoundEvent, Lag, QueryEvent } from './events.js'
import type { Policy } from './policy.js'
import { isBeyondHorizon } from './tries.js'

/** A payment, and the policy by which an answer is compared with it. */
export interface PaymentUnderPolicy extends Payment {
  readonly policy: Policy
}

export type Absent = Extract<QueryEvent, { type: 'ABSENT' }>
/** An answer whose `voidedCents` is what was voided of what was captured (`voidedOf`). */
export type ReadRecord = FoundEvent & { readonly isUncapturedCounted?: true }

/** The finding `type` with what the record shows. */
export function asFinding<T extends Finding['type']>(
  type: T,
  { sale, isUncapturedCounted, nowMs }: ReadRecord
): { type: T; sale: Sale; isUncapturedCounted?: true; nowMs: number } {
  return { type, sale, ...(isUncapturedCounted && { isUncapturedCounted }), nowMs }
}

/** The record does not settle it yet. */
export function recordLags(answer: ReadRecord, because: Lag = 'behind'): Extract<Finding, { type: 'RECORD_LAGS' }> {
  return { ...asFinding('RECORD_LAGS', answer), because }
}

/** The window of a hold is over, and the record does not tell how it stands. */
export function unclear({ nowMs }: QueryEvent): Finding {
  return { type: 'HOLD_UNCLEAR', nowMs }
}

/** The record and the payment can't both be right. `note`: why, where the amounts of the record don't show it. */
export function contradicted(answer: FoundEvent, note?: string): Finding {
  return { ...asFinding('CONTRADICTED', answer), reason: 'figures_differ', ...(note === undefined ? {} : { note }) }
}

/** The record shows what we know. What was reported, and when, decides whether it is verified. */
export function nothingNew(payment: PaymentUnderPolicy, answer: FoundEvent): Finding {
  const { verification } = payment.progress
  const isChargeback = answer.sale.isChargedBack || answer.isOtherChargedBack
  const isShown = verification?.reported === 'chargeback' && isChargeback
  const isUnshown = isSpecific(payment) && !isShown
  if (isUnshown && isBelowListAge(payment, answer.nowMs)) return recordLags(answer)
  if (isUnshown) return { ...asFinding('CONTRADICTED', answer), reason: 'notification_unconfirmed' }
  if (isChangeAwaited(payment, answer)) return recordLags(answer, 'agrees')
  return asFinding('NOTHING_NEW', answer)
}

/** More than "something" was reported. */
export function isSpecific({ progress: { verification } }: PaymentUnderPolicy): boolean {
  return verification?.reported === 'chargeback' || verification?.reported === 'denied_refund'
}

/** The network reported something: the payment does not only confirm an operation of its own. */
export function isReported({ progress: { verification } }: PaymentUnderPolicy): boolean {
  return verification !== null && verification.reported !== 'own'
}

/** What was reported is not old enough for manual review. */
export function isBelowListAge({ progress: { verification }, policy }: PaymentUnderPolicy, nowMs: number): boolean {
  return nowMs < (verification?.sinceMs ?? nowMs) + policy.reconcileListAfterMs
}

/** Something was reported, or answered to an operation, so recently that the record may not show it yet. */
export function isChangeAwaited(payment: PaymentUnderPolicy, answer: FoundEvent): boolean {
  return isRecent(payment.progress.verification?.sinceMs ?? null, payment, answer)
}

export function isRecent(sinceMs: number | null, { policy }: PaymentUnderPolicy, { nowMs }: FoundEvent): boolean {
  return sinceMs !== null && nowMs < sinceMs + policy.notFoundHorizonMs
}

/** The record can't be behind any more, and no request in doubt can arrive. */
export function isLate({ progress, policy }: PaymentUnderPolicy, { nowMs }: FoundEvent | Absent): boolean {
  return isBeyondHorizon(progress.reconciliation, policy, nowMs)
}

/** The window of a hold is over. */
export function isLapsed({ progress }: PaymentUnderPolicy, { nowMs }: QueryEvent): boolean {
  return progress.status === 'pre_authorized' && progress.expiresAtMs !== null && nowMs >= progress.expiresAtMs
}
