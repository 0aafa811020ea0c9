/** An operation has one age and few tries, with every answer of the network. */
import { expect } from 'chai'
import type { Payment, PaymentProgress } from '../../../machines/model.js'
import { decide } from '../../../machines/payment/decide.js'
import type { Effect, FoundEvent, PaymentEvent } from '../../../machines/payment/events.js'
import { wakeAtMs, wakeEvent } from '../../../machines/payment/wake-ups.js'
import { inStatus, NOW } from '../../support/decisions.js'
import { aPayment, aSale, policy as quickPolicy } from '../../support/payments.js'

/** Queries go on for days: each hour in the end. */
const policy = { ...quickPolicy, reconcileDelaysMs: [2_000, 5_000, 15_000, 60_000, 300_000, 900_000, 3_600_000] }
const LISTED_AFTER_MS = policy.reconcileListAfterMs
/** The record, before and after what was asked for. */
type Record = (nowMs: number, sends: number) => Partial<Parameters<typeof aSale>[0]>

const held: Record = () => ({ status: 'authorised', capturedCents: 0 })
const paid: Record = () => ({ status: 'captured', capturedCents: 1_000 })

interface Life {
  readonly sentMs: readonly number[]
  readonly payment: Payment
  readonly results: readonly string[]
}

/** What a payment does for `forMs` when each call gets `answer`, and each query shows `record` and perhaps a duplicate. */
function lived(
  progress: Partial<PaymentProgress>,
  asked: object | null,
  answer: object,
  record: Record,
  forMs: number,
  duplicates: FoundEvent['duplicates'] = []
): Life {
  let payment = aPayment({ terms: { captureMode: 'manual' }, progress })
  let nowMs = NOW
  const sentMs: number[] = []
  const results: string[] = []
  const take = (event: object): Effect | null => {
    const decision = decide(payment, { nowMs, ...event } as PaymentEvent, policy)
    if (decision.kind === 'refused') throw new Error(`${(event as PaymentEvent).type} was refused`)
    payment = decision.payment
    if (decision.operationResult !== null) results.push(decision.operationResult.result.kind)
    return decision.effect
  }
  let effect = asked === null ? null : take(asked)
  for (let turn = 0; turn < 500; turn++) {
    if (effect === null) {
      const dueMs = wakeAtMs(payment.progress)
      if (dueMs === null || dueMs > NOW + forMs) break
      nowMs = Math.max(nowMs, dueMs)
      effect = take(wakeEvent(payment.progress, nowMs))
    } else if (effect.kind === 'query') {
      nowMs += 50
      effect = take({ type: 'FOUND', sale: aSale(record(nowMs, sentMs.length)), isOther: false, duplicates })
    } else {
      sentMs.push(nowMs - NOW)
      nowMs += 200
      effect = take(answer)
    }
  }
  return { sentMs, payment, results }
}

const refund = { type: 'CANCEL', amountCents: 300, idempotencyKey: 'refund' }
const capture = { type: 'CAPTURE', amountCents: null, idempotencyKey: 'capture' }
const unproven = { type: 'UNPROVEN', reason: 'the return code 999', call: 'ended' }
const unanswered = { type: 'AMBIGUOUS', reason: 'cut' }
const days = (count: number): number => count * 24 * 3_600_000

const operations = [
  ['capture', 'pre_authorized', capture, held, 'pre_authorized'],
  ['cancellation', 'pre_authorized', { ...capture, type: 'CANCEL' }, held, 'pre_authorized'],
  ['refund', 'captured', refund, paid, 'captured']
] as const

const booked = {
  capture: { status: 'captured', capturedCents: 1_000 },
  cancellation: { status: 'voided', voidedCents: 1_000 },
  refund: { status: 'captured', voidedCents: 300 }
} as const

