/** Payments whose data came back, and may be older than what was done: what the acquirer's record shows is adopted. */
import { expect } from 'chai'
import { type Payment, type PaymentProgress, placeOf } from '../../../machines/model.js'
import { type Decision, decide } from '../../../machines/payment/decide.js'
import { withoutBuyer } from '../../../machines/payment/erasure.js'
import type { Effect, PaymentEvent } from '../../../machines/payment/events.js'
import type { Policy } from '../../../machines/payment/policy.js'
import {
  comparisonEvent,
  isCompared,
  isComparedFirst,
  isUnvouched,
  unsentEvent
} from '../../../machines/payment/unvouched.js'
import { wakeTimes } from '../../../machines/payment/wake-ups.js'
import { found, inStatus, KEY, NOW } from '../../support/decisions.js'
import { aDoubt, aPayment, CREATED_MS, DAY_MS, references, policy as vouchedPolicy } from '../../support/payments.js'

const HORIZON_MS = vouchedPolicy.notFoundHorizonMs
/** The data came back a moment ago. */
const JUST_NOW: Policy = { ...vouchedPolicy, unvouchedBeforeMs: NOW }
/** The data came back so long ago that no request of before can arrive any more. */
const LONG_AGO: Policy = { ...vouchedPolicy, unvouchedBeforeMs: NOW - HORIZON_MS }

const ASKED = { sinceMs: NOW, attempts: 0, nextAtMs: NOW, reported: 'change' } as const

const capture = { type: 'CAPTURE', amountCents: 600, idempotencyKey: KEY, nowMs: NOW } as const
const refund = { type: 'CANCEL', amountCents: 300, idempotencyKey: KEY, nowMs: NOW } as const

/** What a worker does with a request: begins it, looks, and takes the record. */
function looked(payment: Payment, asked: PaymentEvent, record: object, policy: Policy): Decision & { kind: 'taken' } {
  expect(isComparedFirst(payment, asked, policy)).to.equal(true)
  const begun = taken(payment, asked, policy)
  const looking = taken(begun.payment, unsentEvent(NOW), policy)
  expect(looking.effect).to.deep.equal({ kind: 'query' })
  return taken(looking.payment, { nowMs: NOW + 50, ...record } as PaymentEvent, policy)
}

function taken(payment: Payment, event: PaymentEvent, policy: Policy): Decision & { kind: 'taken' } {
  const decision = decide(payment, event, policy)
  if (decision.kind === 'refused') throw new Error(`${event.type} was refused: ${decision.code}`)
  return decision
}

function old(given: ReturnType<typeof inStatus>): Payment {
  return aPayment({ terms: { captureMode: given.mode }, progress: given.progress })
}

