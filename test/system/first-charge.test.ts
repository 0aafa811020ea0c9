import { expect } from 'chai'
import { orderIdOf } from '../../machines/network.js'
import { readSales } from '../../scripts/simulator/ledger.js'
import { readLoopbackTls } from '../../scripts/start/loopback-tls.js'
import { until } from '../support/conditions.js'
import { Merchant, registerHook } from '../support/merchant.js'
import { startReceiver } from '../support/receiver.js'
import { useService } from '../support/service.js'

describe('first charge of a fresh installation', () => {
  const service = useService()
  const merchant = new Merchant(service)

  it('captures a payment through all processes, once in the ledger of the card network', async () => {
    const { status, payment } = await merchant.create({ amount: 1_990 })
    expect([status, payment.status]).to.deep.equal([201, 'captured'])
    const sales = (await readSales(service().networkUrl)).filter(
      sale => sale.merchant_order_id === orderIdOf(payment.id)
    )
    expect(sales.map(sale => sale.captured_amount)).to.deep.equal([1_990])
  })

  it('refunds a payment, and posts each change to the merchant', async () => {
    const receiver = await startReceiver(undefined, readLoopbackTls(service().dataDir))
    try {
      await registerHook(service(), receiver.url)
      const { payment } = await merchant.create()
      expect((await merchant.cancel(payment.id)).payment.status).to.equal('refunded')
      const posted = (): readonly string[] => receiver.accepted().get(payment.id) ?? []
      await until('all webhooks came', () => posted().length === 3)
      expect(posted()).to.deep.equal(['captured', 'refunding', 'refunded'])
    } finally {
      await receiver.stop()
    }
  })

  it('runs on the Node that runs this test', async () => {
    for (const name of ['api', 'tokens', 'notifications', 'payments', 'timers', 'webhooks']) {
      const { text } = await service().ops(`${name}.1`, '/metrics')
      expect(text, name).to.contain(`node="${process.version}"`)
    }
  })

  it('continues after every payments worker was killed', async () => {
    const before = service().pids('payments')
    service().kill('payments')
    await until('there is another worker', () =>
      service()
        .pids('payments')
        .some(pid => !before.includes(pid))
    )
    await service().untilReady()
    expect((await merchant.create()).payment.status).to.equal('captured')
  })

  it('still knows its payments after a restart', async () => {
    const { id } = (await merchant.create()).payment
    await service().restart()
    expect((await merchant.read(id)).status).to.equal('captured')
  })
})
