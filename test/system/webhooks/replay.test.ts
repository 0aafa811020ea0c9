import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect } from 'chai'
import { readLoopbackTls } from '../../../scripts/start/loopback-tls.js'
import { startListener } from '../../../scripts/webhooks-listen/listener.js'
import { until } from '../../support/conditions.js'
import { asOperator, Merchant, registerHook } from '../../support/merchant.js'
import { type Receiver, startReceiver } from '../../support/receiver.js'
import { useService } from '../../support/service.js'
import { SERVICE_SETTINGS } from '../../support/webhooks.js'

describe('webhooks in the hands of operators and developers', () => {
  const service = useService({ env: SERVICE_SETTINGS })
  const merchant = new Merchant(service)
  let receiver: Receiver

  before(async () => {
    receiver = await startReceiver(undefined, readLoopbackTls(service().dataDir))
    await registerHook(service(), receiver.url)
  })
  after(() => receiver.stop())

  const arrivals = (paymentId: string) => receiver.received.filter(({ event }) => event['payment_id'] === paymentId)
  const webhook = async (...args: string[]) => (await asOperator(service(), 'webhook', ...args, '--json')).json()
  const list = async (...args: string[]) => (await webhook('list', ...args)) as Record<string, unknown>[]

  /** A refunded payment whose events have all arrived, as many times as `times` says. */
  async function refunded(): Promise<string> {
    const { id } = (await merchant.create()).payment
    await merchant.cancel(id)
    await until('all events are in the journal', async () => {
      const delivered = await list('--state', 'delivered', '--limit', '100000')
      return delivered.filter(event => event['payment_id'] === id).length === 3
    })
    return id
  }

  it('sends a delivered event again, the same to the byte', async () => {
    const id = await refunded()
    const [first] = arrivals(id)
    const eventId = String(first?.event['event_id'])
    expect(await webhook('replay', eventId)).to.deep.equal({ replayed: 1 })
    const again = await until('it comes again', () => arrivals(id)[3])
    expect(again.body).to.equal(first?.body)
  })

  it('sends all since a time again, in order', async () => {
    const before = new Date().toISOString()
    const id = await refunded()
    const answer = await webhook('replay', '--merchant', service().merchantId, '--since', before)
    expect(answer).to.deep.equal({ replayed: 3 })
    await until('all come again', () => arrivals(id).length === 6)
    const statuses = ['captured', 'refunding', 'refunded']
    expect(arrivals(id).map(({ event }) => event['status'])).to.deep.equal([...statuses, ...statuses])
    expect(new Set(arrivals(id).map(({ event }) => event['event_id'])).size).to.equal(3)
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
})
