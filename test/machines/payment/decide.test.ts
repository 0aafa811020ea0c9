import { expect } from 'chai'
import type { Payment } from '../../../machines/model.js'
import type { Sale } from '../../../machines/network.js'
import { type Decision, decide } from '../../../machines/payment/decide.js'
import type { PaymentEvent } from '../../../machines/payment/events.js'
import { queryEvent } from '../../../machines/payment/make-event.js'
import { wakeTimes } from '../../../machines/payment/wake-ups.js'
import { aPayment, aSale, CREATED_MS, DAY_MS, policy, references } from '../../support/payments.js'

type Taken = Extract<Decision, { kind: 'taken' }>

/** The life of a payment: each event a second after the one before. */
function live(payment: Payment, ...events: object[]): Taken[] {
  const decisions: Taken[] = []
  let current = payment
  for (const [index, event] of events.entries()) {
    const decision = decide(current, { nowMs: CREATED_MS + 1_000 * (index + 1), ...event } as PaymentEvent, policy)
    if (decision.kind === 'refused') throw new Error(`${JSON.stringify(event)} is refused: ${decision.code}`)
    decisions.push(decision)
    current = decision.payment
  }
  return decisions
}
const last = (decisions: Taken[]): Taken => decisions[decisions.length - 1] as Taken
const at = (seconds: number): number => CREATED_MS + 1_000 * seconds

const held = { type: 'APPROVED', isCaptured: false, references }
const done = { type: 'APPROVED', isCaptured: true, references: { ...references, nsu: null, tid: null } }
const manual = aPayment({ terms: { captureMode: 'manual' } })

describe('decide', () => {
  it('records the time of each step, and the references of the network once they are known', () => {
    const life = live(
      manual,
      held,
      { type: 'CAPTURE', amountCents: 800, idempotencyKey: 'c' },
      done,
      { type: 'CANCEL', amountCents: 300, idempotencyKey: 'r' },
      done
    )
    expect(life.map(({ payment }) => payment.progress.status)).to.deep.equal([
      'pre_authorized',
      'capturing',
      'captured',
      'refunding',
      'partially_refunded'
    ])
    const { progress } = last(life).payment
    expect(progress).to.include({
      authorizedAtMs: at(1),
      expiresAtMs: at(1) + 7 * DAY_MS,
      capturedAtMs: at(3),
      refundedAtMs: at(5),
      canceledAtMs: null,
      capturedCents: 800,
      refundedCents: 300
    })
    expect(progress.references).to.deep.equal(references)
  })

  it('gives the result to the request that waits for it, once, also when the answer came late', () => {
    const life = live(
      manual,
      { type: 'AMBIGUOUS', reason: 'cut' },
      { type: 'FOUND', sale: aSale({ status: 'authorised', capturedCents: 0 }), isOther: false, duplicates: [] },
      { type: 'CAPTURE', amountCents: null, idempotencyKey: 'key-of-the-capture' },
      { type: 'REJECTED', code: '842' },
      { type: 'NETWORK_NOTIFICATION' }
    )
    expect(life.map(({ operationResult }) => operationResult?.idempotencyKey ?? null)).to.deep.equal([
      null,
      'key-of-the-create',
      null,
      'key-of-the-capture',
      null
    ])
    expect(life.map(({ operationResult }) => operationResult?.result.kind ?? null)).to.deep.equal([
      null,
      'succeeded',
      null,
      'failed',
      null
    ])
  })

  it('forgets an error as soon as the next operation begins', () => {
    const capture = { type: 'CAPTURE', amountCents: null, idempotencyKey: 'c' }
    const life = live(manual, held, capture, { type: 'REJECTED', code: '842' }, capture)
    expect(life.map(({ payment }) => payment.progress.error)).to.deep.equal([null, null, 'provider_rejected', null])
  })

  it('gives a hold that was never meant to be one a window, so that it ends', () => {
    const life = live(aPayment(), held, { type: 'REJECTED', code: '842' })
    expect(life.map(({ payment }) => payment.progress.status)).to.deep.equal(['capturing', 'pre_authorized'])
    expect(wakeTimes(last(life).payment, at(1), policy).expiryAtMs).to.equal(at(1) + 7 * DAY_MS)
  })

  it('counts the horizon from the last moment at which a request can have left', () => {
    const captured = live(aPayment(), { ...held, isCaptured: true })
    const refund = { type: 'CANCEL', amountCents: 300, idempotencyKey: 'r' }
    const missing = { type: 'FOUND', sale: aSale(), isOther: false, duplicates: [] }
    const later = policy.notFoundHorizonMs
    const lost = { type: 'AMBIGUOUS', reason: 'cut' }
    const life = live(
      last(captured).payment,
      refund,
      lost,
      { ...missing, nowMs: at(2) + later },
      { ...lost, nowMs: at(3) + later },
      { ...missing, nowMs: at(2) + 2 * later }
    )
    expect(life.map(({ effect }) => effect?.kind ?? null)).to.deep.equal(['refund', null, 'refund', null, null])
    expect(last(life).payment.progress.phase).to.equal('reconciling')
  })

  it('assumes that an earlier try may still arrive, although later ones were refused or not sent', () => {
    const lost = live(
      manual,
      held,
      { type: 'CAPTURE', amountCents: null, idempotencyKey: 'c' },
      { type: 'AMBIGUOUS', reason: 'cut' }
    )
    const stillHeld = {
      type: 'FOUND',
      sale: aSale({ status: 'authorised', capturedCents: 0 }),
      isOther: false,
      duplicates: []
    }
    const again = live(
      last(lost).payment,
      { ...stillHeld, nowMs: at(10) },
      { type: 'NOT_SENT', reason: 'refused', nowMs: at(11) },
      { ...stillHeld, nowMs: at(20) },
      { type: 'REJECTED', code: '842', nowMs: at(21) }
    )
    expect(last(again).payment.progress.reconciliation?.unansweredMs).to.equal(at(3))
    expect(last(again).payment.progress.phase).to.equal('reconciling')
  })

  it('writes what happened into the history, and repetitions as one line', () => {
    const unanswered = { type: 'NO_ANSWER', reason: 'timeout' }
    const { history } = last(live(manual, { type: 'AMBIGUOUS', reason: 'cut' }, unanswered, unanswered)).payment
    expect(history).to.deep.equal([
      { atMs: at(1), event: 'AMBIGUOUS', status: 'unknown', phase: null, detail: 'cut', times: 1 },
      { atMs: at(3), event: 'NO_ANSWER', status: 'unknown', phase: null, detail: 'timeout', times: 2 }
    ])
  })

  it('keeps the history of a payment that never comes to rest within bounds, and counts what it leaves out', () => {
    const answers = Array.from({ length: 5_000 }, (_, index) => ({ type: 'NO_ANSWER', reason: `error ${index % 3}` }))
    const { history, version } = last(live(manual, { type: 'AMBIGUOUS', reason: 'cut' }, ...answers)).payment
    expect(history).to.have.length(100)
    expect(history.reduce((sum, line) => sum + line.times, 0)).to.equal(version - 1)
    expect(history[0]).to.include({ event: 'AMBIGUOUS', atMs: at(1) })
    expect(history[20]).to.deep.include({ event: 'LEFT_OUT', times: 5_001 - 99 })
    expect(history.at(-1)).to.include({ event: 'NO_ANSWER', atMs: at(5_001) })
  })
})

