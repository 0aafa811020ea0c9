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
    amountCents: progress.authorizedCents ?? terms.amountCents,
    currency: terms.currency,
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
  duplicateSaleId?: string
): Make {
  return (payment, nowMs) => ({
    type: 'FOUND',
    sale: sale(payment, status, changes(payment)),
    isOther: false,
    duplicates: duplicateSaleId === undefined ? [] : [{ saleId: duplicateSaleId, isChargedBack: false }],
    nowMs
  })
}

/** The same event, but not before a moment of the payment. */
const notBefore =
  (momentMs: (payment: Payment, nowMs: number) => number) =>
  (make: Make): Make =>
  (payment, nowMs) =>
    make(payment, Math.max(nowMs, momentMs(payment, nowMs)))

/** At the end of the window of a hold. */
export const afterWindow = notBefore(({ progress }, nowMs) => progress.expiresAtMs ?? nowMs)

/** When the next query is due. */
export const whenDue = notBefore(({ progress }, nowMs) => progress.reconciliation?.nextAtMs ?? nowMs)

/** When an operation in doubt may be sent again. */
export const nextTryDue = notBefore(({ progress }, nowMs) => (progress.reconciliation?.sinceMs ?? nowMs) + 5_000)

/** Later than the horizon of the open query. */
export const beyondHorizon = notBefore(
  ({ progress }, nowMs) => (progress.reconciliation?.sinceMs ?? nowMs) + examplePolicy.notFoundHorizonMs
)

/** When the record must show the last refund and what was reported. */
export const onceShown = notBefore(
  ({ progress: { refundedAtMs, verification } }, nowMs) =>
    Math.max(refundedAtMs ?? nowMs, verification?.sinceMs ?? 0) + examplePolicy.notFoundHorizonMs
)

/** After the wait for what was reported. */
export const daysLater = notBefore(
  ({ progress }, nowMs) => (progress.verification?.sinceMs ?? nowMs) + examplePolicy.reconcileListAfterMs
)

/** When the network does not return the sale any more. */
export const monthsLater = notBefore(({ terms }) => terms.createdAtMs + 100 * 24 * 3_600_000)

type WithoutTime<Event> = Event extends PaymentEvent ? Omit<Event, 'nowMs'> : never

/** An event that does not depend on the payment. */
export function plain(event: WithoutTime<PaymentEvent>): Make {
  return (_, nowMs) => ({ ...event, nowMs }) as PaymentEvent
}

const requested =
  (type: 'CAPTURE' | 'CANCEL', idempotencyKey: string) =>
  (amountOf: (payment: Payment) => number | null): Make =>
  (payment, nowMs) => ({ type, amountCents: amountOf(payment), idempotencyKey, nowMs })

export const capture = requested('CAPTURE', 'capture-record')
export const cancel = requested('CANCEL', 'cancel-record')

/** What the record shows once the refund at hand is in it. */
export const bookedCents = ({ progress }: Payment): number => progress.refundedCents + progress.operation.amountCents
