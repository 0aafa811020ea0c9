import { expect } from 'chai'
import { ArchiveUnavailable } from '../../archive/archive.js'
import { withArchive } from '../../archive/payment-store.js'
import type { Payment } from '../../machines/model.js'
import { unreplicated } from '../../redis/connection/writes.js'
import { storedVouch } from '../../redis/installation/epochs.js'
import { createdAtMs, firstPaymentKeyAt, keys, paymentIdOfKey, paymentKeyOf } from '../../redis/keys.js'
import { newestArchived, removePayments, restorePayment } from '../../redis/payments/archive-moves.js'
import { oldestOf } from '../../redis/payments/payment-indexes.js'
import { encodePayment } from '../../redis/payments/payment-record.js'
import { createPaymentStore } from '../../redis/payments/payments.js'
import { aListQuery } from '../support/archived-payments.js'
import { listedPages, moveTo } from '../support/listed-payments.js'
import { CREATED_MS, MERCHANT, PARTITION } from '../support/payments.js'
import { useTwoStores } from '../support/two-stores.js'

describe('Redis and the archive as one store', () => {
  const both = useTwoStores()
  const load = ({ terms }: Payment) => both.store.load(PARTITION, paymentKeyOf(terms.id))

  it('removes everything that Redis had of a payment', async () => {
    const payments: Payment[] = []
    for (let i = 0; i < 7; i++) payments.push(await both.stored(i * 1_000, 'captured', `SALE-${i}`))
    expect(await both.moveOut(...payments)).to.equal(7)
    const left = await both.test.redis.keys('*')
    // What is left is about requests and commands, not about payments.
    expect(left.filter(key => !/:(idem|commands|seq|webhooks|archived)/.test(key))).to.deep.equal([])
    expect(await newestArchived(both.test.redis, PARTITION)).to.equal(paymentKeyOf(payments[6]?.terms.id ?? ''))
  })

  it('removes only the version that the archive has', async () => {
    const [changed, other] = [await both.stored(0), await both.stored(1)]
    await both.archive.put([changed, other])
    await moveTo(both.test.redis, changed, 'charged_back')
    expect(await removePayments(unreplicated(both.test.redis), PARTITION, [changed, other])).to.equal(1)
    expect((await both.inRedis(changed))?.progress.status).to.equal('charged_back')
    expect(await both.inRedis(other)).to.equal(null)
  })

  it('reads an archived payment, and does not query the archive for a payment newer than everything in it', async () => {
    const [old, young] = [await both.stored(0), await both.stored(1)]
    await both.moveOut(old)
    expect(await load(young)).to.deep.equal(young)
    expect(await both.store.load(PARTITION, firstPaymentKeyAt(CREATED_MS + 2))).to.equal(null)
    expect(both.asked).to.deep.equal([])
    expect(await load(old)).to.deep.equal(old)
    expect(await both.inRedis(old)).to.equal(null)
  })

  it('finds what left after the backup that Redis was restored from', async () => {
    const [before, after] = [await both.stored(0), await both.stored(1)]
    await both.moveOut(before)
    const mark = (await newestArchived(both.test.redis, PARTITION)) ?? ''
    await both.moveOut(after)
    await both.test.redis.set(keys.archived(PARTITION), mark)
    expect(await load(after)).to.equal(null)
    const restored = { standing: 'unvouched', epochs: [], acceptedEpoch: 1, missing: null } as const
    const vouch = storedVouch.encode({ ...restored, unvouchedBeforeMs: CREATED_MS + 2 })
    await both.test.redis.set(keys.vouch(PARTITION), vouch)
    expect(await load(after)).to.deep.equal(after)
    expect((await both.store.list(aListQuery())).payments).to.deep.equal([after, before])
    expect(await both.store.loadForChange(PARTITION, paymentKeyOf(after.terms.id))).to.deep.equal(after)
  })

  it('never says that there is no payment, and moves none, once the archive has lost the newest that left', async () => {
    const [older, newest] = [await both.stored(0), await both.stored(1)]
    await both.moveOut(older, newest)
    both.archive.rows.delete(newest.terms.id)
    const keyOf = ({ terms }: Payment) => paymentKeyOf(terms.id)
    expect(await load(older)).to.deep.equal(older)
    for (const ask of [
      () => load(newest),
      () => both.store.loadForChange(PARTITION, keyOf(newest)),
      () => both.store.loadForChange(PARTITION, keyOf(newest), MERCHANT),
      () => both.store.list(aListQuery())
    ]) {
      const error = await ask().catch((reason: unknown) => reason)
      expect(error).to.be.instanceOf(ArchiveUnavailable).with.property('message').that.contains('lacks payments')
    }
  })

  it('brings a payment back for a change, byte by byte and into all its indexes', async () => {
    const payments = [
      await both.stored(0),
      await both.stored(1),
      await both.stored(2),
      await both.stored(3, 'captured', 'SALE-4')
    ]
    const [payment = (await Promise.reject(new Error('none'))) as Payment] = payments.slice(-1)
    const record = await both.test.redis.get(keys.payment(PARTITION, paymentKeyOf(payment.terms.id)))
    const before = await listedPages(both.test.redis, { status: 'captured' })
    await both.moveOut(payment)
    expect(await both.store.loadForChange(PARTITION, paymentKeyOf(payment.terms.id))).to.deep.equal(payment)
    expect(await both.test.redis.get(keys.payment(PARTITION, paymentKeyOf(payment.terms.id)))).to.equal(record)
    for (const filter of [{ status: 'captured' }, { externalReference: 'a' }] as const) {
      expect(await listedPages(both.test.redis, filter)).to.deep.equal(before)
    }
    const sales = keys.sales(PARTITION, 'sale-4')
    expect(await both.test.redis.hget(sales, 'sale-4')).to.equal(paymentKeyOf(payment.terms.id))
    expect(await both.test.redis.zscore(keys.rests(PARTITION), paymentKeyOf(payment.terms.id))).to.be.a('string')
    expect(await moveTo(both.test.redis, payment, 'charged_back')).to.equal('committed')
  })

  it('moves nothing for a merchant whose payment it is not', async () => {
    const payment = await both.stored(0)
    await both.moveOut(payment)
    const load = (merchantId: string) => both.store.loadForChange(PARTITION, paymentKeyOf(payment.terms.id), merchantId)
    expect(await load('m_stranger')).to.equal(null)
    expect(await both.inRedis(payment)).to.equal(null)
    expect(both.asked).not.to.include('takeBack')
    expect(await load(payment.terms.merchantId)).to.deep.equal(payment)
  })

  it('never overwrites Redis with an older version, or with one that was read long ago', async () => {
    const payment = await both.stored(0)
    await moveTo(both.test.redis, payment, 'charged_back')
    const stays = await restorePayment(unreplicated(both.test.redis), payment, Date.now())
    expect(stays?.progress.status).to.equal('charged_back')
    const other = await both.stored(1)
    await both.moveOut(other)
    expect(await restorePayment(unreplicated(both.test.redis), other, Date.now() - 62_000)).to.equal(null)
    expect(await both.inRedis(other)).to.equal(null)
  })

  it('restores a payment whose sale id is not valid JSON text', async () => {
    const payment = await both.stored(0)
    const { progress } = payment
    const odd = { ...payment, progress: { ...progress, references: { ...progress.references, saleId: 'x\ud800' } } }
    await both.moveOut(payment)
    expect(await restorePayment(unreplicated(both.test.redis), odd, Date.now())).to.deep.equal(odd)
  })

  it('never says that an archived payment is nowhere, in a process without an archive', async () => {
    const payment = await both.stored(0)
    await both.moveOut(payment)
    const alone = withArchive(createPaymentStore(unreplicated(both.test.redis)), null, {
      writes: unreplicated(both.test.redis)
    })
    for (const load of [alone.load, alone.loadForChange]) {
      const error = await load(PARTITION, paymentKeyOf(payment.terms.id)).catch((reason: unknown) => reason)
      expect(error).to.be.instanceOf(ArchiveUnavailable)
      expect(await load(PARTITION, firstPaymentKeyAt(CREATED_MS + 60_000))).to.equal(null)
    }
  })

  it('leaves no older version in the archive, or on its way there, when a payment replaces it', async () => {
    const before = await both.stored(0)
    await moveTo(both.test.redis, before, 'charged_back')
    const after = await both.inRedis(before)
    if (after === null) throw new Error('it is there')
    await both.store.replaceArchived(after)
    await both.archive.put([before])
    expect([...both.archive.rows.values()]).to.deep.equal([encodePayment(after)])
    expect([...both.archive.returned]).to.deep.equal([after.terms.id])
  })

  it('finds the oldest payments of all statuses in their order', async () => {
    const ids: string[] = []
    for (let i = 0; i < 12; i++) {
      const status = i % 4 === 0 ? 'refunded' : 'captured'
      ids.push((await both.stored(i * 1_000, status)).terms.id)
    }
    const indexes = ['captured', 'refunded'].map(status => keys.byStatus(PARTITION, MERCHANT, status))
    for (const count of [1, 2, 5, 50]) {
      const found: string[] = []
      for (let after = ''; ; ) {
        const before = firstPaymentKeyAt(createdAtMs(ids[10] ?? ''))
        const page = await oldestOf(both.test.redis, indexes, { after, before }, count)
        found.push(...page.map(paymentIdOfKey))
        if (page.length === 0) break
        after = page.at(-1) ?? ''
      }
      expect(found).to.deep.equal(ids.slice(0, 10))
    }
  })
})