for (const [name, status, asked, record, after] of operations) {
  describe(`a ${name} that is refused without a code, maybe by a gateway`, () => {
    const refusedBare = { type: 'UNPROVEN', reason: 'HTTP 404 without an error code', call: 'may_arrive' }
    const horizonMs = policy.notFoundHorizonMs

    it('is sent once, and ends as refused at the horizon', () => {
      const early = lived(inStatus(status).progress, asked, refusedBare, record, horizonMs - 1_000)
      expect(early.results).to.deep.equal([])
      const { sentMs, payment, results } = lived(
        inStatus(status).progress,
        asked,
        refusedBare,
        record,
        horizonMs + 60_000
      )
      expect(sentMs).to.have.length(1)
      expect(results).to.deep.equal(['failed'])
      expect(payment.progress).to.include({ status: after, error: 'provider_rejected' })
    })

    it('is booked when it arrives minutes later', () => {
      const late: Record = nowMs => (nowMs < NOW + 400_000 ? record(nowMs, 0) : booked[name])
      const { sentMs, results } = lived(inStatus(status).progress, asked, refusedBare, late, horizonMs + 60_000)
      expect(sentMs).to.have.length(1)
      expect(results).to.deep.equal(['succeeded'])
    })
  })

  describe(`a ${name} that the network answers without a proof`, () => {
    it('is sent once, and ends as refused when the record still shows the sale as before', () => {
      const { sentMs, payment, results } = lived(inStatus(status).progress, asked, unproven, record, 60_000)
      expect(sentMs).to.have.length(1)
      expect(results).to.deep.equal(['failed'])
      expect(payment.progress).to.include({ status: after, error: 'provider_rejected' })
    })

    it('is not called failed while the record may be behind, and is booked when the record shows it', () => {
      const lagging: Record = nowMs => (nowMs < NOW + 15_000 ? record(nowMs, 0) : booked[name])
      const { sentMs, results } = lived(inStatus(status).progress, asked, unproven, lagging, 60_000)
      expect(sentMs).to.have.length(1)
      expect(results).to.deep.equal(['succeeded'])
    })
  })

  describe(`a ${name} that never gets an answer`, () => {
    it('has few tries with growing gaps, and ends by itself', () => {
      const { sentMs, payment, results } = lived(inStatus(status).progress, asked, unanswered, record, days(5))
      expect(sentMs.length).to.be.within(2, 6)
      const gaps = sentMs.slice(1).map((ms, index) => ms - (sentMs[index] ?? 0))
      expect(Math.min(...gaps)).to.be.at.least(name === 'refund' ? policy.notFoundHorizonMs : 5_000)
      expect(results).to.deep.equal(['failed'])
      expect(payment.progress).to.include({ status: after, error: 'network_unavailable' })
    })

    it('is listed 72 h after its first doubt when the record never becomes conclusive', () => {
      const unfinished: Record = () => ({ status: 'unfinished' })
      const early = lived(inStatus(status).progress, asked, unanswered, unfinished, LISTED_AFTER_MS - 3_600_000)
      expect(early.payment.progress.reviewReason).to.equal(null)
      const late = lived(inStatus(status).progress, asked, unanswered, unfinished, LISTED_AFTER_MS + 3_600_000)
      expect(late.payment.progress.reviewReason).to.equal('unresolved_for_long')
    })
  })
}

