import { rename } from 'node:fs/promises'
import { join } from 'node:path'
import { expect } from 'chai'
import { keys, partitionOfPayment, paymentKeyOf } from '../../../redis/keys.js'
import { readLoopbackTls } from '../../../scripts/start/loopback-tls.js'
import { until } from '../../support/conditions.js'
import { asOperator, Merchant, type PaymentView, registerHook, withRedis } from '../../support/merchant.js'
import { startReceiver } from '../../support/receiver.js'
import { useService } from '../../support/service.js'

describe('an installation with an archive', () => {
  const service = useService({ scale: ['archive=1'] })
  const merchant = new Merchant(service)

  const get = (path: string): Promise<Response> =>
    fetch(`${service().baseUrl}${path}`, { headers: { Authorization: `Bearer ${service().apiKey}` } })
  const listed = async (reference: string): Promise<PaymentView[]> => {
    const answer = await get(`/v1/payments?external_reference=${reference}`)
    expect(answer.status).to.equal(200)
    return ((await answer.json()) as { items: PaymentView[] }).items
  }
  const archiveIs = async (status: number): Promise<string> =>
    await until(`/readyz of archive answers ${status}`, async () => {
      const ready = await service().ops('archive.1', '/readyz')
      return ready.status === status ? ready.text : undefined
    })
  /** A captured payment that PostgreSQL has and Redis does not. */
  const archivedPayment = async (reference: string): Promise<PaymentView> => {
    const { payment } = await merchant.create({ reference, amount: 10_000 })
    expect(payment.status).to.equal('captured')
    const key = keys.payment(partitionOfPayment(payment.id), paymentKeyOf(payment.id))
    expect((await asOperator(service(), 'clock', 'advance', '100d')).code).to.equal(0)
    await until('the payment has moved', () => withRedis(service(), async redis => (await redis.exists(key)) === 0))
    return payment
  }

  it('answers for an archived payment as before, and refunds it in part', async () => {
    const receiver = await startReceiver(undefined, readLoopbackTls(service().dataDir))
    try {
      const payment = await archivedPayment('archived-order')
      await registerHook(service(), receiver.url)
      expect(await merchant.read(payment.id)).to.deep.equal(payment)
      expect(await listed('archived-order')).to.deep.equal([payment])
      const refund = await merchant.cancel(payment.id, { amount: 4_000 })
      expect([refund.status, refund.payment.status]).to.deep.equal([200, 'partially_refunded'])
      expect((await listed('archived-order')).map(({ refunded_cents }) => refunded_cents)).to.deep.equal([4_000])
      const posted = (): readonly string[] => receiver.accepted().get(payment.id) ?? []
      await until('the webhooks came', () => posted().length === 2)
      expect(posted()).to.deep.equal(['refunding', 'partially_refunded'])
    } finally {
      await receiver.stop()
    }
  })

  it('serves payments in Redis while PostgreSQL is away, and answers 503 for archived ones', async () => {
    const archived = await archivedPayment('order-of-last-year')
    const held = await merchant.create({ capture: false })
    // Without this file PostgreSQL does not start again.
    const version = join(service().dataDir, 'postgres/data/PG_VERSION')
    await rename(version, `${version}.away`)
    try {
      service().kill('postgres')
      expect(await archiveIs(503), 'no payment is due').to.contain('ARCHIVE_URL')
      for (const answer of [
        await get(`/v1/payments/${archived.id}`),
        await get('/v1/payments?external_reference=order-of-last-year')
      ]) {
        expect(answer.status).to.equal(503)
        expect(Number(answer.headers.get('Retry-After'))).to.be.at.least(1)
        expect(await answer.json()).to.have.nested.property('error.code', 'service_unavailable')
      }
      expect((await merchant.cancel(archived.id)).status).to.equal(503)
      expect((await merchant.create()).payment.status).to.equal('captured')
      expect((await merchant.capture(held.payment.id)).payment.status).to.equal('captured')
    } finally {
      await rename(`${version}.away`, version)
    }
    await until(
      'archived payments are read again',
      async () => (await get(`/v1/payments/${archived.id}`)).status === 200
    )
    await archiveIs(200)
    expect((await merchant.cancel(archived.id)).payment.status).to.equal('refunded')
  })
})
