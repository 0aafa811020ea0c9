/** What a merchant sees when the acquirer does other than it was asked, by amounts that the simulator knows (docs/TESTING.md). */
import { expect } from 'chai'
import { until } from '../../support/conditions.js'
import { asOperator } from '../../support/merchant.js'
import { usePayingService } from '../../support/paying-service.js'

describe('an acquirer that does other than it was asked', function () {
  this.timeout(90_000)
  const { service, merchant, network } = usePayingService()
  const operator = (...args: string[]): ReturnType<typeof asOperator> => asOperator(service(), ...args)
  const untilListed = (id: string): Promise<unknown> =>
    until('it is listed for manual review', async () => (await operator('payment', 'attention')).out.includes(id))

  it('refuses a refund without a proof (995): nothing is refunded, and the refund ends', async () => {
    const { id } = (await merchant.create({ amount: 2_000 })).payment
    expect((await merchant.cancel(id, { amount: 995 })).status).to.equal(202)
    await operator('clock', 'advance', '30s')
    await until('the refund has ended', async () => (await merchant.read(id)).status === 'captured')
    expect((await merchant.read(id)).error).to.include({ code: 'provider_rejected' })
    expect(network.sales(id)[0]?.requests.void, 'sent once').to.equal(1)
  })

  it('refunds the whole although a part was asked (996): nothing is left to refund, and an operator is to look', async () => {
    const { id } = (await merchant.create({ amount: 2_000 })).payment
    const { payment } = await merchant.cancel(id, { amount: 996 })
    expect(payment).to.include({ status: 'partially_refunded', refunded_cents: 996 })
    const refunds = payment.refunds.map(({ amount_cents, idempotency_key }) => [amount_cents, idempotency_key !== null])
    expect(refunds).to.deep.equal([
      [996, true],
      [1_004, false]
    ])
    expect((await merchant.cancel(id, { amount: 1 })).status).to.equal(422)
    await untilListed(id)
  })

  it('captures the whole although a part was asked (996): the amount follows the record', async () => {
    const { id } = (await merchant.create({ amount: 2_000, capture: false })).payment
    expect((await merchant.capture(id, { amount: 996 })).payment).to.include({ captured_cents: 996 })
    await operator('clock', 'advance', '61s')
    await until('the record is read', async () => (await merchant.read(id)).captured_cents === 2_000)
    await untilListed(id)
  })

  it('authorises a part (1700): the payment has that amount and captures at most that', async () => {
    const { id } = (await merchant.create({ amount: 1_700, capture: false })).payment
    await until('it is authorised', async () => (await merchant.read(id)).status === 'pre_authorized')
    expect((await merchant.read(id)).amount_cents).to.equal(1_000)
    expect((await merchant.capture(id, { amount: 1_001 })).status).to.equal(422)
    expect((await merchant.capture(id)).payment).to.include({ status: 'captured', captured_cents: 1_000 })
    await untilListed(id)
  })
})