describe('an operation on a payment of unvouched data', () => {
  const rows: Readonly<
    Record<
      string,
      readonly [ReturnType<typeof inStatus>, PaymentEvent, object, Policy, Partial<PaymentProgress>, Effect | null]
    >
  > = {
    'a capture that the record shows is adopted': [
      inStatus('pre_authorized'),
      capture,
      found('captured', { capturedCents: 600 }),
      JUST_NOW,
      { status: 'captured', capturedCents: 600, reviewReason: null },
      null
    ],
    'a capture that it lacks is sent, because it works once only': [
      inStatus('pre_authorized'),
      capture,
      found('authorised', { capturedCents: 0 }),
      JUST_NOW,
      { status: 'capturing', phase: 'sending' },
      { kind: 'capture', saleId: references.saleId ?? '', amountCents: 600 }
    ],
    'a refund that the record shows is adopted': [
      inStatus('captured'),
      refund,
      found('captured', { voidedCents: 300 }),
      JUST_NOW,
      { status: 'partially_refunded', refundedCents: 300, reviewReason: null },
      null
    ],
    'a refund that it lacks waits for the horizon, because it may still arrive': [
      inStatus('captured'),
      refund,
      found('captured', { voidedCents: 0 }),
      JUST_NOW,
      { status: 'refunding', phase: 'reconciling' },
      null
    ],
    'a refund that it lacks is sent when none of before can arrive': [
      inStatus('captured'),
      refund,
      found('captured', { voidedCents: 0 }),
      LONG_AGO,
      { status: 'refunding', phase: 'sending' },
      { kind: 'refund', saleId: references.saleId ?? '', amountCents: 300 }
    ],
    'a refund of which the record shows another amount is not sent, and listed': [
      inStatus('captured'),
      refund,
      found('captured', { voidedCents: 200 }),
      LONG_AGO,
      { status: 'refunding', phase: 'reconciling', reviewReason: 'figures_differ' },
      null
    ],
    'a cancellation of what was captured meanwhile voids nothing': [
      inStatus('pre_authorized'),
      { ...refund, amountCents: null },
      found('captured', { capturedCents: 1_000 }),
      JUST_NOW,
      { status: 'cancelling', phase: 'reconciling', reviewReason: 'figures_differ' },
      null
    ]
  }
  for (const [name, [given, asked, record, policy, progress, effect]] of Object.entries(rows)) {
    it(name, () => {
      const { payment, effect: next } = looked(old(given), asked, record, policy)
      expect(payment.progress).to.deep.include(progress)
      expect(next).to.deep.equal(effect)
    })
  }

  it('is an ordinary one when all data is vouched for, or the payment is younger than it', () => {
    const payment = old(inStatus('captured'))
    expect(isComparedFirst(payment, refund, vouchedPolicy)).to.equal(false)
    expect(isUnvouched(payment, JUST_NOW)).to.equal(true)
    expect(isComparedFirst(payment, refund, { ...vouchedPolicy, unvouchedBeforeMs: CREATED_MS })).to.equal(false)
  })

  it('stays in doubt when the data came back while a refund was sent once more, and that try did nothing', () => {
    const sentOnceMore = old(inStatus('refunding', { reconciliation: aDoubt(NOW - HORIZON_MS) }))
    for (const outcome of [
      { type: 'NOT_SENT', reason: 'refused', nowMs: NOW + 50 },
      { type: 'REJECTED', code: '309', nowMs: NOW + 50 }
    ] as const) {
      expect(taken(sentOnceMore, outcome, vouchedPolicy).payment.progress.status).to.equal('captured')
      const { payment, effect } = taken(sentOnceMore, outcome, JUST_NOW)
      expect([placeOf(payment.progress), effect]).to.deep.equal(['refunding.reconciling', null])
      const unbooked = { ...found('captured'), nowMs: NOW + 60_000 } as PaymentEvent
      expect(taken(payment, unbooked, JUST_NOW).effect).to.equal(null)
    }
  })

  it('is an ordinary one when the payment was compared after the horizon: what was sent before may arrive until then', () => {
    const isFirstAfter = (nowMs: number): boolean => {
      const asked = old(inStatus('captured', { verification: ASKED }))
      const shown = { nowMs, ...found('captured') } as PaymentEvent
      return isComparedFirst(taken(asked, shown, JUST_NOW).payment, refund, JUST_NOW)
    }
    expect([isFirstAfter(NOW + HORIZON_MS - 1), isFirstAfter(NOW + HORIZON_MS)]).to.deep.equal([true, false])
  })

  it('adopts a refund of the lost time that a comparison has taken for a refund by others', () => {
    const shown = { nowMs: NOW + 10, ...found('captured', { voidedCents: 300 }) } as PaymentEvent
    const { payment: compared } = taken(old(inStatus('captured', { verification: ASKED })), shown, JUST_NOW)
    expect(compared.progress).to.deep.include({ refundedCents: 0, reviewReason: 'figures_differ' })
    const record = found('captured', { voidedCents: 300 })
    const adopted = looked(compared, { ...refund, nowMs: NOW + 20 }, record, JUST_NOW)
    expect(adopted.effect).to.equal(null)
    expect(adopted.payment.progress).to.deep.include({ status: 'partially_refunded', refundedCents: 300 })
    const other = looked(compared, { ...refund, amountCents: 400, nowMs: NOW + 20 }, record, JUST_NOW)
    expect(other.payment.progress).to.deep.include({ status: 'refunding', phase: 'reconciling' })
  })
})

describe('a sale of a payment from before the data came back', () => {
  for (const [status, record, reason] of [
    ['failed', found('captured'), 'sale_after_failure'],
    ['captured', found('captured', {}, { duplicates: [{ saleId: 'sale-2', isChargedBack: false }] }), 'duplicate_sale'],
    ['unknown', found('captured', {}, { duplicates: [{ saleId: 'sale-2', isChargedBack: false }] }), 'duplicate_sale']
  ] as const) {
    it(`is listed and not voided: ${status}, ${reason}`, () => {
      const payment = old(inStatus(status))
      const { effect, payment: after } = taken(payment, { nowMs: NOW, ...record } as PaymentEvent, LONG_AGO)
      expect(effect?.kind).to.not.equal('void')
      expect(after.progress.reviewReason).to.equal(reason)
      expect(taken(payment, { nowMs: NOW, ...record } as PaymentEvent, vouchedPolicy).effect?.kind).to.equal('void')
    })
  }

  it('does not count as absent before one horizon has passed since then', () => {
    const doubt = { ...inStatus('unknown').progress.reconciliation, sinceMs: CREATED_MS }
    const payment = aPayment({
      progress: { ...inStatus('unknown').progress, reconciliation: doubt } as Partial<PaymentProgress>
    })
    const statusAfter = (nowMs: number): string =>
      taken(payment, { type: 'ABSENT', nowMs }, JUST_NOW).payment.progress.status
    expect(statusAfter(NOW + HORIZON_MS - 1)).to.equal('unknown')
    expect(statusAfter(NOW + HORIZON_MS)).to.equal('failed')
  })
})

