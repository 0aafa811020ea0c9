import { expect } from 'chai'
import { demoCard, demoCustomer } from '../../scripts/start/demo-customer.js'
import { readLoopbackTls } from '../../scripts/start/loopback-tls.js'
import { until } from '../support/conditions.js'
import { Merchant, registerHook } from '../support/merchant.js'
import { startReceiver } from '../support/receiver.js'
import { type ServiceUnderTest, useService } from '../support/service.js'

/** Types a card and pays with it, over HTTP, as a buyer and a merchant would. */
async function charge(
  service: ServiceUnderTest,
  order: string
): Promise<{ status: number; payment: { id: string; status: string } }> {
  const send = (url: string, key: string, body: object): Promise<Response> =>
    fetch(url, {
      method: 'POST',
      headers: { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json', 'Idempotency-Key': order },
      body: JSON.stringify(body)
    })
  const token = await send(`${service.tokensUrl}/v1/tokens`, service.publishableKey, demoCard)
  const { token_id } = (await token.json()) as { token_id: string }
  const response = await send(`${service.baseUrl}/v1/payments`, service.apiKey, {
    amount_cents: 1990,
    external_reference: order,
    payment_source: { source_type: 'token', token_id },
    customer: demoCustomer
  })
  return { status: response.status, payment: (await response.json()) as { id: string; status: string } }
}

/** What the card network says it has charged, by order id. */
async function ledger(service: ServiceUnderTest): Promise<{ merchant_order_id: string; captured_amount: number }[]> {
  const lines = await (await fetch(`${service.networkUrl}/simulator/sales`)).text()
  return lines
    .split('\n')
    .filter(Boolean)
    .map(line => JSON.parse(line) as { merchant_order_id: string; captured_amount: number })
}

describe('first charge of a fresh installation', () => {
  const service = useService()

  it('captures a payment through all processes, once in the ledger of the card network', async () => {
    const { status, payment } = await charge(service(), 'order-1')
    expect([status, payment.status]).to.deep.equal([201, 'captured'])
    const sales = (await ledger(service())).filter(sale => sale.merchant_order_id === payment.id.replaceAll('-', ''))
    expect(sales.map(sale => sale.captured_amount)).to.deep.equal([1990])
  })

  it('refunds a payment, and posts each change to the merchant', async () => {
    const receiver = await startReceiver(undefined, readLoopbackTls(service().dataDir))
    try {
      await registerHook(service(), receiver.url)
      const { payment } = await charge(service(), 'order-to-refund')
      expect((await new Merchant(service).cancel(payment.id)).payment.status).to.equal('refunded')
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
    expect((await charge(service(), 'order-2')).payment.status).to.equal('captured')
  })

  it('still knows its payments after a restart', async () => {
    const { payment } = await charge(service(), 'order-3')
    await service().restart()
    const found = await fetch(`${service().baseUrl}/v1/payments/${payment.id}`, {
      headers: { Authorization: `Bearer ${service().apiKey}` }
    })
    expect(((await found.json()) as { status: string }).status).to.equal('captured')
  })
})
