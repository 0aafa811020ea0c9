import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect } from 'chai'
import { readLoopbackTls } from '../../../scripts/start/loopback-tls.js'
import { startListener } from '../../../scripts/webhooks-listen/listener.js'
import { until } from '../../support/conditions.js'
import { schemaProblems } from '../../support/documented-answers.js'
import { asOperator, Merchant, registerHook } from '../../support/merchant.js'
import { isSignedWith, type Receiver, startReceiver } from '../../support/receiver.js'
import { useService } from '../../support/service.js'
import { SERVICE_SETTINGS } from '../../support/webhooks.js'

/** A receiver tolerates 300 s (docs/WEBHOOKS.md). */
const TOLERATED_MS = 300_000

describe('webhooks of a running service', () => {
  const service = useService({ env: SERVICE_SETTINGS })
  const merchant = new Merchant(service)
  let receiver: Receiver
  let secret = ''

  before(async () => {
    receiver = await startReceiver(undefined, readLoopbackTls(service().dataDir))
    secret = await registerHook(service(), receiver.url)
  })
  after(() => receiver.stop())

  const arrivals = (paymentId: string) => receiver.received.filter(({ event }) => event['payment_id'] === paymentId)
  const webhook = async (...args: string[]) => (await asOperator(service(), 'webhook', ...args, '--json')).json()
  const list = async (...args: string[]) => (await webhook('list', ...args)) as Record<string, unknown>[]

  it('6.4: announce every change in order, signed, with the figures of that moment; an operator has one sent again', async () => {
    const { id } = (await merchant.create({ capture: false, amount: 2_000 })).payment
    await merchant.capture(id, { amount: 1_500 })
    await merchant.cancel(id, { amount: 500 })
    await merchant.cancel(id)
    await until('all are listed as delivered', async () => {
      const delivered = await list('--state', 'delivered', '--limit', '100000')
      return delivered.filter(event => event['payment_id'] === id).length === 7
    })
    // A receiver that a busy machine holds up gets an event once more.
    const arrived = [...new Map(arrivals(id).map(request => [request.event['event_id'], request])).values()]
    expect(arrived.map(({ event }) => event['status'])).to.deep.equal([
      ...['pre_authorized', 'capturing', 'captured'],
      ...['refunding', 'partially_refunded', 'refunding', 'refunded']
    ])
    for (const request of arrived) {
      expect(isSignedWith(secret, request)).to.equal(true)
      expect(schemaProblems('#/components/schemas/WebhookEvent', request.event)).to.deep.equal([])
    }
    const { amount_cents, captured_cents, refunded_cents } = await merchant.read(id)
    expect(arrived.at(-1)?.event).to.include({ amount_cents, captured_cents, refunded_cents })

    const [first, before] = [arrived[0], arrivals(id).length]
    expect(await webhook('replay', String(first?.event['event_id']))).to.deep.equal({ replayed: 1, left: 0 })
    const again = await until('it comes again', () => arrivals(id)[before])
    expect(again.body, 'the same to the byte').to.equal(first?.body)
  })

  it('lists what is undeliverable, shows its attempts, and sends it again', async () => {
    receiver.answer = response => response.writeHead(410).end('this shop is closed')
    const { id } = (await merchant.create()).payment
    const [event] = await until('it is listed', async () => {
      const events = (await list('--state', 'undeliverable')).filter(listed => listed['payment_id'] === id)
      return events.length > 0 && events
    })
    const shown = (await webhook('show', String(event?.['event_id']))) as { attempts: Record<string, unknown>[] }
    expect(shown.attempts).to.have.length(1)
    expect(shown.attempts[0]).to.include({ http_status: 410, answer: 'this shop is closed' })
    expect(shown.attempts[0]).to.have.keys('at', 'http_status', 'duration_ms', 'answer')

    receiver.answer = response => response.writeHead(204).end()
    await webhook('replay', '--merchant', service().merchantId, '--undelivered')
    await until('it arrives', () => receiver.accepted().get(id)?.includes('captured'))
    expect(await list('--state', 'undeliverable')).to.deep.equal([])
  })

  it('webhooks:listen prints events, checks them, and passes the very bytes on', async () => {
    const forwarded: { body: string; headers: Record<string, unknown> }[] = []
    const shop = createServer((request, response) => {
      let body = ''
      request.on('data', chunk => {
        body += chunk
      })
      request.on('end', () => {
        forwarded.push({ body, headers: request.headers })
        response.writeHead(forwarded.length === 1 ? 500 : 200).end()
      })
    })
    await new Promise<void>(resolve => shop.listen(0, '127.0.0.1', resolve))
    const forwardTo = new URL(`http://127.0.0.1:${(shop.address() as AddressInfo).port}/hook`)
    const printed: string[] = []
    const tls = await readLoopbackTls(service().dataDir)
    const listener = await startListener({ tls, port: 0, forwardTo, write: line => printed.push(line) })
    listener.expect(await registerHook(service(), listener.url))
    try {
      // A new address is in effect within a second.
      const id = await until('an event goes to the new address', async () => {
        const { id: paid } = (await merchant.create()).payment
        await until('it arrives somewhere', () => printed.length > 0 || arrivals(paid).length > 0)
        return printed.length > 0 && paid
      })
      const mine = () => forwarded.filter(({ body }) => body.includes(id))
      await until('the shop has refused it once and then taken it', () => mine().length === 2)
      expect(mine()[0]?.body).to.equal(mine()[1]?.body)
      expect(mine()[1]?.headers).to.have.property('x-service-signature')
      const lines = await until('both are printed', () => {
        const about = printed.filter(line => line.includes(id))
        return about.length >= 2 && about
      })
      expect(lines[0]).to.match(/"status":"captured".*\(valid signature\) -> 500$/)
      expect(lines[1]).to.match(/\(valid signature\) -> 200$/)
    } finally {
      await registerHook(service(), receiver.url)
      await listener.stop()
      shop.close()
    }
  })

  it('are signed with the real time while the clock of the test environment is ahead, and so are endpoints changed', async () => {
    await asOperator(service(), 'clock', 'advance', '7d')
    try {
      const { id } = (await merchant.create()).payment
      const { headers } = await until('an event arrives', () => arrivals(id)[0])
      const signedAtMs = Number(/^t=(\d+)/.exec(String(headers['x-service-signature']))?.[1]) * 1_000
      expect(Math.abs(signedAtMs - Date.now())).to.be.below(TOLERATED_MS)
      const answer = await fetch(`${service().baseUrl}/v1/webhook-endpoint`, {
        method: 'PUT',
        headers: { Authorization: `Bearer ${service().apiKey}`, 'Content-Type': 'application/json' },
        body: JSON.stringify({ url: 'https://shop.example/hooks', rotate_secret: true })
      })
      const { updated_at } = (await answer.json()) as { updated_at: string }
      expect(Math.abs(Date.parse(updated_at) - Date.now())).to.be.below(TOLERATED_MS)
    } finally {
      await asOperator(service(), 'clock', 'reset')
    }
  })
})