describe('an open payment of unvouched data', () => {
  it('is compared by a query, unless a call of it may be in flight', () => {
    expect(comparisonEvent(old(inStatus('pre_authorized')), NOW)?.type).to.equal('NETWORK_NOTIFICATION')
    expect(comparisonEvent(old(inStatus('unknown')), NOW)?.type).to.equal('RECONCILE')
    expect(comparisonEvent(old(inStatus('capturing')), NOW)).to.equal(null)
  })

  it('is compared when the last look has ended, or an operator has it', () => {
    const hold = old(inStatus('pre_authorized'))
    expect(isCompared(hold, JUST_NOW)).to.equal(false)
    const looking = taken(hold, { type: 'NETWORK_NOTIFICATION', reported: 'change', nowMs: NOW }, JUST_NOW).payment
    expect(isCompared(looking, JUST_NOW)).to.equal(false)
    const record = { nowMs: NOW + HORIZON_MS, ...found('authorised', { capturedCents: 0 }) } as PaymentEvent
    expect(isCompared(taken(looking, record, JUST_NOW).payment, JUST_NOW)).to.equal(true)
    expect(
      isCompared({ ...looking, progress: { ...looking.progress, reviewReason: 'figures_differ' } }, JUST_NOW)
    ).to.equal(true)
  })

  it('is not compared when its buyer is erased, though it was listed before', () => {
    const listed = old(inStatus('pre_authorized', { reviewReason: 'figures_differ' }))
    expect(isCompared(withoutBuyer(listed, NOW) ?? listed, JUST_NOW)).to.equal(false)
  })

  it('is compared once more, at the horizon, when it came to rest before', () => {
    const told = { ...found('captured'), nowMs: NOW + 10 } as PaymentEvent
    const early = taken(old(inStatus('unknown')), told, JUST_NOW).payment
    expect(isCompared(early, JUST_NOW)).to.equal(false)
    expect(wakeTimes(early, NOW, JUST_NOW).reconcileAtMs).to.equal(NOW + HORIZON_MS)
    const late = taken(old(inStatus('unknown')), { ...told, nowMs: NOW + HORIZON_MS }, JUST_NOW).payment
    expect(isCompared(late, JUST_NOW)).to.equal(true)
    expect(wakeTimes(late, NOW, JUST_NOW).reconcileAtMs).to.equal(null)
  })
})

describe('the time from which data that came back is vouched for', () => {
  const comparedAt = (event: string, detail: string | null = null): Payment => ({
    ...old(inStatus('captured')),
    history: [
      { atMs: CREATED_MS, event: 'APPROVED', status: 'captured', phase: null, detail: null, times: 1 },
      { atMs: NOW, event, status: 'captured', phase: null, detail, times: 1 }
    ]
  })

  for (const event of ['NOTHING_NEW', 'CONTRADICTED', 'REFUNDED_EXTERNALLY', 'OPERATION_BOOKED']) {
    it(`is that of ${event}: a refund is sent`, () => {
      expect(isComparedFirst(comparedAt(event), refund, LONG_AGO)).to.equal(false)
    })
  }

  const uncompared = [
    ...['BUYER_ERASED', 'REVIEW_RESOLVED', 'NETWORK_NOTIFICATION', 'NO_ANSWER', 'POISONED'],
    ...['RECORD_LAGS', 'OPERATION_FAILED', 'EARLIER_TRY_IN_DOUBT', 'LEFT_OUT']
  ]
  for (const event of uncompared) {
    it(`is not that of ${event}: a refund is looked for first`, () => {
      expect(isComparedFirst(comparedAt(event), refund, LONG_AGO)).to.equal(true)
    })
  }

  it('is not that of what an operator has seen', () => {
    const concluded = comparedAt('OPERATION_BOOKED', 'an operator has seen it')
    expect(isComparedFirst(concluded, refund, LONG_AGO)).to.equal(true)
  })

  it('is not moved by the erasure of the buyer, which leaves the look at the horizon as it was', () => {
    const erased = withoutBuyer(old(inStatus('captured')), NOW + DAY_MS)
    if (erased === null) throw new Error('the buyer was not erased')
    expect(isComparedFirst(erased, { ...refund, nowMs: NOW + DAY_MS }, LONG_AGO)).to.equal(true)
    expect(wakeTimes(erased, NOW + DAY_MS, LONG_AGO).reconcileAtMs).to.equal(NOW)
  })

  it('comes with the next comparison, after which the payment rests', () => {
    const asked = { type: 'NETWORK_NOTIFICATION', reported: 'change', nowMs: NOW } as const
    let { payment } = taken(comparedAt('BUYER_ERASED'), asked, LONG_AGO)
    expect(isUnvouched(payment, LONG_AGO)).to.equal(true)
    let looks = 0
    for (let atMs: number | null = NOW; atMs !== null && looks < 10; looks++) {
      payment = taken(payment, { nowMs: atMs, ...found('captured') } as PaymentEvent, LONG_AGO).payment
      atMs = wakeTimes(payment, atMs, LONG_AGO).reconcileAtMs
    }
    expect(looks).to.be.within(1, 9)
    expect(isUnvouched(payment, LONG_AGO)).to.equal(false)
  })
})
