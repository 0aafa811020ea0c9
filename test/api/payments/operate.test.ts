import { expect } from 'chai'
import { answerTo } from '../../../api/payments/submission-presenter.js'
import { noReferences } from '../../../machines/model.js'
import { idempotencyRecordIdOf, keys, partitionOf } from '../../../redis/keys.js'
import { aCommandPath, aCreateRequest, aScope, type CommandPath } from '../../support/command-path.js'
import { approvedAndCaptured, approvedOnly } from '../../support/fake-network.js'
import { DAY_MS, PARTITION } from '../../support/payments.js'
import { useRedis } from '../../support/redis.js'
import type { TestWorker } from '../../support/worker.js'

describe('a capture or cancel', () => {
  const test = useRedis()
  let path: CommandPath
  let worker: TestWorker
  beforeEach(async () => {
    await Promise.all([test.redis.flushdb(), test.secrets.flushdb()])
    path = await aCommandPath(test)
    worker = path.worker()
  })

  const created = async (...outcomes: Parameters<TestWorker['network']['willAnswer']>): Promise<string> => {
    const answer = await path.payments.create(aScope('create'), aCreateRequest(await path.token()))
    if (answer.kind !== 'in_progress') throw new Error(answer.kind)
    worker.network.willAnswer(...outcomes)
    await worker.work()
    return answer.terms.id
  }
  const read = async (id: string) => {
    const payment = await path.payments.read(aScope('').merchantId, id)
    if (payment === null) throw new Error('the payment is gone')
    return payment
  }
  const commands = () => test.redis.xlen(keys.commands(PARTITION))

  it("is refused before acceptance when the payment's state does not allow it, and so is its repetition", async () => {
    const id = await created({ kind: 'declined', code: '05', references: noReferences })
    for (const kind of ['capture', 'cancel'] as const) {
      const refused = { kind: 'finished', result: { kind: 'refused', code: 'invalid_state' } }
      expect(await path.payments[kind](aScope(kind), id, null)).to.deep.include({ ...refused, isReplay: false })
      expect(await path.payments[kind](aScope(kind), id, null)).to.deep.include({ ...refused, isReplay: true })
      const another = await path.payments[kind](aScope(kind, 'another body'), id, null)
      expect(another).to.deep.equal({ kind: 'conflict', paymentId: id })
    }
    expect(await commands()).to.equal(0)
  })

  it('names itself while it waits for a worker, by amount and key', async () => {
    const id = await created(approvedAndCaptured, approvedAndCaptured)
    await path.payments.cancel(aScope('refund-1'), id, 100)
    await worker.work()
    for (const [key, amountCents, wanted] of [
      ['refund-2', 300, 300],
      ['refund-3', null, 900]
    ] as const) {
      for (const isReplay of [false, true]) {
        const answer = await path.payments.cancel(aScope(key), id, amountCents)
        const { body } = answerTo(answer, 'test', 200)
        const named = { state: 'in_progress', amount_cents: wanted, idempotency_key: key }
        expect(answer).to.include({ kind: 'in_progress', isReplay })
        expect(body).to.deep.include({ status: 'partially_refunded', operation: { kind: 'refund', ...named } })
        expect(body).to.have.deep.nested.property('refunds[1]').that.includes(named)
        expect(body, 'the reason of an earlier failure').not.to.have.property('error')
      }
    }
    const first = { kind: 'refund', state: 'succeeded', amountCents: 100, idempotencyKey: 'refund-1' }
    expect((await read(id)).progress.operation).to.deep.equal(first)
  })

  it('above what can be refunded is refused at once, not answered 202 beside an earlier refund that succeeded', async () => {
    const id = await created(approvedAndCaptured, approvedAndCaptured)
    await path.payments.cancel(aScope('refund-1'), id, 100)
    await worker.work()
    const answer = await path.payments.cancel(aScope('refund-2'), id, 950)
    expect(answer).to.deep.include({ result: { kind: 'refused', code: 'amount_exceeds_refundable' } })
  })

  it('refunds once, also when the record of its key has expired or is lost: the payment still has the key', async () => {
    const id = await created(approvedAndCaptured, approvedAndCaptured)
    const refund = (amountCents: number | null) => path.payments.cancel(aScope('refund-1'), id, amountCents)
    await refund(100)
    await worker.work()
    await test.redis.del(keys.idempotency(PARTITION, idempotencyRecordIdOf(aScope('').merchantId, 'refund-1')))
    const { progress } = await read(id)
    expect(progress).to.include({ refundedCents: 100 })
    const succeeded = { kind: 'finished', result: { kind: 'succeeded', progress }, isReplay: true }
    expect(await refund(100)).to.deep.include(succeeded)
    for (const other of [null, 200]) expect(await refund(other)).to.deep.equal({ kind: 'conflict', paymentId: id })
    expect(await commands()).to.equal(0)
  })

  it('refunds once when the record of its key expires while the request is repeated', async () => {
    const id = await created(approvedAndCaptured, approvedAndCaptured)
    const refund = () => path.payments.cancel(aScope('refund-1'), id, 100)
    await refund()
    await worker.work()
    const { acceptOperation } = path.deps.store
    path.deps.store.acceptOperation = async (...given) => {
      await test.redis.del(keys.idempotency(PARTITION, idempotencyRecordIdOf(aScope('').merchantId, 'refund-1')))
      return await acceptOperation(...given)
    }
    expect(await refund()).to.deep.include({ kind: 'finished', isReplay: true })
    expect(await commands()).to.equal(0)
  })

  it('refunds once when a worker refunds after the repeated request has read the payment, and the record is gone then', async () => {
    const id = await created(approvedAndCaptured, approvedAndCaptured)
    const refund = () => path.payments.cancel(aScope('refund-1'), id, 100)
    await refund()
    const { acceptOperation } = path.deps.store
    path.deps.store.acceptOperation = async (...given) => {
      path.deps.store.acceptOperation = acceptOperation
      await worker.work()
      await test.redis.del(keys.idempotency(PARTITION, idempotencyRecordIdOf(aScope('').merchantId, 'refund-1')))
      return await acceptOperation(...given)
    }
    expect(await refund()).to.deep.include({ kind: 'finished', isReplay: true })
    expect((await read(id)).progress).to.include({ refundedCents: 100 })
    expect(await commands()).to.equal(0)
  })

  it('of all that is left is done once, also when the record of its key is gone', async () => {
    const id = await created(approvedAndCaptured, approvedAndCaptured)
    const refund = (amountCents: number | null) => path.payments.cancel(aScope('rest'), id, amountCents)
    await refund(null)
    await worker.work()
    await test.redis.del(keys.idempotency(PARTITION, idempotencyRecordIdOf(aScope('').merchantId, 'rest')))
    expect(await refund(null)).to.deep.include({ kind: 'finished', isReplay: true })
    expect(await refund(200)).to.deep.equal({ kind: 'conflict', paymentId: id })
    expect(await commands()).to.equal(0)
  })

  it('is decided again when the payment changes between its read and its acceptance', async () => {
    const id = await created(approvedAndCaptured, approvedAndCaptured)
    const { acceptOperation } = path.deps.store
    let isFirst = true
    path.deps.store.acceptOperation = async (request, ...rest) => {
      if (isFirst) {
        isFirst = false
        await path.payments.cancel(aScope('refund-1'), id, 600)
        await worker.work()
      }
      return await acceptOperation(request, ...rest)
    }
    const answer = await path.payments.cancel(aScope('refund-2'), id, 600)
    expect(answer).to.deep.include({ result: { kind: 'refused', code: 'amount_exceeds_refundable' }, isReplay: false })
    expect(await commands()).to.equal(0)
  })

  it('in doubt is not refused when its repetition reaches Redis only at the second try', async () => {
    const id = await created(approvedAndCaptured, { kind: 'ambiguous', reason: 'timeout' })
    await path.payments.cancel(aScope('refund-1'), id, 600)
    await worker.work()
    const { acceptOperation } = path.deps.store
    path.deps.store.acceptOperation = async () => {
      path.deps.store.acceptOperation = acceptOperation
      throw new Error('Connection is closed.')
    }
    const answer = await path.payments.cancel(aScope('refund-1'), id, 600)
    expect(answer).to.deep.include({ kind: 'in_progress', isReplay: true })
  })

  it('on another merchant’s payment finds nothing and stores nothing', async () => {
    const id = await created(approvedAndCaptured)
    const before = await test.redis.keys('*')
    const merchants = Array.from({ length: 100 }, (_, number) => `m_${number}`)
    const merchantId = merchants.find(id => partitionOf(id, PARTITION + 1) === PARTITION) ?? ''
    const foreign = { ...aScope('foreign'), merchantId }
    expect(await path.payments.cancel(foreign, id, null)).to.deep.equal({ kind: 'not_found' })
    expect(await test.redis.keys('*')).to.have.members(before)
  })

  it('after the window is 422 preauth_expired, from the very end of the window', async () => {
    let nowMs = Date.now()
    path = await aCommandPath(test, () => ({ clock: { now: () => nowMs } }))
    worker = path.worker()
    const request = aCreateRequest(await path.token())
    const manual = { ...request, terms: { ...request.terms, captureMode: 'manual' as const } }
    const answer = await path.payments.create(aScope('create'), manual)
    if (answer.kind !== 'in_progress') throw new Error(answer.kind)
    worker.network.willAnswer(approvedOnly)
    await worker.work()
    const { id } = answer.terms
    nowMs = ((await read(id)).progress.expiresAtMs ?? 0) - 1
    expect(await path.payments.capture(aScope('k1'), id, 5_000)).to.have.nested.property(
      'result.code',
      'amount_exceeds_authorized'
    )
    nowMs += 1
    expect(await path.payments.capture(aScope('k2'), id, null)).to.have.nested.property(
      'result.code',
      'preauth_expired'
    )
    expect(nowMs).to.be.greaterThan(Date.now() + 6 * DAY_MS)
  })
})
