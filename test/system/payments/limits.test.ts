/** Amounts at both ends of what is allowed, and more refunds of a payment than its record keeps lines for. */
import { expect } from 'chai'
import { keys, partitionOfPayment, paymentKeyOf } from '../../../redis/keys.js'
import { expectLedgerToAgree } from '../../support/ledger-audit.js'
import { withRedis } from '../../support/merchant.js'
import { usePayingService } from '../../support/paying-service.js'

const AMOUNT_MAX_CENTS = 999_999_999_999
const MANY = 100
/** The list of a hundred refunds with its keys and times is 7 KiB, the history 5.8 KiB (measured). */
const RECORD_MAX_BYTES = 14_336

describe('an amount at its limit', function () {
  this.timeout(60_000)
  const { service, merchant, network } = usePayingService()

  it('of one cent is captured and refunded', async () => {
    const { id } = (await merchant.create({ amount: 1 })).payment
    expect((await merchant.cancel(id, { amount: 2 })).error.code).to.equal('amount_exceeds_refundable')
    expect((await merchant.cancel(id)).payment).to.include({ status: 'refunded', refunded_cents: 1 })
    expectLedgerToAgree(network, await merchant.read(id))
  })

  it('of almost ten billion is captured but for a cent, and refunded to the last one', async () => {
    const { id } = (await merchant.create({ amount: AMOUNT_MAX_CENTS, capture: false })).payment
    const captured = await merchant.capture(id, { amount: AMOUNT_MAX_CENTS - 1 })
    expect(captured.payment.captured_cents).to.equal(AMOUNT_MAX_CENTS - 1)
    const most = await merchant.cancel(id, { amount: AMOUNT_MAX_CENTS - 2 })
    expect(most.payment.status).to.equal('partially_refunded')
    expect((await merchant.cancel(id, { amount: 2 })).error.code).to.equal('amount_exceeds_refundable')
    expect((await merchant.cancel(id)).payment.status).to.equal('refunded')
    expectLedgerToAgree(network, await merchant.read(id))
  })

  it('is refunded cent by cent; the first answer is kept, and the record stays small', async () => {
    const { id } = (await merchant.create({ amount: MANY })).payment
    const [first, key] = [{ amount: 1, key: 'the first cent' }, keys.payment(partitionOfPayment(id), paymentKeyOf(id))]
    const begun = await merchant.cancel(id, first)
    for (let cents = 2; cents <= MANY; cents++) {
      expect((await merchant.cancel(id, { amount: 1 })).payment.refunded_cents).to.equal(cents)
    }
    const ended = await merchant.read(id)
    expect(ended.status).to.equal('refunded')
    expectLedgerToAgree(network, ended)
    expect((await merchant.cancel(id, first)).payment).to.deep.equal(begun.payment)
    expect(await withRedis(service(), redis => redis.strlen(key))).to.be.below(RECORD_MAX_BYTES)
  })
})
