import { expect } from 'chai'
import { withArchive } from '../../archive/payment-store.js'
import { listStatement } from '../../archive/postgres-archive.js'
import type { Payment } from '../../machines/model.js'
import { unreplicated } from '../../redis/connection/writes.js'
import { paymentKeyOf } from '../../redis/keys.js'
import { createPaymentStore, type PaymentStore } from '../../redis/payments/payments.js'
import { aListQuery, createdAt, usePostgresArchive } from '../support/archived-payments.js'
import { listedPages, moveTo } from '../support/listed-payments.js'
import { CREATED_MS, DAY_MS, MERCHANT, PARTITION } from '../support/payments.js'
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

const START_MS = Date.UTC(2026, 0, 1)

describe('list of archived payments', () => {
  const test = usePostgresArchive()
  const idsOf = (payments: readonly Payment[]): string[] => payments.map(({ terms }) => terms.id)
  const listed = async (changes: Parameters<typeof aListQuery>[0]): Promise<string[]> =>
    idsOf((await test.archive.list(aListQuery(changes))).payments)

  it('ends with the last payment when it fills the page', async () => {
    await test.archive.put([createdAt(START_MS), createdAt(START_MS)])
    expect(await test.archive.list(aListQuery({ limit: 2 }))).to.have.property('nextAfterId', null)
  })

  it('does not ask for older months when the client has gone', async () => {
    const gone = new Error('gone')
    const list = test.archive.list(aListQuery(), AbortSignal.abort(gone)).catch((error: unknown) => error)
    expect(await list).to.equal(gone)
  })

  it('has the payments of one merchant, status, order id and time', async () => {
    const captured = createdAt(START_MS, { progress: { status: 'captured' } })
    const ordered = createdAt(START_MS + DAY_MS, { terms: { externalReference: 'other' } })
    const foreign = createdAt(START_MS, { terms: { merchantId: 'm_0000000002' } })
    await test.archive.put([captured, ordered, foreign])
    expect(await listed({})).to.deep.equal(idsOf([ordered, captured]))
    expect(await listed({ status: 'captured' })).to.deep.equal(idsOf([captured]))
    expect(await listed({ externalReference: 'other' })).to.deep.equal(idsOf([ordered]))
    expect(await listed({ externalReference: 'other', status: 'captured' })).to.deep.equal([])
    expect(await listed({ merchantId: 'm_0000000002' })).to.deep.equal(idsOf([foreign]))
    expect(await listed({ createdFromMs: START_MS + 1 })).to.deep.equal(idsOf([ordered]))
    expect(await listed({ createdToMs: START_MS + DAY_MS })).to.deep.equal(idsOf([captured]))
    expect(await listed({ createdToMs: START_MS + DAY_MS, afterId: captured.terms.id })).to.deep.equal([])
  })

  it('has no gaps and doubles where it asks for older months, also when long records shorten a page', async () => {
    const metadata = Object.fromEntries(Array.from({ length: 50 }, (_, at) => [`key_${at}`, 'x'.repeat(500)]))
    const payments = Array.from({ length: 24 }, (_, at) =>
      createdAt(START_MS + at * 7 * DAY_MS, at % 3 === 0 ? {} : { terms: { metadata } })
    )
    await test.archive.put(payments)
    for (const limit of [1, 2, 5, 6, 30]) {
      const seen: string[] = []
      let query = aListQuery({ limit, createdToMs: START_MS + 24 * 7 * DAY_MS })
      for (;;) {
        const page = await test.archive.list(query)
        expect(page.payments, `limit ${limit}`).to.have.length.within(1, limit)
        seen.push(...idsOf(page.payments))
        if (page.nextAfterId === null) break
        query = { ...query, afterId: page.nextAfterId }
      }
      expect(seen, `limit ${limit}`).to.deep.equal(idsOf(payments).reverse())
    }
  })

  it('reads the newest months first, and no more of them than a page needs', async () => {
    const months = Array.from({ length: 6 }, (_, month) => Date.UTC(2026, month, 2))
    const many = months.flatMap(atMs => Array.from({ length: 1_000 }, (_, at) => createdAt(atMs + at)))
    await test.archive.put(many)
    await test.postgres.ask('ANALYZE payments')
    const { text, values } = listStatement(aListQuery())
    const plan = await test.postgres.ask(`EXPLAIN (ANALYZE, COSTS off, TIMING off) ${text}`, values)
    const lines = plan.map(line => String(line['QUERY PLAN']))
    expect(lines.filter(line => line.includes('Seq Scan'))).to.deep.equal([])
    expect(lines.find(line => /payments_2026_06/.test(line))).to.contain('rows=11')
    expect(lines.find(line => /payments_2026_05/.test(line))).to.contain('never executed')
  })
})
