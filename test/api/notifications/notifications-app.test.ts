import { expect } from 'chai'
import { type HttpServer, serve } from '../../../api/http/http-server.js'
import { createNotificationsApp } from '../../../api/notifications/notifications-app.js'
import type { NetworkNotification } from '../../../redis/notifications/notifications.js'
import { systemClock } from '../../../runtime/clock.js'
import { createLogger } from '../../../runtime/log.js'

const SALE = '0A1B2C3D-0000-4000-8000-00000000000A'

describe('POST /notifications', () => {
  const log = createLogger('test', 'silent')
  const noted: NetworkNotification[] = []
  const note = async (notification: NetworkNotification): Promise<void> => void noted.push(notification)
  let server: HttpServer
  before(async () => {
    const app = createNotificationsApp({ secret: 'the secret', notifications: { note }, clock: systemClock, log })
    server = await serve(app, { host: '127.0.0.1', port: 0, log })
  })
  after(() => server.stop())
  beforeEach(() => noted.splice(0))

  const post = async (body: object, secret = 'the secret'): Promise<number> => {
    const headers = { 'Content-Type': 'application/json', 'X-Notification-Secret': secret }
    const url = `http://127.0.0.1:${server.port}/notifications`
    return (await fetch(url, { method: 'POST', headers, body: JSON.stringify(body) })).status
  }

  it('keeps what is about the money of a sale, and ignores the rest', async () => {
    for (const ChangeType of [1, 5, '7', 8, 25, 2, 99])
      expect(await post({ PaymentId: SALE, ChangeType })).to.equal(200)
    expect(noted.map(({ reported }) => reported)).to.deep.equal([
      ...['change', 'denied_refund', 'chargeback', 'change', 'change']
    ])
    expect(new Set(noted.map(({ saleId }) => saleId))).to.deep.equal(new Set([SALE.toLowerCase()]))
  })

  it('refuses a sender without the secret, and what names no sale or no change', async () => {
    for (const secret of ['guessed', '']) expect(await post({ PaymentId: SALE, ChangeType: 7 }, secret)).to.equal(401)
    for (const body of [
      { PaymentId: SALE },
      { PaymentId: SALE, ChangeType: null },
      { PaymentId: '7', ChangeType: 7 }
    ]) {
      expect(await post(body)).to.equal(400)
    }
    expect(noted).to.deep.equal([])
  })
})
