import { expect } from 'chai'
import type { PaymentProgress, ReviewReason } from '../../../machines/model.js'
import { orderIdOf } from '../../../machines/network.js'
import { presentForOperators } from '../../../scripts/operator/payment-text.js'
import { adviceText } from '../../../scripts/operator/review-advice.js'
import { inDoubt, inStatus } from '../../support/decisions.js'
import { aPayment } from '../../support/payments.js'

function adviceFor(
  reviewReason: ReviewReason | null,
  progress: Partial<PaymentProgress>
): { id: string; lines: string[] } {
  const payment = aPayment({ progress: { ...progress, reviewReason } })
  return { id: payment.terms.id, lines: adviceText(payment).trimEnd().split('\n') }
}

const captured = inStatus('captured').progress
const refunding = inStatus('refunding', inDoubt('refund', 300)).progress

describe('the fields of `payment show --json`', () => {
  it('have names in one style, also inside', () => {
    const payment = aPayment({ progress: { ...refunding, reviewReason: 'figures_differ' } })
    const names = [...JSON.stringify(presentForOperators(payment)).matchAll(/"([^"]+)":/g)].map(([, name]) => name)
    expect(names).to.include('review_reason')
    expect(names.filter(name => !/^[a-z0-9]+(_[a-z0-9]+)*$/.test(String(name)))).to.deep.equal([])
  })
})

describe('the advice about a payment in manual review', () => {
  for (const reason of [
    'duplicate_sale',
    'figures_differ',
    'sale_after_failure',
    'notification_unconfirmed'
  ] as const) {
    it(`${reason}: ends when it is explained, and by a conclusion while an operation is in doubt`, () => {
      const { id, lines } = adviceFor(reason, captured)
      expect(lines).to.have.lengthOf(4)
      expect(lines[0]).to.equal(`Listed for manual review: ${reason}`)
      expect(lines[2]).to.contain(`order_id ${orderIdOf(id)}, sale_id ${captured.references?.saleId}`)
      expect(lines[3]).to.contain(`payment settle-attention ${id}`)
      const doubtful = adviceFor(reason, refunding)
      expect(doubtful.lines[3])
        .to.contain(`payment conclude ${doubtful.id} --booked`)
        .and.not.to.contain('settle-attention')
    })
  }

  it('unresolved_for_long: ends by a conclusion while it is in doubt, and when it is explained after that', () => {
    expect(adviceFor('unresolved_for_long', refunding).lines[3]).to.contain('payment conclude')
    expect(adviceFor('unresolved_for_long', captured).lines[3]).to.contain('payment settle-attention')
  })

  it('poisoned: ends by itself once its command can be replayed, or by a conclusion while it is in doubt', () => {
    expect(adviceFor('poisoned', captured).lines[3])
      .to.contain('`dead-letter replay`')
      .and.not.to.contain('payment conclude')
    expect(adviceFor('poisoned', refunding).lines[3])
      .to.contain('`dead-letter replay`')
      .and.to.contain('payment conclude')
  })

  it('is nothing while the payment is not listed', () => {
    expect(adviceText(aPayment({ progress: captured }))).to.equal('')
  })
})
