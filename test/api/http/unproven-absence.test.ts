import { expect } from 'chai'
import { ServiceError } from '../../../api/http/service-error.js'
import { RedisUnavailable } from '../../../redis/connection/redis-errors.js'
import { aCreateBody, aPayment, PAYMENT_ID } from '../builders.js'
import { type RunningApi, startApi } from '../running-api.js'

/** Data that went back lacks what was accepted: a merchant who is told that it does not exist may charge again. */
describe('what is not found while the data may lack something', () => {
  let api: RunningApi
  let isWhole = false
  before(async () => {
    api = await startApi({
      assertWhole: async () => {
        if (!isWhole) throw new RedisUnavailable('The data went back.')
      }
    })
  })
  after(() => api.stop())

  const CARD = `/v1/cards/card_${'0'.repeat(26)}`
  const absences: readonly (readonly [method: string, path: string, body?: unknown])[] = [
    ['GET', `/v1/payments/${PAYMENT_ID}`],
    ['POST', `/v1/payments/${PAYMENT_ID}/capture`],
    ['POST', `/v1/payments/${PAYMENT_ID}/cancel`],
    ['POST', '/v1/payments', aCreateBody()],
    ['GET', CARD],
    ['DELETE', CARD]
  ]

  for (const [method, path, body] of absences) {
    it(`is answered 503, and called absent in data that is whole: ${method} ${path}`, async () => {
      const isCreate = path === '/v1/payments'
      const answer = async (): Promise<[number, unknown]> => {
        api.payments.submission = isCreate ? new ServiceError('unknown_card') : { kind: 'not_found' }
        const { status, error } = await api.request(method, path, { body })
        return [status, error['code']]
      }
      isWhole = false
      expect(await answer()).to.deep.equal([503, 'service_unavailable'])
      isWhole = true
      expect(await answer()).to.deep.equal(isCreate ? [422, 'invalid_card'] : [404, 'not_found'])
    })
  }

  it('does not keep back what is found', async () => {
    isWhole = false
    api.payments.payment = aPayment()
    expect((await api.request('GET', `/v1/payments/${PAYMENT_ID}`)).status).to.equal(200)
  })
})
