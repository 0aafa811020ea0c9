/**
 * One example of everything that can happen to a payment, in each variant that makes a difference. Tables, generated
 * paths and the inspector's what-if are made of them.
 */
import type { Payment } from '../../../machines/model.js'
import type { PaymentEvent } from '../../../machines/payment/events.js'
import {
  approved,
  beyondHorizon,
  bookedCents,
  cancel,
  capture,
  capturedOtherwise,
  concluded,
  daysLater,
  found,
  type Make,
  monthsLater,
  onceShown,
  references
} from './example-makers.js'

export interface ExampleEvent {
  /** Unique: `CAPTURE/part`. The part before the slash is the type of the event. */
  readonly id: string
  readonly label: string
  readonly type: PaymentEvent['type']
  /** The event as it would happen to this payment at this moment. */
  event(payment: Payment, nowMs: number): PaymentEvent
}

/** In the examples, captures and refunds in part move so much of 100.00. */
const PART_OF_CAPTURE_CENTS = 6_000
const PART_OF_REFUND_CENTS = 2_500

function example(id: string, label: string, event: Make): ExampleEvent {
  const type = id.split('/')[0] as PaymentEvent['type']
  return { id, label, type, event }
}

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
    nowMs: Math.max(nowMs, payment.progress.reconciliation?.nextAtMs ?? nowMs)
  })),
  example('RESUMED', 'redelivered after a crash', (_, nowMs) => ({ type: 'RESUMED', nowMs })),
  example('NETWORK_NOTIFICATION', 'something reported', (_, nowMs) => ({
    type: 'NETWORK_NOTIFICATION',
    reported: 'change',
    nowMs
  })),
  example('NETWORK_NOTIFICATION/chargeback', 'chargeback reported', (_, nowMs) => ({
    type: 'NETWORK_NOTIFICATION',
    reported: 'chargeback',
    nowMs
  })),
  example('REVIEW_RESOLVED', 'an operator has looked', (_, nowMs) => ({ type: 'REVIEW_RESOLVED', nowMs })),
  example('APPROVED', 'approved', (payment, nowMs) => approved(payment.terms.captureMode === 'auto')(payment, nowMs)),
  example('APPROVED/authorised', 'approved, but not captured', approved(false)),
  example('DECLINED', 'declined by the issuer', (_, nowMs) => ({
    type: 'DECLINED',
    code: '05',
    references,
    nowMs
  })),
  example('REJECTED', 'refused by the network', (_, nowMs) => ({ type: 'REJECTED', code: '100', nowMs })),
  example('REJECTED/late', 'refused, because it is too late', (_, nowMs) => ({
    type: 'REJECTED',
    code: '101',
    isTooLate: true,
    nowMs
  })),
  example('OPERATION_CONCLUDED/early', 'an operator is too early', concluded(true)),
  example('OPERATION_CONCLUDED/booked', 'an operator has seen it booked', beyondHorizon(concluded(true))),
  example('OPERATION_CONCLUDED/missing', 'an operator has not found it booked', beyondHorizon(concluded(false))),
  example('NOT_SENT', 'surely not sent', (_, nowMs) => ({ type: 'NOT_SENT', reason: 'connection refused', nowMs })),
  example('AMBIGUOUS', 'no conclusive answer', (_, nowMs) => ({ type: 'AMBIGUOUS', reason: 'timeout', nowMs })),
  example('CARD_MISSING', 'card data is gone', (_, nowMs) => ({
    type: 'CARD_MISSING',
    failure: 'invalid_token',
    nowMs
  })),
  example('OVERDUE', 'not authorised in time', (_, nowMs) => ({ type: 'OVERDUE', nowMs })),
  example('FOUND/authorised', 'found authorised', found('authorised')),
  example(
    'FOUND/authorised/duplicate',
    'found twice, authorised',
    found('authorised', () => ({}), 'sale-2')
  ),
  example('FOUND/captured', 'found captured', found('captured')),
  example(
    'FOUND/captured/duplicate',
    'found twice, captured',
    found('captured', () => ({}), 'sale-2')
  ),
  example(
    'FOUND/captured/refunded',
    'found with the refund booked',
    found('captured', payment => ({ voidedCents: bookedCents(payment) }))
  ),
  example('FOUND/captured/silent', 'still without the refund, beyond the horizon', beyondHorizon(found('captured'))),
  example(
    'FOUND/captured/disputed',
    'found charged back',
    found('captured', () => ({ isChargedBack: true }))
  ),
  example(
    'FOUND/captured/undone',
    'found with nothing refunded',
    onceShown(found('captured', () => ({ voidedCents: 0 })))
  ),
  example(
    'FOUND/captured/less',
    'found with less refunded',
    onceShown(found('captured', ({ progress }) => ({ voidedCents: Math.max(progress.refundedCents - 1, 0) })))
  ),
  ...(['captured', 'voided'] as const).flatMap(status => [
    example(
      `FOUND/${status}/lowered`,
      'found with less captured',
      capturedOtherwise(status, ({ progress }) => progress.refundedCents || PART_OF_CAPTURE_CENTS)
    ),
    example(
      `FOUND/${status}/raised`,
      'found with more captured',
      capturedOtherwise(status, ({ terms }) => terms.amountCents + 1)
    )
  ]),
  example(
    'FOUND/captured/behind',
    'found without the refund of a moment ago',
    found('captured', () => ({ voidedCents: 0 }))
  ),
  example(
    'FOUND/voided/more',
    'found voided, with more refunded',
    found('voided', ({ progress }) => ({ voidedCents: progress.refundedCents + 1 }))
  ),
  example(
    'FOUND/voided/undone',
    'found voided, with nothing refunded',
    onceShown(found('voided', () => ({ voidedCents: 0 })))
  ),
  example(
    'FOUND/voided/unconfirmed',
    'still voided, days after the notification',
    daysLater(found('voided', ({ progress }) => ({ voidedCents: progress.refundedCents })))
  ),
  example('FOUND/captured/unconfirmed', 'still as it was, days after the notification', daysLater(found('captured'))),
  example(
    'FOUND/authorised/unconfirmed',
    'still authorised, days after the notification',
    daysLater(found('authorised'))
  ),
  example('FOUND/denied', 'found denied', found('denied')),
  example('FOUND/denied/still', 'still denied, beyond the horizon', beyondHorizon(found('denied'))),
  example(
    'FOUND/denied/duplicate',
    'found denied, and another one',
    found('denied', () => ({}), 'sale-2')
  ),
  example('FOUND/voided', 'found voided', found('voided')),
  example(
    'FOUND/voided/less',
    'found voided, with other figures',
    onceShown(found('voided', ({ progress }) => ({ voidedCents: Math.max(progress.refundedCents - 1, 0) })))
  ),
  example(
    'FOUND/voided/behind',
    'found voided, without the refund of a moment ago',
    found('voided', () => ({ voidedCents: 0 }))
  ),
  example(
    'FOUND/voided/same',
    'found voided, as far as refunded',
    found('voided', ({ progress }) => ({ voidedCents: progress.refundedCents }))
  ),
  example(
    'FOUND/voided/duplicate',
    'found voided, and another one',
    found('voided', () => ({}), 'sale-2')
  ),
  example(
    'FOUND/voided/disputed',
    'found voided and charged back',
    found('voided', () => ({ isChargedBack: true }))
  ),
  example('FOUND/unfinished', 'the network does not know yet', found('unfinished')),
  example('ABSENT', 'not found', (_, nowMs) => ({ type: 'ABSENT', nowMs })),
  example(
    'ABSENT/beyond',
    'not found, beyond the horizon',
    beyondHorizon((_, nowMs) => ({ type: 'ABSENT', nowMs }))
  ),
  example(
    'ABSENT/unconfirmed',
    'not found, days after the notification',
    daysLater((_, nowMs) => ({ type: 'ABSENT', nowMs }))
  ),
  example(
    'ABSENT/forgotten',
    'not found, months after the sale',
    monthsLater((_, nowMs) => ({ type: 'ABSENT', nowMs }))
  ),
  example('NO_ANSWER', 'the network does not answer', (_, nowMs) => ({
    type: 'NO_ANSWER',
    reason: 'connection refused',
    nowMs
  })),
  example('POISONED', 'delivered too often', (_, nowMs) => ({ type: 'POISONED', nowMs }))
]

/** Finds an example by its id. Throws on one that does not exist. */
export function exampleOf(id: string): ExampleEvent {
  const found = exampleEvents.find(candidate => candidate.id === id)
  if (found === undefined) throw new Error(`There is no example event ${JSON.stringify(id)}.`)
  return found
}
