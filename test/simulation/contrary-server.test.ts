import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect } from 'chai'
import { until } from '../support/conditions.js'
import { ContraryServer } from '../support/contrary-server.js'
import { createRandom } from './random.js'

const OURS_CENTS = 7_777

describe('the contrary acquirer over HTTP', () => {
  const handedOn: string[] = []
  const notified: unknown[] = []
  /** How many of the next notifications are not received. */
  let refusals = 0
  /** The acquirer behind it, and the service that takes notifications. */
  const others = createServer(async (incoming, response) => {
    let body = ''
    for await (const chunk of incoming) body += String(chunk)
    if (incoming.url === '/notifications') notified.push([incoming.headers['x-notification-secret'], JSON.parse(body)])
    if (incoming.url === '/notifications') return void response.writeHead(refusals-- > 0 ? 503 : 200).end()
    handedOn.push(`${incoming.method} ${incoming.url} ${incoming.headers['merchantid']} ${body}`)
    response.writeHead(418).end('{"from":"the other"}')
  })
  const server = new ContraryServer({ takes: cents => cents === OURS_CENTS, dice: createRandom(1) })

  before(async () => {
    await new Promise<void>(resolve => others.listen(0, '127.0.0.1', resolve))
    const otherUrl = `http://127.0.0.1:${(others.address() as AddressInfo).port}`
    server.behindUrl = otherUrl
    server.notifications = { url: `${otherUrl}/notifications`, secret: 's' }
    await server.start()
  })

  after(async () => {
    await server.stop()
    others.close()
    others.closeAllConnections()
  })

  const sell = (orderId: string, cents: number): Promise<Response> =>
    fetch(`${server.url}/1/sales/`, {
      method: 'POST',
      headers: { MerchantId: 'm', 'Content-Type': 'application/json' },
      body: JSON.stringify({
        MerchantOrderId: orderId,
        Payment: { Amount: cents, Capture: true, CreditCard: { CardNumber: '4024007153760060' } }
      })
    })

  it('takes the sales that are its own, and every later call about them', async () => {
    const sold = (await (await sell('A', OURS_CENTS)).json()) as { Payment: { PaymentId: string } }
    const { PaymentId: saleId } = sold.Payment
    const voided = await fetch(`${server.url}/1/sales/${saleId}/void?amount=100`, { method: 'PUT' })
    expect(voided.status).to.equal(200)
    expect(await (await fetch(`${server.url}/1/sales?merchantOrderId=A`)).json()).to.have.property('Payments')
    const shown = (await (await fetch(`${server.url}/1/sales/${saleId}`)).json()) as typeof sold
    expect(shown.Payment).to.include({ CapturedAmount: OURS_CENTS, VoidedAmount: 100 })
    expect(handedOn).to.deep.equal([])
  })

  it('hands every other call on, with its headers and body', async () => {
    const answer = await sell('B', 500)
    expect([answer.status, await answer.text()]).to.deep.equal([418, '{"from":"the other"}'])
    await fetch(`${server.url}/1/sales?merchantOrderId=B`)
    await fetch(`${server.url}/1/sales/0-0/capture`, { method: 'PUT', headers: { MerchantId: 'm' } })
    expect(handedOn.map(line => line.slice(0, 40))).to.deep.equal([
      'POST /1/sales/ m {"MerchantOrderId":"B",',
      'GET /1/sales?merchantOrderId=B undefined',
      'PUT /1/sales/0-0/capture m '
    ])
  })

  it('cuts the connection where an answer is lost, and notifies the service', async () => {
    server.acquirer.kinds = [{ kind: 'shows a capture of nothing', share: 1 }]
    const answers: (number | 'cut')[] = []
    for (let i = 0; i < 20; i++) {
      const { status } = await sell(`C${i}`, OURS_CENTS).catch(() => ({ status: 'cut' as const }))
      answers.push(status)
    }
    expect(new Set(answers)).to.deep.equal(new Set([201, 'cut']))
    await until('a notification has come', () => notified.length > 0)
    const saleIds = [...server.acquirer.sales.keys()]
    const [secret, body] = notified[0] as [string, { PaymentId: string; ChangeType: number }]
    expect([secret, body.ChangeType, saleIds.includes(body.PaymentId)]).to.deep.equal(['s', 1, true])
  })

  it('repeats a notification that was not received', async () => {
    await server.untilQuiet(0)
    notified.length = 0
    refusals = 3
    server.acquirer.kinds = [{ kind: 'notifies early, often and late', share: 1 }]
    await sell('D', OURS_CENTS)
    // Three at once or soon, and each of them again; the fourth that is planned may be minutes away.
    await until('each was repeated', () => notified.length >= 6)
    await server.untilQuiet(0)
  })
})