describe('the sales of one order', () => {
  it('are one of its own, the first with money in it while none is known, and a duplicate that is live', () => {
    const saleOf = (saleId: string, status: Sale['status']): Sale =>
      aSale({ status, references: { ...references, saleId } })
    const sales = [
      saleOf('a', 'denied'),
      saleOf('b', 'captured'),
      saleOf('c', 'authorised'),
      saleOf('d', 'voided')
    ] as const
    for (const [known, own, duplicate] of [
      [null, 'b', 'c'],
      ['c', 'c', 'b'],
      ['x', 'b', 'c']
    ] as const) {
      const event = queryEvent({ kind: 'found', sales: [...sales] }, known, 1)
      if (event.type !== 'FOUND') throw new Error(event.type)
      const { sale, duplicates, isOther } = event
      expect([sale.references.saleId, duplicates[0]?.saleId ?? null, isOther]).to.deep.equal([
        own,
        duplicate,
        known === 'x'
      ])
    }
  })
})

describe('amounts that would not add up', () => {
  const [{ payment: captured }] = live(aPayment(), { ...held, isCaptured: true }) as [Taken]
  const refund = { type: 'CANCEL', amountCents: 300, idempotencyKey: 'r' } as const
  const [{ payment: refunding }] = live(captured, refund) as [Taken]

  it('leave the figures of an outcome as they are, send nothing, and list the payment for manual review', () => {
    const damaged = { ...refunding, progress: { ...refunding.progress, capturedCents: 200 } }
    const decision = last(live(damaged, done))
    expect(decision).to.include({ effect: null, isChanged: true, operationResult: null })
    expect(decision.problem).to.equal('APPROVED not taken: the amounts would not add up')
    expect(decision.payment.version).to.equal(damaged.version + 1)
    expect(decision.payment.progress).to.deep.equal({ ...damaged.progress, reviewReason: 'figures_differ' })
    expect(decision.payment.history.at(-1)).to.include({ event: 'APPROVED', status: 'refunding' })
  })

  it('refuse a request', () => {
    const overdrawn = { ...captured, progress: { ...captured.progress, refundedCents: -1 } }
    expect(decide(overdrawn, { ...refund, nowMs: at(1) }, policy)).to.deep.equal({
      kind: 'refused',
      code: 'amount_exceeds_refundable'
    })
  })
})