describe('the hold of an expired payment whose void is refused', () => {
  const expired = { ...inStatus('pre_authorized').progress, expiresAtMs: NOW }

  for (const [name, answer] of [
    ['without a proof', unproven],
    ['with a code', { type: 'REJECTED', code: '54' }],
    ['in silence', unanswered]
  ] as const) {
    it(`is voided a few times only, and listed after 72 h: ${name}`, () => {
      const { sentMs, payment } = lived(expired, null, answer, held, days(4))
      expect(sentMs.length).to.be.within(1, 6)
      expect(payment.progress).to.include({
        status: 'expired',
        phase: 'releasing',
        reviewReason: 'unresolved_for_long'
      })
    })
  }

  it('is voided again soon after its void was redelivered more than once', () => {
    const releasing = {
      ...expired,
      status: 'expired',
      phase: 'releasing',
      voids: [{ times: 1, lastMs: NOW, saleId: null }]
    } as const
    let payment = aPayment({ terms: { captureMode: 'manual' }, progress: releasing })
    const take = (event: PaymentEvent): Effect | null => {
      const decision = decide(payment, event, policy)
      if (decision.kind === 'refused') throw new Error(`${event.type} was refused`)
      payment = decision.payment
      return decision.effect
    }
    for (const atMs of [100, 200, 300]) take({ type: 'RESUMED', nowMs: NOW + atMs })
    const stillHeld = { type: 'FOUND', sale: aSale(held(0, 0)), isOther: false, duplicates: [] } as const
    expect(take({ ...stillHeld, nowMs: NOW + 4_000 })).to.equal(null)
    expect(take({ ...stillHeld, nowMs: NOW + 5_000 })).to.include({ kind: 'void' })
  })

  it('ends when an operator has seen how, and nothing is sent any more', () => {
    const { payment } = lived(expired, null, unproven, held, days(4))
    const concluded = { type: 'OPERATION_CONCLUDED', isBooked: false, nowMs: NOW + days(4) } as const
    const decision = decide(payment, concluded, policy)
    expect(decision).to.include({ kind: 'taken', effect: null })
    if (decision.kind === 'taken')
      expect(decision.payment.progress).to.include({ phase: 'released', reviewReason: null, reconciliation: null })
  })
})

describe('what an operator has seen of an operation in doubt', () => {
  /** In doubt, the operator concludes after a minute, and the record shows what it shows. */
  function concludedLife(isBooked: boolean, record: Record): Life {
    const begun = lived(inStatus('captured').progress, refund, unanswered, paid, 60_000)
    const conclusion = { type: 'OPERATION_CONCLUDED', isBooked, nowMs: NOW + 60_000 } as const
    const noted = decide(begun.payment, conclusion, policy)
    if (noted.kind === 'refused') throw new Error('The conclusion was refused.')
    const later = lived(noted.payment.progress, null, unanswered, record, days(1))
    return { ...later, sentMs: [...begun.sentMs, ...later.sentMs] }
  }

  it('counts from the horizon, and nothing is sent until then', () => {
    for (const [isBooked, result] of [
      [true, 'succeeded'],
      [false, 'failed']
    ] as const) {
      const { sentMs, results, payment } = concludedLife(isBooked, paid)
      expect(sentMs).to.have.length(1)
      expect(results).to.deep.equal([result])
      expect(payment.progress.reconciliation).to.equal(null)
    }
  })

  it('gives way to a record that shows the operation', () => {
    const booked: Record = () => ({ status: 'captured', voidedCents: 300 })
    expect(concludedLife(false, booked).results).to.deep.equal(['succeeded'])
  })
})

describe('the void of a duplicate that the record goes on to show', () => {
  it('is sent again after 5 s at the earliest, a few times only, and the payment is listed', () => {
    const told = { type: 'NETWORK_NOTIFICATION', reported: 'change' }
    const voided = { type: 'APPROVED', isCaptured: false, references: aSale().references }
    const { sentMs, payment } = lived(inStatus('captured').progress, told, voided, paid, days(5), [
      { saleId: 'sale-2', isChargedBack: false }
    ])
    const gaps = sentMs.slice(1).map((ms, index) => ms - (sentMs[index] ?? 0))
    expect(sentMs.length).to.be.within(2, 6)
    expect(Math.min(...gaps)).to.be.at.least(5_000)
    expect(payment.progress).to.include({ reviewReason: 'duplicate_sale', verification: null })
  })

  it('may leave a second after it was decided: the next one counts from there', () => {
    const found = {
      type: 'FOUND',
      sale: aSale(),
      isOther: false,
      duplicates: [{ saleId: 'sale-2', isChargedBack: false }]
    } as const
    const first = decide(aPayment({ progress: inStatus('captured').progress }), { ...found, nowMs: NOW }, policy)
    if (first.kind === 'refused') throw new Error('refused')
    const effectAt = (nowMs: number) => {
      const next = decide(first.payment, { ...found, nowMs }, policy)
      return next.kind === 'taken' ? next.effect : next
    }
    expect(first.effect).to.include({ kind: 'void' })
    expect([effectAt(NOW + 5_500), effectAt(NOW + 6_000)?.kind]).to.deep.equal([null, 'void'])
  })
})
