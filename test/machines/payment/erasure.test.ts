import { expect } from 'chai'
import { type MerchantText, merchantTexts } from '../../../machines/merchant-text-rules.js'
import { isBuyerErased, withoutBuyer } from '../../../machines/payment/erasure.js'
import { aPayment, CREATED_MS, DAY_MS } from '../../support/payments.js'

const texts = Object.keys(merchantTexts) as MerchantText[]

/** A failed payment: nothing of it is in flight. */
function paymentWith(text: MerchantText) {
  const payment = aPayment({ terms: { [text]: 'for Ada Lovelace', metadata: { name: 'Ada' } } })
  const { progress } = payment
  const operation = { ...progress.operation, state: 'failed' } as const
  return { ...payment, progress: { ...progress, status: 'failed', phase: 'settled', operation } } as const
}

describe('erasing the buyer', () => {
  for (const text of texts) {
    const { mayNameBuyer } = merchantTexts[text]
    it(`${mayNameBuyer ? 'erases' : 'keeps'} the ${text} of the merchant`, () => {
      const payment = paymentWith(text)
      const erased = withoutBuyer(payment, CREATED_MS + DAY_MS)
      expect(erased?.terms).to.deep.equal({
        ...payment.terms,
        [text]: mayNameBuyer ? null : 'for Ada Lovelace',
        customer: { name: 'erased', email: 'erased@erased.invalid' },
        metadata: null
      })
      expect(erased && isBuyerErased(erased.terms)).to.equal(true)
    })
  }
})
