/** The invariant of money, where it is decided: shown with payments that were damaged on purpose, as the chart keeps it. */
import { expect } from 'chai'
import type { Payment } from '../../../machines/model.js'
import { decide } from '../../../machines/payment/decide.js'
import type { PaymentEvent } from '../../../machines/payment/events.js'
import { aPayment, CREATED_MS, policy, references } from '../../support/payments.js'

const approved = { type: 'APPROVED', isCaptured: true, references } as const
const refund = { type: 'CANCEL', amountCents: 300, idempotencyKey: 'r' } as const

function taken(payment: Payment, event: object) {
  const decision = decide(payment, { nowMs: CREATED_MS + 1_000, ...event } as PaymentEvent, policy)
  if (decision.kind === 'refused') throw new Error(`refused: ${decision.code}`)
  return decision
}

describe('amounts that would not add up', () => {
  const captured = taken(aPayment(), approved).payment
  const refunding = taken(captured, refund).payment

  it('are taken from no outcome: the figures stay, nothing is sent, the payment is listed for manual review', () => {
    const damaged = { ...refunding, progress: { ...refunding.progress, capturedCents: 200 } }
    const decision = taken(damaged, { ...approved, references: { ...references, nsu: null, tid: null } })
    expect(decision).to.include({ effect: null, isChanged: true, operationResult: null })
    expect(decision.problem).to.equal('APPROVED not taken: the amounts would not add up')
    expect(decision.payment.version).to.equal(damaged.version + 1)
    expect(decision.payment.progress).to.deep.equal({ ...damaged.progress, reviewReason: 'figures_differ' })
    expect(decision.payment.history.at(-1)).to.include({ event: 'APPROVED', status: 'refunding' })
  })

  it('are taken from no request: it is refused', () => {
    const overdrawn = { ...captured, progress: { ...captured.progress, refundedCents: -1 } }
    expect(decide(overdrawn, { ...refund, nowMs: CREATED_MS + 1_000 }, policy)).to.deep.equal({
      kind: 'refused',
      code: 'amount_exceeds_refundable'
    })
  })
})
