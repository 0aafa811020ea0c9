import { expect } from 'chai'
import { demoCard, demoCustomer } from '../../scripts/start/demo-customer.js'
import { useService } from '../support/service.js'

/** 0.0.0.0 and :: are left out: a test must not listen on every interface of the machine. */
for (const host of ['127.0.0.2', '::1']) {
  describe(`npm start with HOST=${host}`, () => {
    const service = useService({ env: { HOST: host } })

    const post = async (url: string, key: string, body: object): Promise<Record<string, string>> => {
      const headers = {
        Authorization: `Bearer ${key}`,
        'Content-Type': 'application/json',
        'Idempotency-Key': 'order-1'
      }
      const response = await fetch(url, { method: 'POST', headers, body: JSON.stringify(body) })
      return (await response.json()) as Record<string, string>
    }

    it('takes a first payment', async () => {
      expect(service().baseUrl).to.contain(host)
      const { token_id } = await post(`${service().tokensUrl}/v1/tokens`, service().publishableKey, demoCard)
      const payment = await post(`${service().baseUrl}/v1/payments`, service().apiKey, {
        amount_cents: 1990,
        external_reference: 'order-1',
        payment_source: { source_type: 'token', token_id },
        customer: demoCustomer
      })
      expect(payment['status']).to.equal('captured')
    })

    it('keeps the simulator and notifications on 127.0.0.1', async () => {
      const ports = [...service().addresses('network'), ...service().addresses('notifications')]
      for (const address of ports) {
        expect((await fetch(`${address}/`)).status, address).to.be.greaterThan(399)
        const elsewhere = address.replace('127.0.0.1', host.includes(':') ? `[${host}]` : host)
        const failure = await fetch(elsewhere).then(
          () => 'answered',
          (error: Error) => String((error.cause as { code?: string }).code)
        )
        expect(failure, elsewhere).to.equal('ECONNREFUSED')
      }
    })
  })
}
