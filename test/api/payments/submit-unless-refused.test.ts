import { expect } from 'chai'
import type { ServiceError } from '../../../api/http/service-error.js'
import type { Submission } from '../../../api/payments/payments-port.js'
import { fingerprintOf } from '../../../api/payments/request-scope.js'
import { idempotencyRecordIdOf, keys } from '../../../redis/keys.js'
import { aCommandPath, aCreateRequest, aScope, type CommandPath } from '../../support/command-path.js'
import { approvedAndCaptured } from '../../support/fake-network.js'
import { aPayment, PARTITION } from '../../support/payments.js'
import { useRedis } from '../../support/redis.js'
import { aCreateBody } from '../builders.js'
import { useApi } from '../running-api.js'

describe('a payment POST that breaks a rule', () => {
  const api = useApi()
  beforeEach(() => {
    api.payments.earlier = null
    api.payments.repeats.length = 0
  })

  const { terms, progress } = aPayment()
  const broken = [
    ['/v1/payments', { ...aCreateBody(), currency: 'USD' }],
    [`/v1/payments/${terms.id}/capture`, { amount_cents: 0 }],
    [`/v1/payments/${terms.id}/cancel`, { amount_cents: '1' }]
  ] as const
  for (const [path, body] of broken) {
    it(`is refused when its key is new: ${path}`, async () => {
      const { status, error } = await api.request('POST', path, { body })
      expect([status, error['code']]).to.deep.equal([400, 'invalid_request'])
      const [asked] = api.payments.repeats
      const paymentId = path.includes(terms.id) ? terms.id : null
      expect(asked).to.deep.include({ paymentId, fingerprint: fingerprintOf(`POST ${path}`, body) })
    })

    it(`gets what its key had before, because the rule may be newer: ${path}`, async () => {
      api.payments.earlier = { kind: 'in_progress', terms, progress, isReplay: true }
      const answer = await api.request('POST', path, { body })
      expect([answer.status, answer.headers.get('Idempotent-Replayed')]).to.deep.equal([202, 'true'])
      api.payments.earlier = { kind: 'conflict', paymentId: terms.id }
      const { error } = await api.request('POST', path, { body })
      expect(error).to.include({ code: 'idempotency_conflict', payment_id: terms.id })
    })
  }

  it('is refused when its body is nested deeper than any stack', async () => {
    const depth = 20_000
    const body = `{"metadata":${'['.repeat(depth)}${']'.repeat(depth)}}`
    const headers = { 'Content-Type': 'application/json' }
    const { status } = await api.request('POST', '/v1/payments', { body, headers })
    expect(status).to.equal(400)
  })
})

describe('what a key had before', () => {
  const test = useRedis()
  let path: CommandPath
  beforeEach(async () => {
    await Promise.all([test.redis.flushdb(), test.secrets.flushdb()])
    path = await aCommandPath(test)
  })

  it('is nothing, its payment as it is, its result, or a conflict with another body', async () => {
    const kindOf = (submission: Submission | null) => submission?.kind ?? null
    expect(await path.payments.repeat(aScope('k1'), null)).to.equal(null)
    await path.payments.create(aScope('k1'), aCreateRequest(await path.token()))
    expect(kindOf(await path.payments.repeat(aScope('k1'), null))).to.equal('create_in_progress')
    const worker = path.worker()
    worker.network.willAnswer(approvedAndCaptured)
    await worker.work()
    expect(await path.payments.repeat(aScope('k1'), null)).to.deep.include({ kind: 'finished', isReplay: true })
    expect(kindOf(await path.payments.repeat(aScope('k1', 'another'), null))).to.equal('conflict')
    expect(kindOf(await path.payments.repeat(aScope('k2'), null))).to.equal(null)
  })

  it('is 503 while a refund waits for its worker, then the refund, and a conflict when only the payment has it', async () => {
    const worker = path.worker()
    const created = await path.payments.create(aScope('k1'), aCreateRequest(await path.token()))
    const id = 'terms' in created ? created.terms.id : ''
    worker.network.willAnswer(approvedAndCaptured)
    await worker.work()
    await path.payments.cancel(aScope('r1'), id, 300)
    const answer = async () =>
      await path.payments.repeat(aScope('r1'), id).then(
        submission => submission?.kind ?? null,
        (error: ServiceError) => error.code
      )
    expect(await answer()).to.equal('service_unavailable')
    worker.network.willAnswer(approvedAndCaptured)
    await worker.work()
    expect(await answer()).to.equal('finished')
    const { merchantId, idempotencyKey } = aScope('r1')
    await test.redis.del(keys.idempotency(PARTITION, idempotencyRecordIdOf(merchantId, idempotencyKey)))
    expect(await answer()).to.equal('conflict')
  })
})
