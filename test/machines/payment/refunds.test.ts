import { expect } from 'chai'
import type { Payment, Refund } from '../../../machines/model.js'
import { decide } from '../../../machines/payment/decide.js'
import type { PaymentEvent } from '../../../machines/payment/events.js'
import { REFUNDS_MAX } from '../../../machines/payment/refunds.js'
import { type EventInput, found, inStatus, LATER, NOW } from '../../support/decisions.js'
import { aPayment, policy, references, refundedElsewhere } from '../../support/payments.js'

const approved: EventInput = { type: 'APPROVED', isCaptured: true, references }
const noticed = { verification: { sinceMs: NOW, attempts: 0, nextAtMs: NOW, reported: 'denied_refund' as const } }
const captured = (): Payment => aPayment({ progress: inStatus('captured').progress })

function after(payment: Payment, ...events: EventInput[]): Payment {
  return events.reduce((before, event) => {
    const decision = decide(before, { nowMs: NOW, ...event } as PaymentEvent, policy)
    if (decision.kind === 'refused') throw new Error(`${event.type} was refused: ${decision.code}`)
    return decision.payment
  }, payment)
}

function refusal(payment: Payment, event: EventInput): string | null {
  const decision = decide(payment, { nowMs: NOW, ...event } as PaymentEvent, policy)
  return decision.kind === 'refused' ? decision.code : null
}

const asked = (amountCents: number | null, idempotencyKey: string, nowMs = NOW): EventInput => ({
  type: 'CANCEL',
  amountCents,
  idempotencyKey,
  nowMs
})

/** `<amount> <state> <key>` of each refund. */
const listed = ({ progress }: Payment): string[] =>
  progress.refunds.map(({ amountCents, state, idempotencyKey }) => `${amountCents} ${state} ${idempotencyKey}`)

const done = (amountCents: number, idempotencyKey: string): Refund => ({
  amountCents,
  state: 'succeeded',
  idempotencyKey,
  requestedAtMs: NOW,
  concludedAtMs: NOW,
  error: null
})

/** A payment with these refunds, which the network has reported a change of. */
function refunded(...refunds: Refund[]): Payment {
  const refundedCents = refunds.reduce((sum, { amountCents }) => sum + amountCents, 0)
  return aPayment({ progress: { ...inStatus('partially_refunded').progress, ...noticed, refundedCents, refunds } })
}

describe('the refunds of a payment', () => {
  it('are listed from the moment at which they begin, with the end of each', () => {
    const begun = after(captured(), asked(300, 'one'))
    const open = { ...done(300, 'one'), state: 'in_progress', concludedAtMs: null }
    expect(begun.progress.refunds).to.deep.equal([open])
    const first = after(begun, { ...approved, nowMs: NOW + 5 })
    expect(first.progress.refunds).to.deep.equal([{ ...done(300, 'one'), concludedAtMs: NOW + 5 }])
    const second = after(first, asked(200, 'two'), { type: 'REJECTED', code: '100', nowMs: NOW + 9 })
    expect(listed(second)).to.deep.equal(['300 succeeded one', '200 failed two'])
    expect(second.progress.refunds[1]).to.include({ error: 'provider_rejected', concludedAtMs: NOW + 9 })
  })

  it('are unknown while they are in doubt, in progress when sent again, and end as the network says', () => {
    const inDoubt = after(captured(), asked(300, 'one'), { type: 'AMBIGUOUS', reason: 'cut' })
    expect(listed(inDoubt)).to.deep.equal(['300 unknown one'])
    const sentAgain = after(inDoubt, { ...found('captured'), nowMs: LATER })
    expect(listed(sentAgain)).to.deep.equal(['300 in_progress one'])
    const booked = after(inDoubt, found('captured', { voidedCents: 300 }))
    expect(listed(booked)).to.deep.equal(['300 succeeded one'])
  })

  it('do not change with a capture', () => {
    const held = aPayment({ terms: { captureMode: 'manual' }, progress: inStatus('pre_authorized').progress })
    const paid = after(held, { type: 'CAPTURE', amountCents: 500, idempotencyKey: 'capture' }, approved)
    expect(paid.progress.refunds).to.deep.equal([])
  })

  it('include one that was made outside the service, with the amount of the record', () => {
    const payment = aPayment({ progress: { ...inStatus('captured').progress, ...noticed } })
    const seen = after(payment, found('captured', { voidedCents: 300 }))
    expect(seen.progress).to.include({ refundedCents: 0, status: 'captured' })
    expect(seen.progress.refunds).to.deep.equal(
      refundedElsewhere(300).map(refund => ({ ...refund, concludedAtMs: NOW }))
    )
    expect(listed(after(seen, found('captured', { voidedCents: 400 })))).to.deep.equal(['400 succeeded null'])
    expect(listed(after(seen, found('captured')))).to.deep.equal([])
  })

  it('do not name a duplicate sale that was voided: it is another sale', () => {
    const returned = after(
      captured(),
      { type: 'NETWORK_NOTIFICATION', reported: 'change' },
      found('captured', {}, { duplicates: [{ saleId: 'sale-2', isChargedBack: false }] }),
      approved
    )
    expect(returned.progress.refunds).to.deep.equal([])
  })
})

