import { randomUUID } from 'node:crypto'
import { expect } from 'chai'
import type { LedgerSale } from '../../../scripts/simulator/ledger.js'
import { until } from '../../support/conditions.js'
import { asOperator } from '../../support/merchant.js'
import { usePayingService } from '../../support/paying-service.js'

const CHARGEBACK = 7

describe('a chargeback', () => {
  const { service, merchant, network } = usePayingService()

  const paid = async (): Promise<string> => (await merchant.create()).payment.id
  const saleOf = (id: string): LedgerSale => {
    const [sale] = network.sales(id)
    if (sale === undefined) throw new Error(`${id} has no sale`)
    return sale
  }

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
    await until('the refund is under way', () => network.held >= 1)
    await network.chargeBack(id)
    await until('the workers know of it', async () => (await queued()).length === 2)
    expect((await merchant.read(id)).status).to.equal('refunding')
    network.answerHeld()
    const payment = await merchant.settled(id, 'charged_back')
    expect(payment.refunded_cents).to.equal(1_000)
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
})
