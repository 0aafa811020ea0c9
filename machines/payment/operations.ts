/** How the operation of a payment begins and changes, and why it failed. A refund is in the list of refunds, too. Pure. */
import { declineOf, failureOfDecline } from '../declines.js'
import {
  type FailureCode,
  isOpen,
  type Operation,
  type OperationState,
  type PaymentTerms,
  type Refund
} from '../model.js'
import { authorizedCentsOf, refundAmountCents } from './amounts.js'
import type { Facts } from './context.js'
import type { LifecycleEvent, RequestEvent } from './events.js'
import type { Policy } from './policy.js'
import { withNewRefund } from './refunds.js'

/** What changes when a capture or cancel begins: its operation takes the place of the one before. */
export function operationBegun(
  terms: PaymentTerms,
  facts: Facts,
  asked: RequestEvent
): Pick<Facts, 'operation' | 'refunds' | 'error'> {
  const operation = operationOf(terms, facts, asked)
  const { kind, amountCents, idempotencyKey } = operation
  const isRefund = kind === 'refund'
  return {
    operation,
    refunds: isRefund ? withNewRefund(facts, amountCents, idempotencyKey, asked.nowMs) : facts.refunds,
    error: null
  }
}

function operationOf(terms: PaymentTerms, facts: Facts, asked: RequestEvent): Operation {
  const { type, amountCents, idempotencyKey } = asked
  const state = 'in_progress'
  const authorizedCents = authorizedCentsOf(terms, facts)
  if (type === 'CAPTURE') return { kind: 'capture', state, amountCents: amountCents ?? authorizedCents, idempotencyKey }
  if (facts.capturedCents === 0) return { kind: 'cancel', state, amountCents: authorizedCents, idempotencyKey }
  return { kind: 'refund', state, amountCents: refundAmountCents(facts, asked), idempotencyKey }
}

/** What changes when the running operation gets another state: a refund in the list has the state of its operation. */
export function withOperationState(
  { refunds, operation }: Facts,
  state: OperationState,
  nowMs: number,
  error: Refund['error'] = null
): Pick<Facts, 'operation' | 'refunds'> {
  const changed = { ...operation, state }
  if (operation.kind !== 'refund') return { operation: changed, refunds }
  const at = refunds.findLastIndex(refund => isOpen(refund) && refund.idempotencyKey === operation.idempotencyKey)
  const concludedAtMs = isOpen({ state }) ? null : nowMs
  return {
    operation: changed,
    refunds: refunds.map((refund, index) => (index === at ? { ...refund, state, concludedAtMs, error } : refund))
  }
}

/** The row of the error catalogue for an operation that ended with this event. */
export function failureOf(
  terms: PaymentTerms,
  operation: Operation,
  event: LifecycleEvent,
  policy: Policy
): FailureCode {
  const isCapture = isCaptureOfCreate(terms, operation)
  const refused = isCapture ? 'capture_rejected' : 'provider_rejected'
  const unsent = isCapture ? 'capture_not_sent' : 'network_unavailable'
  switch (event.type) {
    case 'OPERATION_FAILED':
      return failureOf(terms, operation, event.outcome, policy)
    case 'DECLINED':
      return isCapture ? 'capture_rejected' : declinedAs(terms, event.code, policy)
    case 'REJECTED':
      return refused
    case 'NOT_SENT':
      return unsent
    case 'OPERATION_NOT_BOOKED':
      return event.isRefused ? refused : unsent
    case 'SALE_GONE':
      return operation.kind === 'authorization' && event.sale?.status === 'denied'
        ? declinedAs(terms, event.sale.declinedCode, policy)
        : 'provider_rejected'
    case 'RESOLVED_AS_MISSING':
    case 'SALE_ABSENT':
      return 'network_unavailable'
    case 'OVERDUE':
      return 'authorization_overdue'
    case 'CARD_MISSING':
      return event.failure
    default:
      return 'provider_rejected'
  }
}

/**
 * The capture that was asked for with the payment, after an authorisation without a capture. When it fails, the merchant
 * must know that the amount is held: another payment would hold it twice.
 */
function isCaptureOfCreate({ captureMode }: PaymentTerms, { kind }: Operation): boolean {
  return captureMode === 'auto' && kind === 'capture'
}

/** The same code means the same, whether the network answered at once or when it was asked. */
function declinedAs({ card }: PaymentTerms, code: string | null, { environment }: Policy): FailureCode {
  return code === null ? 'card_declined' : failureOfDecline(declineOf(card.brand, code, environment))
}
