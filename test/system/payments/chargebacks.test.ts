import { randomUUID } from 'node:crypto'
import { expect } from 'chai'
import type { LedgerSale } from '../../../scripts/simulator/ledger.js'
import { until } from '../../support/conditions.js'
import { asOperator } from '../../support/merchant.js'
import { usePayingService } from '../../support/paying-service.js'

const CHARGEBACK = 7
const CANCELLATION_DENIED = 5
const DAY_MS = 24 * 3_600_000

describe('a chargeback', function () {
  this.timeout(60_000)
  const { service, merchant, network } = usePayingService()

  const paid = async (): Promise<string> => (await merchant.create()).payment.id
  const saleOf = (id: string): LedgerSale => {
    const [sale] = network.sales(id)
    if (sale === undefined) throw new Error(`${id} has no sale`)
    return sale
  }
  const historyOf = async (id: string): Promise<string> => (await asOperator(service(), 'payment', 'history', id)).out

  /** Commands that are not ended, and notifications that have not become one. */
  const queued = async (): Promise<{ length: number; notifications: number }> => {
    const { json } = await asOperator(service(), 'queue', 'status', '--json')
    return (json() as { total: { length: number; notifications: number } }).total
  }

  for (const [status, amount] of [
    ['captured', null],
    ['partially_refunded', 1_000],
    ['refunded', 10_000]
  ] as const) {
    it(`reaches a payment that is ${status}; its figures stay`, async () => {
      const id = await paid()
      if (amount !== null) await merchant.cancel(id, { amount })
      await network.chargeBack(id)
      const payment = await merchant.settled(id, 'charged_back')
      expect(payment).to.include({ captured_cents: 10_000, refunded_cents: amount ?? 0 })
    })
  }

  it('waits for the refund that is in progress', async () => {
    const id = await paid()
    network.hold('arrived', '/void')
    await merchant.cancel(id, { amount: 1_000, waitS: 0 })
    await until('the refund is under way', () => network.held === 1)
    await network.chargeBack(id)
    await until('the workers know of it', async () => (await queued()).length === 2)
    expect((await merchant.read(id)).status).to.equal('refunding')
    network.answerHeld()
    const payment = await merchant.settled(id, 'charged_back')
    expect(payment.refunded_cents).to.equal(1_000)
  })

  it('is verified: a notification alone changes nothing', async () => {
    const id = await paid()
    expect(await network.notify({ PaymentId: saleOf(id).paymentId, ChangeType: CHARGEBACK })).to.equal(200)
    await until('it is verified', async () => (await historyOf(id)).includes('RECORD_LAGS'))
    expect((await merchant.read(id)).status).to.equal('captured')
  })

  it('is not forgotten while the network does not answer, or all workers are dead', async () => {
    const id = await paid()
    network.book({ ...saleOf(id), chargebackCase: '1' })
    network.faults({ error_before: 1 })
    service().kill('payments')
    expect(await network.notify({ PaymentId: saleOf(id).paymentId, ChangeType: CHARGEBACK })).to.equal(200)
    await service().untilReady()
    network.faults()
    await merchant.settled(id, 'charged_back')
  })

  it('of a held payment is examined when the payment is captured', async () => {
    const { id } = (await merchant.create({ capture: false })).payment
    await network.notify({ PaymentId: saleOf(id).paymentId, ChangeType: CHARGEBACK })
    await until('it is noted', async () => (await historyOf(id)).includes('NETWORK_NOTIFICATION'))
    expect((await merchant.capture(id)).payment.status).to.equal('captured')
    await until('it is verified', async () => (await historyOf(id)).includes('RECORD_LAGS'))
    expect((await merchant.read(id)).status).to.equal('captured')
  })

  it('is accepted only from the network, and only if it is readable', async () => {
    const notification = { PaymentId: randomUUID(), ChangeType: CHARGEBACK }
    expect(await network.notify(notification, 'guessed')).to.equal(401)
    expect(await network.notify(notification, '')).to.equal(401)
    for (const broken of [[], {}, { ...notification, PaymentId: 'x' }, { ...notification, ChangeType: null }]) {
      expect(await network.notify(broken), JSON.stringify(broken)).to.equal(400)
    }
    expect(await network.notify({ ...notification, ChangeType: 2 })).to.equal(200)
  })

  it('of a foreign sale is dropped; of a sale that the network does not know it is checked again', async () => {
    const foreign = { ...saleOf(await paid()), paymentId: randomUUID(), merchantOrderId: 'order-of-another-system' }
    network.book(foreign)
    await until('nothing waits', async () => (await queued()).notifications === 0)
    await network.notify({ PaymentId: foreign.paymentId, ChangeType: CHARGEBACK })
    await network.notify({ PaymentId: randomUUID(), ChangeType: CHARGEBACK })
    await until('the unknown one stays', async () => (await queued()).notifications === 1)
    await asOperator(service(), 'clock', 'advance', '73h')
    await until('it is given up after three days', async () => (await queued()).notifications === 0)
  })

  it('is not the only news: a refund that is denied afterwards is listed for manual review', async () => {
    const id = await paid()
    await merchant.cancel(id, { amount: 1_000 })
    network.book({ ...saleOf(id), voidedAmount: 0 })
    // A refund of a moment ago may just not be in the record yet.
    await asOperator(service(), 'clock', 'advance', '11m')
    await network.notify({ PaymentId: saleOf(id).paymentId, ChangeType: CANCELLATION_DENIED })
    await until('it is listed', async () =>
      (await asOperator(service(), 'payment', 'attention')).out.includes(`${id}  figures_differ`)
    )
    // As long as the record differs, each look lists the payment again: that which confirms the refund, and that of the notification.
    network.book({ ...saleOf(id), voidedAmount: 1_000 })
    await until('no look is under way', async () => {
      const { length, notifications } = await queued()
      return length + notifications === 0
    })
    expect((await asOperator(service(), 'payment', 'settle-attention', id)).out).to.contain('is off the list')
    expect((await asOperator(service(), 'payment', 'attention')).out).not.to.contain(id)
  })

  it('of a sale too old for the network to report is listed for manual review at once', async () => {
    const id = await paid()
    network.book({ ...saleOf(id), receivedAtMs: Date.now() - 100 * DAY_MS })
    await asOperator(service(), 'clock', 'advance', '100d')
    await network.notify({ PaymentId: saleOf(id).paymentId, ChangeType: CHARGEBACK })
    await until('it is listed', async () =>
      (await asOperator(service(), 'payment', 'attention')).out.includes(`${id}  notification_unconfirmed`)
    )
    expect((await merchant.read(id)).status).to.equal('captured')
  })
})
