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

/** At the end of the window of a hold. */
export function afterWindow(make: Make): Make {
  return (payment, nowMs) => make(payment, Math.max(nowMs, payment.progress.expiresAtMs ?? nowMs))
}

/** Later than the horizon of the open query. */
export function beyondHorizon(make: Make): Make {
  return (payment, nowMs) => {
    const sinceMs = payment.progress.reconciliation?.sinceMs ?? nowMs
    return make(payment, Math.max(nowMs, sinceMs + examplePolicy.notFoundHorizonMs))
  }
}

/** When the record must show the last refund and what was reported. */
export function onceShown(make: Make): Make {
  return (payment, nowMs) => {
    const { refundedAtMs, notification } = payment.progress
    const sinceMs = Math.max(refundedAtMs ?? nowMs, notification?.sinceMs ?? 0)
    return make(payment, Math.max(nowMs, sinceMs + examplePolicy.notFoundHorizonMs))
  }
}

/** After the wait for what was reported. */
export function daysLater(make: Make): Make {
  return (payment, nowMs) => {
    const sinceMs = payment.progress.notification?.sinceMs ?? nowMs
    return make(payment, Math.max(nowMs, sinceMs + examplePolicy.reconcileListAfterMs))
  }
}

/** When the network does not return the sale any more. */
export function monthsLater(make: Make): Make {
  return (payment, nowMs) => make(payment, Math.max(nowMs, payment.terms.createdAtMs + 100 * 24 * 3_600_000))
}

type WithoutTime<Event> = Event extends PaymentEvent ? Omit<Event, 'nowMs'> : never

/** An event that does not depend on the payment. */
export function plain(event: WithoutTime<PaymentEvent>): Make {
  return (_, nowMs) => ({ ...event, nowMs }) as PaymentEvent
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

/** What the record shows once the refund at hand is in it. */
export const bookedCents = ({ progress }: Payment): number => progress.refundedCents + progress.operation.amountCents
