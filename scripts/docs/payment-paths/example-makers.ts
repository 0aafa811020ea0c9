/** How the examples of what can happen to a payment are made (payment-examples.ts). */
import type { Payment } from '../../../machines/model.js'
import type { Sale } from '../../../machines/network.js'
import type { PaymentEvent } from '../../../machines/payment/events.js'
import { examplePolicy } from './example-payment.js'

/** An event as it would happen to this payment at this moment. */
export type Make = (payment: Payment, nowMs: number) => PaymentEvent

export const references = { saleId: 'sale-1', tid: '1006993069', nsu: '674532', authorizationCode: '123456' }

function sale(payment: Payment, status: Sale['status'], changes: Partial<Sale> = {}): Sale {
  const { terms, progress } = payment
  const capturedCents = progress.capturedCents || progress.operation.amountCents
  return {
    references,
    status,
    amountCents: terms.amountCents,
    capturedCents: status === 'captured' || status === 'voided' ? capturedCents : 0,
    voidedCents: status === 'voided' ? capturedCents : progress.refundedCents,
    declinedCode: status === 'denied' ? '05' : null,
    isChargedBack: false,
    ...changes
  }
}

export function found(
  status: Sale['status'],
  changes: (payment: Payment) => Partial<Sale> = () => ({}),
  duplicateSaleId: string | null = null
): Make {
  return (payment, nowMs) => ({ type: 'FOUND', sale: sale(payment, status, changes(payment)), duplicateSaleId, nowMs })
}

export function capturedOtherwise(status: 'captured' | 'voided', cents: (payment: Payment) => number): Make {
  return found(status, payment => ({ capturedCents: cents(payment) }))
}

/** Later than the horizon of the open query. */
export function beyondHorizon(make: Make): Make {
  return (payment, nowMs) => {
    const sinceMs = payment.progress.reconciliation?.sinceMs ?? nowMs
    return make(payment, Math.max(nowMs, sinceMs + examplePolicy.notFoundHorizonMs))
  }
}

/** When the record can't be behind with the last refund, or with what was reported, any more. */
export function onceShown(make: Make): Make {
  return (payment, nowMs) => {
    const { refundedAtMs, notification } = payment.progress
    const sinceMs = Math.max(refundedAtMs ?? nowMs, notification?.sinceMs ?? 0)
    return make(payment, Math.max(nowMs, sinceMs + examplePolicy.notFoundHorizonMs))
  }
}

/** When what was reported is not waited for any more. */
export function daysLater(make: Make): Make {
  return (payment, nowMs) => {
    const sinceMs = payment.progress.notification?.sinceMs ?? nowMs
    return make(payment, Math.max(nowMs, sinceMs + examplePolicy.reconcileListAfterMs))
  }
}

/** When the network tells of the sale no more. */
export function monthsLater(make: Make): Make {
  return (payment, nowMs) => make(payment, Math.max(nowMs, payment.terms.createdAtMs + 100 * 24 * 3_600_000))
}

export function concluded(isBooked: boolean): Make {
  return (_, nowMs) => ({ type: 'OPERATION_CONCLUDED', isBooked, nowMs })
}

export function capture(amountOf: (payment: Payment) => number | null): Make {
  return (payment, nowMs) => ({
    type: 'CAPTURE',
    amountCents: amountOf(payment),
    idempotencyKey: 'capture-record',
    nowMs
  })
}

export function cancel(amountOf: (payment: Payment) => number | null): Make {
  return (payment, nowMs) => ({
    type: 'CANCEL',
    amountCents: amountOf(payment),
    idempotencyKey: 'cancel-record',
    nowMs
  })
}

export function approved(isCaptured: boolean): Make {
  return (_, nowMs) => ({ type: 'APPROVED', isCaptured, references, nowMs })
}

/** What the record shows once the refund at hand is in it. */
export const bookedCents = ({ progress }: Payment): number => progress.refundedCents + progress.operation.amountCents