describe('a refund that the network took back', () => {
  const reversed = (payment: Payment, voidedCents: number): string[] =>
    listed(after(payment, { ...found('captured', { voidedCents }), nowMs: LATER }))

  it('has failed, with the reason and the time', () => {
    const payment = after(refunded(done(300, 'one')), { ...found('captured'), nowMs: LATER })
    expect(payment.progress).to.include({ status: 'captured', refundedCents: 0 })
    expect(payment.progress.refunds).to.deep.equal([
      { ...done(300, 'one'), state: 'failed', error: 'refund_reversed', concludedAtMs: LATER }
    ])
  })

  it('is the newest one of exactly the amount', () => {
    const payment = refunded(done(100, 'one'), done(200, 'two'), done(100, 'three'), done(50, 'four'))
    expect(reversed(payment, 350)).to.deep.equal([
      '100 succeeded one',
      '200 succeeded two',
      '100 failed three',
      '50 succeeded four'
    ])
  })

  it('else is the newest ones, the last of them in part', () => {
    const payment = refunded(done(300, 'one'), done(200, 'two'))
    expect(reversed(payment, 250)).to.deep.equal(['250 succeeded one', '50 failed one', '200 failed two'])
  })

  it('leaves what was refunded outside the service as it is', () => {
    const payment = refunded(done(300, 'one'))
    const both = { ...payment.progress, refunds: [...refundedElsewhere(200), ...payment.progress.refunds] }
    expect(reversed({ ...payment, progress: both }, 200)).to.deep.equal(['200 succeeded null', '300 failed one'])
  })
})

describe('the number of refunds', () => {
  const many = (count: number): Payment => refunded(...Array.from({ length: count }, (_, at) => done(1, `r${at}`)))

  it('is limited, but for one of the whole rest', () => {
    expect(refusal(many(REFUNDS_MAX - 1), asked(1, 'next'))).to.equal(null)
    expect(refusal(many(REFUNDS_MAX), asked(1, 'next'))).to.equal('too_many_refunds')
    expect(refusal(many(REFUNDS_MAX), asked(1_000, 'next'))).to.equal('amount_exceeds_refundable')
    const rest = after(many(REFUNDS_MAX), asked(null, 'rest'), approved)
    expect(rest.progress).to.include({ status: 'refunded', refundedCents: 1_000 })
    expect(rest.progress.refunds).to.have.length(REFUNDS_MAX + 1)
  })

  it('is limited for those that fail by leaving out the oldest of them', () => {
    let payment = refunded(done(300, 'one'))
    for (let at = 0; at < 2 * REFUNDS_MAX; at++)
      payment = after(payment, asked(100, `r${at}`), { type: 'REJECTED', code: '100' })
    expect(payment.progress.refunds).to.have.length(REFUNDS_MAX)
    expect([listed(payment)[0], listed(payment).at(-1)]).to.deep.equal([
      '300 succeeded one',
      `100 failed r${2 * REFUNDS_MAX - 1}`
    ])
  })
})
