import { readFileSync } from 'node:fs'
import { expect } from 'chai'
import { PaymentsClient } from '../../../client/index.js'
import { readLoopbackTls } from '../../../scripts/start/loopback-tls.js'
import { until } from '../../support/conditions.js'
import { expectLedgerToAgree, ledgerSumsOf } from '../../support/ledger-audit.js'
import { asOperator, registerHook } from '../../support/merchant.js'
import { usePayingService } from '../../support/paying-service.js'
import { type Receiver, startReceiver } from '../../support/receiver.js'

describe('a merchant in the test environment', () => {
  const { service, merchant, network } = usePayingService()
  const client = (): PaymentsClient => new PaymentsClient({ baseUrl: service().baseUrl, apiKey: service().apiKey })
  const listed = async (): Promise<string> => (await asOperator(service(), 'payment', 'attention')).out

  it('charges a payment back, once, and the network says the same', async () => {
    const { id } = (await merchant.create()).payment
    await merchant.cancel(id, { amount: 1_000 })
    const first = await client().test.chargeback(id)
    expect(first.status).to.equal('charged_back')
    expect(await client().test.chargeback(id)).to.deep.equal(first)
    expect(network.sales(id).map(sale => sale.chargebackCase !== null)).to.deep.equal([true])
    expectLedgerToAgree(network, await merchant.read(id))
    expect(await listed()).not.to.contain(id)
  })

  it('lets a hold expire, once, and the network has released it', async () => {
    const { id } = (await merchant.create({ capture: false })).payment
    const first = await client().test.expire(id)
    expect(first.status).to.equal('expired')
    expect(ledgerSumsOf(network, id).held).to.equal(0)
    expect(await client().test.expire(id)).to.deep.equal(first)
    expectLedgerToAgree(network, await merchant.read(id))
    expect((await merchant.capture(id)).error.code).to.equal('preauth_expired')
    expect(network.sales(id).map(sale => sale.requests.void)).to.deep.equal([1])
    expect(await listed()).not.to.contain(id)
  })

  it('gets each outcome of docs/TESTING.md by its amount', async () => {
    const page = readFileSync('docs/TESTING.md', 'utf8')
    const rows = [...page.matchAll(/^\| `(1\d{3})` \| (\d{3}) `(\w+)` \| (?:`(\w+)`)? ?\|/gm)]
    expect(rows.map(([, amount]) => amount)).to.have.members([
      '1003',
      '1051',
      '1058',
      '1059',
      '1060',
      '1061',
      '1091',
      '1503'
    ])
    for (const [, amount, status, code, reason = null] of rows) {
      const answer = await merchant.create({ amount: Number(amount) })
      const { provider } = await merchant.read(answer.error.payment_id ?? '')
      expect([answer.status, answer.error.code, provider.decline_reason], amount).to.deep.equal([
        Number(status),
        code,
        reason
      ])
    }
  })

  describe('with a webhook endpoint', () => {
    let receiver: Receiver
    before(async () => {
      receiver = await startReceiver(undefined, readLoopbackTls(service().dataDir))
    })
    after(() => receiver.stop())
    const arrivals = (eventId: string) => receiver.received.filter(({ event }) => event['event_id'] === eventId)

    it('gets a test event, lists it with its attempt, and has it sent again', async () => {
      await registerHook(service(), receiver.url)
      const sent = await client().test.sendWebhookEvent()
      expect(sent).to.include({ event_type: 'webhook.test', state: 'waiting' })
      const [first] = await until('it arrives', () =>
        arrivals(sent.event_id).length > 0 ? arrivals(sent.event_id) : undefined
      )
      expect(first?.headers['x-service-event']).to.equal('webhook.test')
      expect(first?.event).to.include({ event_type: 'webhook.test', payment_id: sent.payment_id })
      const found = await until('it is listed', async () =>
        (await client().test.webhookEvents()).find(event => event.event_id === sent.event_id)
      )
      expect(found.state).to.equal('delivered')
      expect(found.attempts.map(attempt => attempt.http_status)).to.deep.equal([204])
      await client().test.replayWebhookEvent(sent.event_id)
      await until('it comes again', () => arrivals(sent.event_id).length === 2)
      expect(arrivals(sent.event_id)[1]?.body).to.equal(first?.body)
    })

    it('sees an event that its endpoint refuses, and what it answered', async () => {
      receiver.answer = response => response.writeHead(500).end('the shop is broken')
      const { event_id } = await client().test.sendWebhookEvent()
      const waiting = await until('it waits', async () =>
        (await client().test.webhookEvents({ limit: 5 })).find(event => event.event_id === event_id)
      )
      expect(waiting.state).to.equal('waiting')
      expect(waiting.attempts[0]).to.include({ http_status: 500, answer: 'the shop is broken' })
      expect(Date.parse(waiting.next_attempt_at ?? '')).to.be.greaterThan(Date.now())
      receiver.answer = response => response.writeHead(204).end()
      await client().test.replayWebhookEvent(event_id)
      await until('it is delivered', async () =>
        (await client().test.webhookEvents()).some(event => event.event_id === event_id && event.state === 'delivered')
      )
    })
  })
})
