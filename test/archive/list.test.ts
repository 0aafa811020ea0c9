import { expect } from 'chai'
import { withArchive } from '../../archive/payment-store.js'
import type { Payment } from '../../machines/model.js'
import { unreplicated } from '../../redis/connection/writes.js'
import { paymentKeyOf } from '../../redis/keys.js'
import { createPaymentStore, type PaymentStore } from '../../redis/payments/payments.js'
import { listedPages, moveTo } from '../support/listed-payments.js'
import { CREATED_MS, MERCHANT, PARTITION } from '../support/payments.js'
import { useTwoStores } from '../support/two-stores.js'

describe('the list of payments over Redis and the archive', () => {
  const both = useTwoStores()

  it('lists both, newest first, in pages without gaps and doubles', async () => {
    const payments: Payment[] = []
    for (let i = 0; i < 9; i++) payments.push(await both.stored(i, i % 3 === 0 ? 'refunded' : 'captured'))
    const filters = [{}, { status: 'captured' }, { externalReference: 'a' }, { createdToMs: CREATED_MS + 7 }] as const
    const expected = await Promise.all(filters.map(filter => listedPages(both.test.redis, filter)))
    await both.moveOut(...payments.filter((_, index) => index < 7 && index !== 4))
    for (const [index, filter] of filters.entries()) {
      for (const limit of [1, 2, 4, 20]) {
        const pages = await listedPages(both.test.redis, { ...filter, limit }, undefined, both.store)
        expect(pages.flat(), JSON.stringify({ ...filter, limit })).to.deep.equal(expected[index]?.flat())
        expect(pages.every(page => page.length <= limit)).to.equal(true)
      }
    }
  })

  it('lists a payment that came back as it is now, and not where it does not belong any more', async () => {
    const payment = await both.stored(0)
    await both.moveOut(payment)
    await both.store.loadForChange(PARTITION, paymentKeyOf(payment.terms.id))
    await moveTo(both.test.redis, payment, 'charged_back')
    expect(await listedPages(both.test.redis, { status: 'captured' }, undefined, both.store)).to.deep.equal([[]])
    expect(await listedPages(both.test.redis, { status: 'charged_back' }, undefined, both.store)).to.deep.equal([
      [payment.terms.id]
    ])
    expect(await listedPages(both.test.redis, {}, undefined, both.store)).to.deep.equal([[payment.terms.id]])
  })

  it('lists a payment that leaves between the two reads', async () => {
    const payments = [await both.stored(0), await both.stored(1)]
    const leaving: PaymentStore = {
      ...createPaymentStore(unreplicated(both.test.redis)),
      list: async query => {
        const page = await createPaymentStore(unreplicated(both.test.redis)).list(query)
        await both.moveOut(...payments)
        return { ...page, payments: [] }
      }
    }
    const merged = withArchive(leaving, both.archive, { writes: unreplicated(both.test.redis) })
    expect((await listedPages(both.test.redis, {}, undefined, merged)).flat()).to.have.length(2)
  })

  it('lists a page of young payments without a query to the archive', async () => {
    const [old] = [await both.stored(0), await both.stored(1), await both.stored(2), await both.stored(3)]
    await both.moveOut(old)
    const query = { partition: PARTITION, merchantId: MERCHANT, status: null, externalReference: null, limit: 2 }
    const range = { afterId: null, createdFromMs: null, createdToMs: null }
    expect((await both.store.list({ ...query, ...range })).payments).to.have.length(2)
    await both.store.list({ ...query, ...range, createdFromMs: CREATED_MS + 1 })
    expect(both.asked).to.deep.equal([])
  })
})
