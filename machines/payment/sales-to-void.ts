/**
 * Live sales that should not be: a duplicate of the payment's sale, and a late sale of a payment that has failed. They are voided
 * one at a time, as often and as soon as the acquirer takes it. Pure.
 */
import { isLive, type Sale } from '../network.js'
import type { Duplicate, Finding, FoundEvent } from './events.js'
import { asFinding, isLapsed, type PaymentUnderPolicy, recordLags, unclear } from './finding-parts.js'
import { listFor } from './manual-review.js'
import { isTryDue, TRIES_MAX, voidsOf } from './tries.js'
import { isAcceptedBefore } from './unvouched.js'

/** A late sale is voided now or later, or is left to an operator. */
export function ofLateSale(payment: PaymentUnderPolicy, answer: FoundEvent, finding: Finding): Finding {
  switch (voiding(payment, saleToVoid(answer.sale), answer.nowMs)) {
    case 'now':
      return finding
    case 'later':
      return voidedBefore(answer)
    case 'never':
      return { ...asFinding('CONTRADICTED', answer), reason: 'sale_after_failure' }
  }
}

/**
 * What the answer means beside `own`, the finding about the payment's own sale. A duplicate is voided first. One that can't be is
 * listed, and does not hide what happens to the sale of the payment.
 */
export function besideDuplicates(payment: PaymentUnderPolicy, answer: FoundEvent, own: Finding): Finding {
  if (answer.duplicates.length === 0 || isOwnVoidedFirst(payment, answer)) return own
  const whens = answer.duplicates.map(duplicate => ({ ...duplicate, when: voiding(payment, duplicate, answer.nowMs) }))
  const due = whens.find(({ when }) => when === 'now')
  if (due !== undefined) return { ...asFinding('DUPLICATE_SALE', answer), duplicateSaleId: due.saleId }
  if (whens.every(({ when }) => when === 'never')) {
    return isListed(payment.progress) ? own : { ...asFinding('DUPLICATE_SALE', answer), duplicateSaleId: null }
  }
  if (isLapsed(payment, answer)) return unclear(answer)
  return isVerifying(payment) && !ENDS_VERIFICATION.includes(own.type) ? own : voidedBefore(answer)
}

/** After these a payment does not look at the record again: not while a duplicate is to be voided. */
const ENDS_VERIFICATION: readonly Finding['type'][] = ['NOTHING_NEW', 'CONTRADICTED', 'SALE_GONE']

function isVerifying({ progress }: PaymentUnderPolicy): boolean {
  return progress.reconciliation === null
}

/** Whether a payment that has a reason for manual review keeps it. */
function isListed(progress: PaymentUnderPolicy['progress']): boolean {
  return listFor(progress, 'duplicate_sale').reviewReason === progress.reviewReason
}

/**
 * When a sale may be voided: not before the acquirer takes another void of it, and not for ever. Never when the data may have
 * lost what the sale is about, or when its buyer got the money back from the issuer.
 */
function voiding(
  { terms, progress, policy }: PaymentUnderPolicy,
  { saleId, isChargedBack }: Duplicate,
  nowMs: number
): 'now' | 'later' | 'never' {
  if (isChargedBack || isAcceptedBefore(terms, policy)) return 'never'
  const { times, lastMs } = voidsOf(progress.voids, saleId)
  if (isTryDue(times, lastMs, nowMs)) return 'now'
  return times < TRIES_MAX ? 'later' : 'never'
}

function saleToVoid({ references, isChargedBack }: Sale): Duplicate {
  return { saleId: references.saleId, isChargedBack }
}

function voidedBefore(answer: FoundEvent): Finding {
  return { ...recordLags(answer, 'just_voided'), note: 'voided a moment ago' }
}

/** A lapsed hold, and a late sale that can be voided, go before a duplicate of theirs. */
function isOwnVoidedFirst(payment: PaymentUnderPolicy, { sale, nowMs }: FoundEvent): boolean {
  const { status, phase } = payment.progress
  if (!isLive(sale) || phase === 'releasing') return isLive(sale)
  return status === 'failed' && voiding(payment, saleToVoid(sale), nowMs) !== 'never'
}
