import { expect } from 'chai'
import { declineTexts } from '../../../client/index.js'
import { afterAnswer, isSettled, newOrder, type Order, withPayment, withRefund } from '../../../scripts/shop/order.js'
import type { Answer, PaidPayment } from '../../../scripts/shop/payment-requests.js'

/** Any status: a later version of the API may have others than those that the types know. */
function paymentIn(status: string, decline: Partial<PaidPayment['provider']> = {}): PaidPayment {
  const card = { brand: 'visa', last4: '0060', card_id: null }
  const provider = {
    ...{ authorization_code: null, nsu: null, tid: null, declined_code: null, rejection_code: null },
    ...{ decline_reason: null, may_retry: null, ...decline }
  }
  return { id: 'p1', status: status as PaidPayment['status'], captured_cents: 8_990, refunded_cents: 0, card, provider }
}

function answered(order: Order, status: string): Order {
  return afterAnswer(order, { kind: 'payment', payment: paymentIn(status) }, 'answer')
}

const CARD = 'visa •••• 0060'
const refused: Answer = { kind: 'refused', code: 'card_declined', payment: paymentIn('failed') }
const tried = (order = newOrder('o1')): Order => withPayment(order, 'tok_1', CARD) ?? expect.fail('not open')
const paid = (): Order => answered(tried(), 'captured')

describe('orders of the demo shop', () => {
  it('repeat the same request while its outcome is not known', () => {
    const order = tried()
    expect(afterAnswer(order, { kind: 'unclear' }, 'answer').pending).to.equal(order.pending)
    expect(answered(order, 'unknown').pending).to.equal(order.pending)
    expect(isSettled(answered(order, 'unknown'))).to.equal(false)
  })

  it('take no second card while the first may be charged', () => {
    expect(withPayment(tried(), 'tok_2', CARD)).to.equal(null)
    expect(withPayment(answered(tried(), 'unknown'), 'tok_2', CARD)).to.equal(null)
    expect(withPayment(paid(), 'tok_2', CARD)).to.equal(null)
  })

  it('use a new key after a refusal, and never before', () => {
    const first = tried()
    const second = tried(afterAnswer(first, refused, 'answer'))
    expect(second.pending?.idempotencyKey).to.equal('o1.pay.2')
    expect(first.pending?.idempotencyKey).to.equal('o1.pay.1')
    expect(tried(answered(first, 'failed')).pending?.idempotencyKey).to.equal('o1.pay.2')
  })

  it('say to buyers why the issuer declined, and take no card again that the brand does not allow', () => {
    const decline = { decline_reason: 'blocked_card', may_retry: false } as const
    const payment = paymentIn('failed', decline)
    for (const answer of [
      { ...refused, payment },
      { kind: 'payment', payment }
    ] as const) {
      const order = afterAnswer(tried(), answer, 'answer')
      expect(order).to.deep.include({ status: 'open', notice: declineTexts.blocked_card, refusedCard: CARD })
      expect(withPayment(order, 'tok_2', CARD)).to.equal(null)
      expect(withPayment(order, 'tok_2', 'visa •••• 0011')?.pending.idempotencyKey).to.equal('o1.pay.2')
    }
    const maybe = paymentIn('failed', { decline_reason: 'do_not_honor', may_retry: true })
    expect(tried(afterAnswer(tried(), { ...refused, payment: maybe }, 'answer')).attempts).to.equal(2)
  })

  it('treat an unknown status as under analysis', () => {
    expect(answered(tried(), 'a_status_of_next_year').status).to.equal('under_analysis')
  })

  it('give each refund a key of its own, one at a time', () => {
    const first = withRefund(paid(), 1_000) ?? expect.fail()
    expect(withRefund(first, 1_000)).to.equal(null)
    const second = withRefund(answered(first, 'partially_refunded'), null)
    expect([first.pending.idempotencyKey, second?.pending.idempotencyKey]).to.deep.equal(['o1.refund.1', 'o1.refund.2'])
    expect(second?.pending.body).to.deep.equal({})
  })

  it('stay unchanged when a refund is refused', () => {
    const order = withRefund(paid(), 1_000) ?? expect.fail()
    const after = afterAnswer(
      order,
      { kind: 'refused', code: 'provider_rejected', payment: paymentIn('captured') },
      'answer'
    )
    expect(after).to.include({ status: 'paid', pending: null })
    expect(after.notice?.en).to.contain('Nothing was refunded')
    expect(after.notice?.['pt-BR']).to.contain('Nada foi devolvido')
  })

  for (const code of ['provider_rejected', 'network_unavailable']) {
    it(`cancel a hold before they take another card, when its capture got ${code}`, () => {
      const held = afterAnswer(tried(), { kind: 'refused', code, payment: paymentIn('pre_authorized') }, 'answer')
      expect(held.pending).to.include({ kind: 'refund', paymentId: 'p1', idempotencyKey: 'o1.release.1' })
      expect(isSettled(held)).to.equal(false)
      expect(withPayment(held, 'tok_2', CARD)).to.equal(null)
      const released = answered(answered(held, 'cancelling'), 'canceled')
      expect(released).to.include({ status: 'open', pending: null, payment: null })
      expect(tried(released).pending?.idempotencyKey).to.equal('o1.pay.2')
    })
  }

  it('wait until a hold that could not be voided has ended', () => {
    const held = afterAnswer(tried(), { ...refused, payment: paymentIn('pre_authorized') }, 'answer')
    const stuck = afterAnswer(held, { ...refused, payment: paymentIn('pre_authorized') }, 'answer')
    expect(stuck).to.include({ status: 'under_analysis', pending: null })
    expect(answered(stuck, 'expired').status).to.equal('open')
  })

  it('refund nothing that was not paid', () => {
    expect(withRefund(newOrder('o1'), null)).to.equal(null)
    expect(withRefund(tried(), null)).to.equal(null)
  })
})
