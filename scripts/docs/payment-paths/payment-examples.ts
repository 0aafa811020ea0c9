/**
 * One example of everything that can happen to a payment, in each variant that makes a difference. Tables, generated
 * paths and the inspector's what-if are made of them.
 */
import type { Payment } from '../../../machines/model.js'
import type { PaymentEvent } from '../../../machines/payment/events.js'
import {
  afterWindow,
  beyondHorizon,
  bookedCents,
  cancel,
  capture,
  daysLater,
  found,
  type Make,
  monthsLater,
  nextTryDue,
  onceShown,
  plain,
  references,
  whenDue
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

const booked = { type: 'OPERATION_CONCLUDED', isBooked: true } as const

type Example = readonly [id: string, label: string, make: Make]

const examples: readonly Example[] = [
  ['AUTHORISE', 'authorise', plain({ type: 'AUTHORISE' })],
  ['CAPTURE/whole', 'capture all', capture(() => null)],
  ['CAPTURE/part', 'capture a part', capture(() => PART_OF_CAPTURE_CENTS)],
  ['CAPTURE/above', 'capture more than authorised', capture(({ terms }) => terms.amountCents + 1)],
  ['CAPTURE/late', 'capture after the window', afterWindow(capture(() => null))],
  ['CANCEL/whole', 'cancel, or refund the rest', cancel(() => null)],
  ['CANCEL/part', 'refund a part', cancel(() => PART_OF_REFUND_CENTS)],
  ['CANCEL/above', 'refund more than captured', cancel(({ terms }) => terms.amountCents + 1)],
  ['EXPIRE', 'the window is over', afterWindow(plain({ type: 'EXPIRE' }))],
  ['EXPIRE/early', 'expiry before its time', plain({ type: 'EXPIRE' })],
  ['RECONCILE', 'ask the network', whenDue(plain({ type: 'RECONCILE' }))],
  ['RESUMED', 'redelivered after a crash', plain({ type: 'RESUMED' })],
  ['NETWORK_NOTIFICATION', 'something reported', plain({ type: 'NETWORK_NOTIFICATION', reported: 'change' })],
  [
    'NETWORK_NOTIFICATION/chargeback',
    'chargeback reported',
    plain({ type: 'NETWORK_NOTIFICATION', reported: 'chargeback' })
  ],
  ['REVIEW_RESOLVED', 'an operator has looked', plain({ type: 'REVIEW_RESOLVED' })],
  [
    'APPROVED',
    'approved',
    ({ terms }, nowMs) => ({ type: 'APPROVED', isCaptured: terms.captureMode === 'auto', references, nowMs })
  ],
  ['APPROVED/authorised', 'approved, but not captured', plain({ type: 'APPROVED', isCaptured: false, references })],
  ['DECLINED', 'declined by the issuer', plain({ type: 'DECLINED', code: '05', references })],
  ['REJECTED', 'refused by the network', plain({ type: 'REJECTED', code: '100' })],
  ['REJECTED/late', 'refused, because it is too late', plain({ type: 'REJECTED', code: '101', isTooLate: true })],
  ['OPERATION_CONCLUDED/early', 'an operator has seen it, before the horizon', plain(booked)],
  ['OPERATION_CONCLUDED/booked', 'an operator has seen it booked', beyondHorizon(plain(booked))],
  [
    'OPERATION_CONCLUDED/missing',
    'an operator has not found it booked',
    beyondHorizon(plain({ ...booked, isBooked: false }))
  ],
  ['NOT_SENT', 'provably not sent', plain({ type: 'NOT_SENT', reason: 'connection refused' })],
  [
    'UNPROVEN',
    'an answer that proves nothing',
    plain({ type: 'UNPROVEN', reason: 'the return code 999', call: 'ended' })
  ],
  ['AMBIGUOUS', 'no conclusive answer', plain({ type: 'AMBIGUOUS', reason: 'timeout' })],
  ['CARD_MISSING', 'card data is gone', plain({ type: 'CARD_MISSING', failure: 'invalid_token' })],
  ['OVERDUE', 'not authorised in time', plain({ type: 'OVERDUE' })],
  ['FOUND/authorised', 'found authorised', found('authorised')],
  ['FOUND/authorised/due', 'still authorised when another try is due', nextTryDue(found('authorised'))],
  ['FOUND/authorised/silent', 'still authorised, beyond the horizon', beyondHorizon(found('authorised'))],
  [
    'FOUND/authorised/less',
    'found with less authorised',
    found('authorised', ({ terms }) => ({ amountCents: terms.amountCents - 1 }))
  ],
  ['FOUND/authorised/duplicate', 'found twice, authorised', found('authorised', () => ({}), 'sale-2')],
  ['FOUND/captured', 'found captured', found('captured')],
  ['FOUND/captured/foreign', 'found in another currency', found('captured', () => ({ currency: 'USD' }))],
  ['FOUND/captured/duplicate', 'found twice, captured', found('captured', () => ({}), 'sale-2')],
  [
    'FOUND/captured/refunded',
    'found with the refund booked',
    found('captured', payment => ({ voidedCents: bookedCents(payment) }))
  ],
  ['FOUND/captured/silent', 'still without the refund, beyond the horizon', beyondHorizon(found('captured'))],
  ['FOUND/captured/disputed', 'found charged back', found('captured', () => ({ isChargedBack: true }))],
  [
    'FOUND/captured/disputed/silent',
    'found charged back without the refund, beyond the horizon',
    beyondHorizon(found('captured', () => ({ isChargedBack: true })))
  ],
  ['FOUND/captured/undone', 'found with nothing refunded', onceShown(found('captured', () => ({ voidedCents: 0 })))],
  [
    'FOUND/captured/less',
    'found with less refunded',
    onceShown(found('captured', ({ progress }) => ({ voidedCents: Math.max(progress.refundedCents - 1, 0) })))
  ],
  ...(['captured', 'voided'] as const).flatMap((status): Example[] => [
    [
      `FOUND/${status}/lowered`,
      'found with less captured',
      found(status, ({ progress }) => ({ capturedCents: progress.refundedCents || PART_OF_CAPTURE_CENTS }))
    ],
    [
      `FOUND/${status}/raised`,
      'found with more captured',
      found(status, ({ terms }) => ({ capturedCents: terms.amountCents + 1 }))
    ]
  ]),
  ['FOUND/captured/behind', 'found without the refund of a moment ago', found('captured', () => ({ voidedCents: 0 }))],
  [
    'FOUND/voided/more',
    'found voided, with more refunded',
    found('voided', ({ progress }) => ({ voidedCents: progress.refundedCents + 1 }))
  ],
  [
    'FOUND/voided/undone',
    'found voided, with nothing refunded',
    onceShown(found('voided', () => ({ voidedCents: 0 })))
  ],
  [
    'FOUND/voided/unconfirmed',
    'still voided, days after the notification',
    daysLater(found('voided', ({ progress }) => ({ voidedCents: progress.refundedCents })))
  ],
  ['FOUND/captured/unconfirmed', 'still as it was, days after the notification', daysLater(found('captured'))],
  ['FOUND/authorised/unconfirmed', 'still authorised, days after the notification', daysLater(found('authorised'))],
  ['FOUND/denied', 'found denied', found('denied')],
  ['FOUND/denied/still', 'still denied, beyond the horizon', beyondHorizon(found('denied'))],
  ['FOUND/denied/duplicate', 'found denied, and another one', found('denied', () => ({}), 'sale-2')],
  ['FOUND/voided', 'found voided', found('voided')],
  [
    'FOUND/voided/less',
    'found voided, with other figures',
    onceShown(found('voided', ({ progress }) => ({ voidedCents: Math.max(progress.refundedCents - 1, 0) })))
  ],
  [
    'FOUND/voided/behind',
    'found voided, without the refund of a moment ago',
    found('voided', () => ({ voidedCents: 0 }))
  ],
  [
    'FOUND/voided/same',
    'found voided, as far as refunded',
    found('voided', ({ progress }) => ({ voidedCents: progress.refundedCents }))
  ],
  ['FOUND/voided/duplicate', 'found voided, and another one', found('voided', () => ({}), 'sale-2')],
  ['FOUND/voided/disputed', 'found voided and charged back', found('voided', () => ({ isChargedBack: true }))],
  ['FOUND/unfinished', 'the network does not know yet', found('unfinished')],
  ['ABSENT', 'not found', plain({ type: 'ABSENT' })],
  ['ABSENT/beyond', 'not found, beyond the horizon', beyondHorizon(plain({ type: 'ABSENT' }))],
  ['ABSENT/unconfirmed', 'not found, days after the notification', daysLater(plain({ type: 'ABSENT' }))],
  ['ABSENT/forgotten', 'not found, months after the sale', monthsLater(plain({ type: 'ABSENT' }))],
  ['NO_ANSWER', 'the network does not answer', plain({ type: 'NO_ANSWER', reason: 'connection refused' })],
  ['POISONED', 'delivered too often', plain({ type: 'POISONED' })]
]

export const exampleEvents: readonly ExampleEvent[] = examples.map(([id, label, event]) => {
  const type = id.split('/')[0] as PaymentEvent['type']
  return { id, label, type, event }
})

/** Finds an example by its id. Throws on one that does not exist. */
export function exampleOf(id: string): ExampleEvent {
  const found = exampleEvents.find(candidate => candidate.id === id)
  if (found === undefined) throw new Error(`There is no example event ${JSON.stringify(id)}.`)
  return found
}
