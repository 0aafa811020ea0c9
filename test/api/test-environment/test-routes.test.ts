import { randomBytes } from 'node:crypto'
import { expect } from 'chai'
import { ServiceError } from '../../../api/http/service-error.js'
import { testRoutes } from '../../../api/test-environment/test-routes.js'
import { aPayment, capturedProgress, PAYMENT_ID } from '../builders.js'
import { aKey, type RunningApi, SECRET, startApi } from '../running-api.js'

const CHARGEBACK = `/v1/test/payments/${PAYMENT_ID}/chargeback`
const EXPIRE = `/v1/test/payments/${PAYMENT_ID}/expire`

/** An environment that counts what it is asked, and does nothing. */
const idle = (asked: string[]) => ({
  chargeBack: async () => void asked.push('chargeBack'),
  expire: async () => void asked.push('expire'),
  sendEvent: () => Promise.reject(new Error('not asked')),
  listEvents: async () => [],
  replayEvent: async () => null
})

describe('the routes of the test environment', () => {
  let api: RunningApi
  afterEach(() => api.stop())

  it('do not exist in live: 404 like any unknown path, with a valid key', async () => {
    const networkUrl = 'https://network.example'
    api = await startApi({
      env: {
        SERVICE_ENV: 'live',
        TOKENS_URL: 'https://tokens.example',
        NETWORK_TRANSACTION_URL: networkUrl,
        NETWORK_QUERY_URL: networkUrl,
        NETWORK_MERCHANT_ID: 'live-merchant',
        NETWORK_MERCHANT_KEY: randomBytes(32).toString('hex'),
        NOTIFICATIONS_SECRET: randomBytes(32).toString('hex')
      }
    })
    api.keys.set('k_live', aKey('k_live', { environment: 'live' }))
    api.payments.payment = aPayment({ progress: capturedProgress() })
    const headers = { Authorization: `Bearer svc_live.k_live.${SECRET}` }
    expect((await api.request('GET', `/v1/payments/${PAYMENT_ID}`, { headers })).status).to.equal(200)
    const unknown = await api.request('POST', '/v1/no-such-route', { headers })
    for (const {
      facts: { method, path }
    } of testRoutes) {
      const { status, error } = await api.request(method, path.replace('{id}', PAYMENT_ID), { headers })
      expect({ status, code: error['code'] }, path).to.deep.equal({ status: 404, code: unknown.error['code'] })
    }
  })

  it('find the payments of the merchant only', async () => {
    api = await startApi({ testEnvironment: idle([]) })
    api.payments.payment = aPayment({ terms: { merchantId: 'm_other' }, progress: capturedProgress() })
    for (const path of [CHARGEBACK, EXPIRE, CHARGEBACK.replace(PAYMENT_ID, 'x')]) {
      expect((await api.request('POST', path)).error, path).to.include({ code: 'not_found' })
    }
  })

  it('leave a payment that has already changed as it is, and refuse one that cannot change', async () => {
    const asked: string[] = []
    api = await startApi({ testEnvironment: idle(asked) })
    api.payments.payment = aPayment({ progress: capturedProgress({ status: 'charged_back' }) })
    expect(await api.request('POST', CHARGEBACK)).to.include({ status: 200 })
    expect((await api.request('POST', EXPIRE)).error).to.include({ code: 'invalid_state', retryable: false })
    api.payments.payment = aPayment()
    expect((await api.request('POST', CHARGEBACK)).error).to.include({ code: 'invalid_state', retryable: true })
    expect(asked).to.deep.equal([])
  })

  it('answer 202 with the payment as it stands when the change takes longer than the wait', async () => {
    const asked: string[] = []
    api = await startApi({ testEnvironment: idle(asked) })
    api.payments.payment = aPayment({ progress: capturedProgress() })
    const { status, body, headers } = await api.request('POST', CHARGEBACK, { headers: { Prefer: 'wait=0' } })
    expect({ status, payment: body['status'] }).to.deep.equal({ status: 202, payment: 'captured' })
    expect(headers.get('Retry-After')).to.equal('2')
    expect(asked).to.deep.equal(['chargeBack'])
  })

  it('refuse at once to expire a hold whose capture wins', async () => {
    const expire = async (): Promise<void> => {
      api.payments.payment = aPayment({ progress: capturedProgress() })
    }
    api = await startApi({ testEnvironment: { ...idle([]), expire } })
    api.payments.payment = aPayment({ progress: { ...capturedProgress({ status: 'pre_authorized' }) } })
    expect((await api.request('POST', EXPIRE)).error).to.include({ code: 'invalid_state' })
  })

  it('answer that no simulator is configured for a chargeback', async () => {
    const chargeBack = () => Promise.reject(new ServiceError('simulator_missing'))
    api = await startApi({ testEnvironment: { ...idle([]), chargeBack } })
    api.payments.payment = aPayment({ progress: capturedProgress() })
    const { status, error } = await api.request('POST', CHARGEBACK)
    expect({ status, code: error['code'] }).to.deep.equal({ status: 409, code: 'invalid_state' })
    expect(error['message']).to.contain('SIMULATOR_URL')
  })

  it('do not find an event of another merchant, or one whose id is malformed', async () => {
    api = await startApi({ testEnvironment: idle([]) })
    for (const id of [PAYMENT_ID, 'x']) {
      expect((await api.request('POST', `/v1/test/webhook-events/${id}/replay`)).status, id).to.equal(404)
    }
    expect((await api.request('GET', '/v1/test/webhook-events?limit=0')).status).to.equal(400)
  })
})
