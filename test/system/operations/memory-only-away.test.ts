import { randomUUID } from 'node:crypto'
import { expect } from 'chai'
import { until, untilFast } from '../../support/conditions.js'
import { type ApiAnswer, Merchant } from '../../support/merchant.js'
import { type ServiceUnderTest, startService } from '../../support/service.js'

/** Life of a payment's lock in these tests: work goes on without a lock so long after the loss (ms). */
const LOCK_TTL_MS = 2_000
/** A refusal that waited for the server would take the 5 s after which a silent connection is cut (ms). */
const REFUSED_MAX_MS = 3_000

describe('when the memory-only Redis is away', () => {
  let service: ServiceUnderTest
  const merchant = new Merchant(() => service)
  before(async () => {
    service = await startService({
      env: { LOG_LEVEL: 'warn', TAKEOVER_AFTER_MS: String(LOCK_TTL_MS), HEARTBEAT_MS: '500' }
    })
  })
  after(() => service?.stop())

  const readiness = async (instance: string): Promise<{ status: number; warnings: Record<string, string> }> => {
    const { status, text } = await service.ops(instance, '/readyz')
    return { status, warnings: (JSON.parse(text) as { warnings: Record<string, string> }).warnings }
  }
  const expectRefused = async (request: () => Promise<ApiAnswer>): Promise<void> => {
    const { status, error, headers } = await untilFast('it is refused', REFUSED_MAX_MS, request)
    expect([status, error.code]).to.deep.equal([503, 'service_unavailable'])
    expect(Number(headers.get('Retry-After'))).to.be.at.least(1)
  }

  it('everything but typed cards works, and typed cards are refused at once', async () => {
    const [held, sold] = [await merchant.create({ capture: false }), await merchant.create()]
    const [source, token, key] = [await merchant.storeCard(), await merchant.token(), randomUUID()]
    const finished = await merchant.create({ token, key })
    try {
      service.kill('secrets-redis', 'SIGSTOP')
      expect((await merchant.create({ token, key })).payment.id, 'replay').to.equal(finished.payment.id)
      expect((await merchant.read(held.payment.id)).status).to.equal('pre_authorized')
      const list = await fetch(`${service.baseUrl}/v1/payments`, {
        headers: { Authorization: `Bearer ${service.apiKey}` }
      })
      expect(list.status).to.equal(200)
      await merchant.capture(held.payment.id, { waitS: 0 })
      await merchant.cancel(sold.payment.id, { amount: 100, waitS: 0 })
      const bought = await merchant.create({ source, waitS: 0 })
      await Promise.all([
        merchant.settled(held.payment.id, 'captured'),
        merchant.settled(sold.payment.id, 'partially_refunded'),
        merchant.settled(bought.payment.id, 'captured')
      ])
      await expectRefused(() => merchant.create({ token: 'tok_00000000000000000000000000' }))
      await expectRefused(() => merchant.create({ source: { ...source, cvv: '123' } }))
      await expectRefused(() => merchant.create({ token }))

      for (const instance of ['api.1', 'payments.1']) {
        const { status, warnings } = await readiness(instance)
        expect([instance, status]).to.deep.equal([instance, 200])
        expect(warnings['memory-only redis']).to.match(/SECRETS_REDIS_URL/)
      }
      expect((await readiness('tokens.1')).status).to.equal(503)
    } finally {
      service.kill('secrets-redis', 'SIGCONT')
    }
    const taken = async (): Promise<boolean> => (await merchant.create().catch(() => null))?.status === 201
    await until('typed cards are taken again', taken)
    await service.untilReady()
  })
})
