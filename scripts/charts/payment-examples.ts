/**
 * One example of everything that can happen to a payment, in each variant that makes a difference. Tables, generated
 * paths and the inspector's what-if are made of them.
 */
import type { Payment } from '../../machines/model.js'
import { newPayment } from '../../machines/model.js'
import type { Sale } from '../../machines/network.js'
import type { PaymentEvent, Policy } from '../../machines/payment/events.js'

export interface ExampleEvent {
  /** Unique: `CAPTURE/part`. The part before the slash is the type of the event. */
  readonly id: string
  readonly label: string
  readonly type: PaymentEvent['type']
  /** The event as it would happen to this payment at this moment. */
  event(payment: Payment, nowMs: number): PaymentEvent
}

export const examplePolicy: Policy = {
  reconcileDelaysMs: [2_000, 5_000, 15_000, 60_000],
  notFoundHorizonMs: 600_000,
  reconcileListAfterMs: 72 * 3_600_000
}

const CREATED_AT_MS = Date.UTC(2026, 0, 5, 12)
const STEP_MS = 1_000
/** In the examples, captures and refunds in part move so much of 100.00. */
const PART_OF_CAPTURE_CENTS = 6_000
const PART_OF_REFUND_CENTS = 2_500

/** A payment of BRL 100.00 that was accepted a moment ago. */
export function examplePayment(captureMode: 'auto' | 'manual'): Payment {
  return newPayment(
    {
      id: '019b8e2c-5c00-7000-8000-000000000001',
      merchantId: 'm_example',
      externalReference: 'order-1',
      captureMode,
      amountCents: 10_000,
      currency: 'BRL',
      installments: 1,
      statementDescriptor: null,
      card: { brand: 'visa', last4: '0060', cardId: null },
      customer: { name: 'Ana Example', email: 'ana@example.com' },
      metadata: null,
      preauthTtlMs: 7 * 24 * 3_600_000,
      createdAtMs: CREATED_AT_MS
    },
    'example-record'
  )
}

/** A moment after the last thing that happened to the payment. */
export function nextMomentMs(payment: Payment): number {
  return (payment.history.at(-1)?.atMs ?? payment.terms.createdAtMs) + STEP_MS
}

type Make = (payment: Payment, nowMs: number) => PaymentEvent

function example(id: string, label: string, event: Make): ExampleEvent {
  const type = id.split('/')[0] as PaymentEvent['type']
  return { id, label, type, event }
}

const references = { saleId: 'sale-1', tid: '1006993069', nsu: '674532', authorizationCode: '123456' }

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

function found(
  type: Extract<PaymentEvent, { sale: Sale }>['type'],
  status: Sale['status'],
  changes: (payment: Payment) => Partial<Sale> = () => ({}),
  surplusSaleId: string | null = null
): Make {
  return (payment, nowMs) => ({ type, sale: sale(payment, status, changes(payment)), surplusSaleId, nowMs })
}

/** Later than the horizon of the open question. */
function beyondHorizon(make: Make): Make {
  return (payment, nowMs) => {
    const sinceMs = payment.progress.inquiry?.sinceMs ?? nowMs
    return make(payment, Math.max(nowMs, sinceMs + examplePolicy.notFoundHorizonMs))
  }
}

function capture(amountOf: (payment: Payment) => number | null): Make {
  return (payment, nowMs) => ({ type: 'CAPTURE', amountCents: amountOf(payment), record: 'capture-record', nowMs })
}

function cancel(amountOf: (payment: Payment) => number | null): Make {
  return (payment, nowMs) => ({ type: 'CANCEL', amountCents: amountOf(payment), record: 'cancel-record', nowMs })
}

function approved(isCaptured: boolean): Make {
  return (_, nowMs) => ({ type: 'APPROVED', isCaptured, references, nowMs })
}

const bookedCents = ({ progress }: Payment): number => progress.refundedCents + progress.operation.amountCents

