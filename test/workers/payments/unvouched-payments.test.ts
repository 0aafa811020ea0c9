/** What a worker does when the data came back, or when no clock can be trusted: it looks first, or waits. */
import { expect } from 'chai'
import type { Payment } from '../../../machines/model.js'
import { keys, paymentKeyOf } from '../../../redis/keys.js'
import { approvedAndCaptured, approvedOnly } from '../../support/fake-network.js'
import { aSale, aWake, PARTITION, policy } from '../../support/payments.js'
import { useRedis } from '../../support/redis.js'
import { aWorker, type TestWorker } from '../../support/worker.js'

const captured = (voidedCents = 0) => ({ kind: 'found', sales: [aSale({ voidedCents })] }) as const
const held = { kind: 'found', sales: [aSale({ status: 'authorised', capturedCents: 0 })] } as const

describe('a payments worker on unvouched data', () => {
  const test = useRedis()
  let backMs: number
  let worker: TestWorker

  beforeEach(async () => {
    await test.redis.flushdb()
    backMs = 0
    worker = aWorker(test, () => ({ unvouchedBeforeMs: () => backMs }))
  })

  const paid = async (mode: 'auto' | 'manual'): Promise<Payment> => {
    const payment = await worker.created(mode, mode === 'auto' ? approvedAndCaptured : approvedOnly)
    worker.network.asked.splice(0)
    return payment
  }
  /** The data comes back. */
  const comeBack = (): void => {
    worker.clock.atMs += 60_000
    backMs = worker.clock.atMs
  }

  it('adopts a refund that the acquirer has, and sends no other', async () => {
    const payment = await paid('auto')
    comeBack()
    const key = await worker.acceptOperation(payment, { kind: 'cancel', amountCents: 300 })
    worker.network.willFind(captured(300))
    await worker.work()
    expect(worker.network.asked).to.deep.equal(['query'])
    expect((await worker.load(payment)).progress).to.deep.include({ status: 'partially_refunded', refundedCents: 300 })
    expect((await worker.resultOf(key))?.kind).to.equal('succeeded')
  })

  it('sends a capture that the acquirer lacks, after it has looked', async () => {
    const payment = await paid('manual')
    comeBack()
    await worker.acceptOperation(payment, { kind: 'capture', amountCents: null })
    worker.network.willFind(held)
    worker.network.willAnswer(approvedAndCaptured)
    await worker.work()
    expect(worker.network.asked).to.deep.equal(['query', 'capture 1000'])
    expect((await worker.load(payment)).progress.status).to.equal('captured')
  })

  it('looks once: after the horizon the next operation is an ordinary one', async () => {
    const payment = await paid('auto')
    comeBack()
    worker.clock.atMs += policy.notFoundHorizonMs
    await worker.acceptOperation(payment, { kind: 'cancel', amountCents: 300 })
    worker.network.willFind(captured(300))
    await worker.work()
    await worker.acceptOperation(payment, { kind: 'cancel', amountCents: 200 })
    worker.network.willAnswer(approvedAndCaptured)
    await worker.work()
    expect(worker.network.asked).to.deep.equal(['query', 'void 200'])
  })

  it('sends no refund beside one of before that may still arrive', async () => {
    const payment = await paid('auto')
    comeBack()
    worker.network.willFind(captured())
    await test.redis.xadd(keys.commands(PARTITION), '*', ...aWake(paymentKeyOf(payment.terms.id)))
    await worker.work()
    await worker.acceptOperation(payment, { kind: 'cancel', amountCents: 300 })
    worker.network.willFind(captured())
    await worker.work()
    // It arrives.
    worker.network.willFind(captured(300))
    await worker.wake(payment, (await worker.wakeUpOf(payment)) ?? 0)
    expect(worker.network.asked).to.deep.equal(['query', 'query', 'query'])
    expect((await worker.load(payment)).progress).to.deep.include({ status: 'partially_refunded', refundedCents: 300 })
  })

  it('compares a hold when it is woken for that, long before its window ends', async () => {
    const payment = await paid('manual')
    comeBack()
    worker.network.willFind(captured())
    await test.redis.xadd(keys.commands(PARTITION), '*', ...aWake(paymentKeyOf(payment.terms.id)))
    await worker.work()
    expect((await worker.load(payment)).progress).to.deep.include({
      status: 'captured',
      reviewReason: 'figures_differ'
    })
  })
})

describe('a payments worker whose clock differs from that of Redis by more than a minute', () => {
  const test = useRedis()

  it('leaves wake-ups to workers with the right time, and does what merchants ask', async () => {
    let isApart = false
    const worker = aWorker(test, ({ clock }) => ({ clock: { now: () => clock.now(), isApart: () => isApart } }))
    const payment = await worker.created('manual', approvedOnly)
    isApart = true
    const wake = aWake(paymentKeyOf(payment.terms.id), { dueAtMs: worker.clock.atMs + 30 * 86_400_000 })
    await test.redis.xadd(keys.commands(PARTITION), '*', ...wake)
    expect(await worker.handle(await worker.takeOne())).to.equal('left')
    expect(worker.network.asked).to.deep.equal(['authorise'])
    expect((await worker.load(payment)).progress.status).to.equal('pre_authorized')

    const left = await worker.takeOne()
    await worker.acceptOperation(payment, { kind: 'capture', amountCents: null })
    worker.network.willAnswer(approvedAndCaptured)
    expect(await worker.handle(await worker.takeOne())).to.equal('ended')
    expect((await worker.load(payment)).progress.status).to.equal('captured')
    isApart = false
    expect(await worker.handle(left)).to.equal('ended')
  })
})
