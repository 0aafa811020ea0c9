import { expect } from 'chai'
import { expectLedgerToAgree } from '../../support/ledger-audit.js'
import type { ApiAnswer, PaymentView } from '../../support/merchant.js'
import { testCards } from '../../support/merchant.js'
import { usePayingService } from '../../support/paying-service.js'

describe('a payment over HTTP', () => {
  const { merchant, network } = usePayingService()

  const held = async (amount = 10_000): Promise<string> =>
    (await merchant.create({ capture: false, amount })).payment.id
  const paid = async (amount = 10_000): Promise<string> => (await merchant.create({ amount })).payment.id

  /** Status, code and the payment's status, after the ledger was compared. */
  const outcomeOf = async (answer: ApiAnswer): Promise<(string | number)[]> => {
    const payment = await merchant.read(answer.error.payment_id ?? answer.payment.id)
    expectLedgerToAgree(network, payment)
    return answer.status < 400 ? [answer.status, payment.status] : [answer.status, answer.error.code, payment.status]
  }

  /** Amount, state and error of each refund. */
  const refundsOf = ({ refunds }: PaymentView) =>
    refunds.map(({ amount_cents, state, error }) => [amount_cents, state, error?.code ?? null])

  describe('is created', () => {
    it('and captured in one step', async () => {
      const key = 'order 1/authorization'
      const answer = await merchant.create({ key })
      expect(await outcomeOf(answer)).to.deep.equal([201, 'captured'])
      expect(answer.payment).to.include({ captured_cents: 10_000, refunded_cents: 0, expires_at: null })
      expect(answer.payment.operation).to.deep.equal({
        kind: 'authorization',
        state: 'succeeded',
        amount_cents: 10_000,
        idempotency_key: key
      })
      expect(answer.payment.provider['tid']).to.be.a('string')
    })

    it('and only authorised, until the end of its window', async () => {
      const answer = await merchant.create({ capture: false })
      expect(await outcomeOf(answer)).to.deep.equal([201, 'pre_authorized'])
      const { expires_at, authorized_at } = answer.payment
      expect(Date.parse(expires_at ?? '') - Date.parse(authorized_at ?? '')).to.equal(7 * 86_400_000)
    })

    it('and declined, or refused for an expired card, without a charge', async () => {
      for (const [card, code] of [
        [testCards.declined, 'card_declined'],
        [testCards.expired, 'card_expired']
      ] as const) {
        const answer = await merchant.create({ card })
        expect(await outcomeOf(answer)).to.deep.equal([422, code, 'failed'])
        const payment = await merchant.read(answer.error.payment_id ?? '')
        expect(payment.error?.code).to.equal(code)
        expect(payment.provider['declined_code']).to.be.a('string')
      }
    })
  })

  describe('that is pre-authorised', () => {
    it('is captured as a whole, or in part, once', async () => {
      const whole = await merchant.capture(await held())
      expect(await outcomeOf(whole)).to.deep.equal([200, 'captured'])
      expect(whole.payment).to.include({ captured_cents: 10_000 })
      const part = await merchant.capture(await held(), { amount: 4_000 })
      expect(await outcomeOf(part)).to.deep.equal([200, 'captured'])
      expect(part.payment).to.include({ captured_cents: 4_000, amount_cents: 10_000 })
      expect(await outcomeOf(await merchant.capture(part.payment.id))).to.deep.equal([409, 'invalid_state', 'captured'])
    })

    it('stays as it is when the amount is too high, or the network rejects it', async () => {
      const id = await held()
      const above = await merchant.capture(id, { amount: 10_001 })
      expect([above.status, above.error.code]).to.deep.equal([422, 'amount_exceeds_authorized'])
      const rejected = await merchant.capture(id, { amount: 991 })
      expect(await outcomeOf(rejected)).to.deep.equal([422, 'provider_rejected', 'pre_authorized'])
      const payment = await merchant.read(id)
      expect(payment.error?.code).to.equal('provider_rejected')
      expect(payment.operation).to.include({ kind: 'capture', state: 'failed', amount_cents: 991 })
      const again = await merchant.capture(id)
      expect(await outcomeOf(again)).to.deep.equal([200, 'captured'])
      expect(again.payment.error).to.equal(undefined)
    })

    it('is captured in the end when the answer to the capture is lost (993)', async () => {
      const answer = await merchant.capture(await held(), { amount: 993 })
      expect([answer.status, answer.payment.status]).to.deep.equal([202, 'capturing'])
      expect(answer.payment.operation).to.include({ kind: 'capture', state: 'unknown', amount_cents: 993 })
      const payment = await merchant.settled(answer.payment.id)
      expect(payment).to.include({ status: 'captured', captured_cents: 993 })
      expectLedgerToAgree(network, payment)
    })

    it('is canceled as a whole, with or without saying so, and never in part', async () => {
      const part = await merchant.cancel(await held(), { amount: 1_000 })
      expect(await outcomeOf(part)).to.deep.equal([400, 'invalid_request', 'pre_authorized'])
      const silent = await merchant.cancel(await held())
      expect(await outcomeOf(silent)).to.deep.equal([200, 'canceled'])
      expect(silent.payment.canceled_at).to.be.a('string')
      expect(await outcomeOf(await merchant.cancel(await held(), { amount: 10_000 }))).to.deep.equal([200, 'canceled'])
    })

    it('stays as it is when the network rejects the cancellation (992)', async () => {
      const answer = await merchant.cancel(await held(992))
      expect(await outcomeOf(answer)).to.deep.equal([422, 'provider_rejected', 'pre_authorized'])
    })
  })

  describe('that is captured', () => {
    it('is refunded in parts, never above the balance, until nothing is left', async () => {
      const id = await paid()
      expect(await outcomeOf(await merchant.cancel(id, { amount: 3_000 }))).to.deep.equal([200, 'partially_refunded'])
      const above = await merchant.cancel(id, { amount: 7_001 })
      expect(await outcomeOf(above)).to.deep.equal([422, 'amount_exceeds_refundable', 'partially_refunded'])
      expect(await outcomeOf(await merchant.cancel(id, { amount: 2_000 }))).to.deep.equal([200, 'partially_refunded'])
      const rest = await merchant.cancel(id)
      expect(await outcomeOf(rest)).to.deep.equal([200, 'refunded'])
      expect(rest.payment).to.include({ captured_cents: 10_000, refunded_cents: 10_000 })
      expect(await outcomeOf(await merchant.cancel(id))).to.deep.equal([409, 'invalid_state', 'refunded'])
      const more = await merchant.cancel(id, { amount: 1 })
      expect(await outcomeOf(more)).to.deep.equal([422, 'amount_exceeds_refundable', 'refunded'])
    })

    it('is refunded at once as a whole, also what was captured in part', async () => {
      expect(await outcomeOf(await merchant.cancel(await paid()))).to.deep.equal([200, 'refunded'])
      const id = await held()
      await merchant.capture(id, { amount: 4_000 })
      const above = await merchant.cancel(id, { amount: 4_001 })
      expect([above.status, above.error.code]).to.deep.equal([422, 'amount_exceeds_refundable'])
      const answer = await merchant.cancel(id)
      expect(await outcomeOf(answer)).to.deep.equal([200, 'refunded'])
      expect(answer.payment).to.include({ captured_cents: 4_000, refunded_cents: 4_000 })
    })

    it('stays as it is when the network rejects the refund (992), before and after a part', async () => {
      const id = await paid()
      expect(await outcomeOf(await merchant.cancel(id, { amount: 992 }))).to.deep.equal([
        422,
        'provider_rejected',
        'captured'
      ])
      await merchant.cancel(id, { amount: 1_000 })
      const again = await merchant.cancel(id, { amount: 992 })
      expect(await outcomeOf(again)).to.deep.equal([422, 'provider_rejected', 'partially_refunded'])
      expect(refundsOf(await merchant.read(id))).to.deep.equal([
        [992, 'failed', 'provider_rejected'],
        [1_000, 'succeeded', null],
        [992, 'failed', 'provider_rejected']
      ])
    })

    it('is refunded once when the answer to the refund is lost (994), a part and the rest', async () => {
      const part = await merchant.cancel(await paid(2_000), { amount: 994 })
      expect([part.status, part.payment.status]).to.deep.equal([202, 'refunding'])
      expect(refundsOf(part.payment)).to.deep.equal([[994, 'unknown', null]])
      const after = await merchant.settled(part.payment.id)
      expect(after).to.include({ status: 'partially_refunded', refunded_cents: 994 })
      expect(refundsOf(after)).to.deep.equal([[994, 'succeeded', null]])
      expectLedgerToAgree(network, after)
      const whole = await merchant.settled((await merchant.cancel(await paid(994))).payment.id)
      expect(whole).to.include({ status: 'refunded', refunded_cents: 994 })
      expectLedgerToAgree(network, whole)
    })
  })
})