export const exampleEvents: readonly ExampleEvent[] = [
  example('AUTHORISE', 'authorise', (_, nowMs) => ({ type: 'AUTHORISE', nowMs })),
  example(
    'CAPTURE/whole',
    'capture all',
    capture(() => null)
  ),
  example(
    'CAPTURE/part',
    'capture a part',
    capture(() => PART_OF_CAPTURE_CENTS)
  ),
  example(
    'CAPTURE/above',
    'capture more than authorised',
    capture(({ terms }) => terms.amountCents + 1)
  ),
  example('CAPTURE/late', 'capture after the window', (payment, nowMs) =>
    capture(() => null)(payment, Math.max(nowMs, payment.progress.expiresAtMs ?? nowMs))
  ),
  example(
    'CANCEL/whole',
    'cancel, or refund the rest',
    cancel(() => null)
  ),
  example(
    'CANCEL/part',
    'refund a part',
    cancel(() => PART_OF_REFUND_CENTS)
  ),
  example(
    'CANCEL/above',
    'refund more than captured',
    cancel(({ terms }) => terms.amountCents + 1)
  ),
  example('EXPIRE', 'the window is over', (payment, nowMs) => ({
    type: 'EXPIRE',
    nowMs: Math.max(nowMs, payment.progress.expiresAtMs ?? nowMs)
  })),
  example('EXPIRE/early', 'expiry before its time', (_, nowMs) => ({ type: 'EXPIRE', nowMs })),
  example('RECONCILE', 'ask the network', (payment, nowMs) => ({
    type: 'RECONCILE',
    nowMs: Math.max(nowMs, payment.progress.inquiry?.nextAtMs ?? nowMs)
  })),
  example('RESUMED', 'found again after a crash', (_, nowMs) => ({ type: 'RESUMED', nowMs })),
  example('POISONED', 'handed out too often', (_, nowMs) => ({ type: 'POISONED', nowMs })),
  example('CHARGEBACK_NOTICE', 'chargeback announced', (_, nowMs) => ({ type: 'CHARGEBACK_NOTICE', nowMs })),
  example('ATTENTION_SETTLED', 'a person has looked', (_, nowMs) => ({ type: 'ATTENTION_SETTLED', nowMs })),
  example('APPROVED', 'approved', (payment, nowMs) => approved(payment.terms.captureMode === 'auto')(payment, nowMs)),
  example('APPROVED/authorised', 'approved, but not captured', approved(false)),
  example('DECLINED', 'declined by the issuer', (_, nowMs) => ({
    type: 'DECLINED',
    code: '05',
    failure: 'card_declined',
    references,
    nowMs
  })),
  example('REJECTED', 'refused by the network', (_, nowMs) => ({ type: 'REJECTED', code: '100', nowMs })),
  example('NOT_SENT', 'surely not sent', (_, nowMs) => ({ type: 'NOT_SENT', reason: 'connection refused', nowMs })),
  example('AMBIGUOUS', 'no conclusive answer', (_, nowMs) => ({ type: 'AMBIGUOUS', reason: 'timeout', nowMs })),
  example('CARD_MISSING', 'card data is gone', (_, nowMs) => ({ type: 'CARD_MISSING', nowMs })),
  example('FOUND_AUTHORISED', 'found authorised', found('FOUND_AUTHORISED', 'authorised')),
  example(
    'FOUND_AUTHORISED/surplus',
    'found twice, authorised',
    found('FOUND_AUTHORISED', 'authorised', () => ({}), 'sale-2')
  ),
  example('FOUND_CAPTURED', 'found captured', found('FOUND_CAPTURED', 'captured')),
  example(
    'FOUND_CAPTURED/surplus',
    'found twice, captured',
    found('FOUND_CAPTURED', 'captured', () => ({}), 'sale-2')
  ),
  example(
    'FOUND_CAPTURED/refunded',
    'found with the refund booked',
    found('FOUND_CAPTURED', 'captured', payment => ({ voidedCents: bookedCents(payment) }))
  ),
  example(
    'FOUND_CAPTURED/silent',
    'still without the refund, beyond the horizon',
    beyondHorizon(found('FOUND_CAPTURED', 'captured'))
  ),
  example(
    'FOUND_CAPTURED/disputed',
    'found charged back',
    found('FOUND_CAPTURED', 'captured', () => ({ isChargedBack: true }))
  ),
  example('FOUND_DENIED', 'found denied', found('FOUND_DENIED', 'denied')),
  example(
    'FOUND_DENIED/surplus',
    'found denied, and another one',
    found('FOUND_DENIED', 'denied', () => ({}), 'sale-2')
  ),
  example('FOUND_VOIDED', 'found voided', found('FOUND_VOIDED', 'voided')),
  example(
    'FOUND_VOIDED/less',
    'found voided, with other figures',
    found('FOUND_VOIDED', 'voided', ({ progress }) => ({ voidedCents: Math.max(progress.refundedCents - 1, 0) }))
  ),
  example(
    'FOUND_VOIDED/same',
    'found voided, as far as refunded',
    found('FOUND_VOIDED', 'voided', ({ progress }) => ({ voidedCents: progress.refundedCents }))
  ),
  example(
    'FOUND_VOIDED/surplus',
    'found voided, and another one',
    found('FOUND_VOIDED', 'voided', () => ({}), 'sale-2')
  ),
  example(
    'FOUND_VOIDED/disputed',
    'found voided and charged back',
    found('FOUND_VOIDED', 'voided', () => ({ isChargedBack: true }))
  ),
  example('FOUND_UNFINISHED', 'the network does not know yet', found('FOUND_UNFINISHED', 'unfinished')),
  example('ABSENT', 'not found', (_, nowMs) => ({ type: 'ABSENT', nowMs })),
  example(
    'ABSENT/beyond',
    'not found, beyond the horizon',
    beyondHorizon((_, nowMs) => ({ type: 'ABSENT', nowMs }))
  ),
  example('NO_ANSWER', 'the network does not answer', (_, nowMs) => ({
    type: 'NO_ANSWER',
    reason: 'connection refused',
    nowMs
  }))
]

/** Finds an example by its id. Throws on one that does not exist. */
export function exampleOf(id: string): ExampleEvent {
  const found = exampleEvents.find(candidate => candidate.id === id)
  if (found === undefined) throw new Error(`There is no example event ${JSON.stringify(id)}.`)
  return found
}
