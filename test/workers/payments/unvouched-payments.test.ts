/** What a worker does when the data came back, or when no clock can be trusted: it looks first, or waits. */
import { expect } from 'chai'
import { type Payment, placeOf } from '../../../machines/model.js'
import { encodeServiceCommand } from '../../../redis/commands/command-entry.js'
import { unreplicated } from '../../../redis/connection/writes.js'
import { keys, paymentKeyOf } from '../../../redis/keys.js'
import { VaultError } from '../../../vault/vault-error.js'
import { repeatUnvouchedRounds } from '../../../workers/payments/unvouched-rounds.js'
import type { WorkerDeps } from '../../../workers/payments/worker-deps.js'
import { until } from '../../support/conditions.js'
import { approvedAndCaptured, approvedOnly } from '../../support/fake-network.js'
import { aSale, aWake, CREATED_MS, DAY_MS, PARTITION } from '../../support/payments.js'
import { useRedis } from '../../support/redis.js'
import { aWorker, type TestWorker } from '../../support/worker.js'

const captured = (voidedCents = 0) => ({ kind: 'found', sales: [aSale({ voidedCents })] }) as const

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

  it('wakes a payment that is to be compared and has no wake-up: its list was moved away by hand', async () => {
    const payment = await paid('auto')
    comeBack()
    const paymentKey = paymentKeyOf(payment.terms.id)
    await test.redis.sadd(keys.unvouched(PARTITION), paymentKey)
    await test.redis.del(keys.reconcile(PARTITION))
    const stopping = new AbortController()
    const rounds = repeatUnvouchedRounds(worker.deps, unreplicated(test.redis), () => [PARTITION], stopping.signal)
    await until('it has a wake-up', async () => (await worker.wakeUpOf(payment)) !== null)
    stopping.abort()
    await rounds
    expect(await worker.wakeUpOf(payment)).to.equal(worker.clock.atMs)
  })

  it('looks for a refund also when an operator had the buyer erased, days later', async () => {
    const payment = await paid('auto')
    comeBack()
    worker.clock.atMs += 4 * DAY_MS
    const erase = encodeServiceCommand(payment.terms.id, { kind: 'erase_buyer' })
    await test.redis.xadd(keys.commands(PARTITION), '*', ...erase)
    await worker.work()
    expect((await worker.load(payment)).terms.customer.name).to.equal('erased')
    await worker.acceptOperation(payment, { kind: 'cancel', amountCents: 300 })
    worker.network.willFind(captured(300))
    await worker.work()
    expect(worker.network.asked).to.deep.equal(['query'])
    expect((await worker.load(payment)).progress).to.deep.include({ status: 'partially_refunded', refundedCents: 300 })
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
    expect(await worker.handle(await worker.takeOne())).to.equal('done')
    expect((await worker.load(payment)).progress.status).to.equal('captured')
    isApart = false
    expect(await worker.handle(left)).to.equal('done')
  })
})

/** A worker whose key file is of before the last rotation. */
const withOldKeys = ({ cardData }: WorkerDeps): Partial<WorkerDeps> => ({
  cardData: {
    ...cardData,
    open: () => Promise.reject(new VaultError('unknown_key', 'The box was sealed with a newer key.'))
  }
})

describe('a payments worker without the key of a card', () => {
  const test = useRedis()
  afterEach(() => test.redis.flushdb())

  it('leaves the sale to a worker that has the key: it is sent once', async () => {
    const old = aWorker(test, withOldKeys)
    const payment = await old.accept()
    await old.handle(await old.takeOne())
    expect(placeOf((await old.load(payment)).progress)).to.equal('pending')
    expect(old.released).to.deep.equal([])
    const current = aWorker(test)
    current.network.willAnswer(approvedAndCaptured)
    await current.work()
    expect(placeOf((await current.load(payment)).progress)).to.equal('captured')
    expect([old.network.asked, current.network.asked]).to.deep.equal([[], ['authorise']])
  })

  it('ends the sale unsent, and releases its token, when no worker with the key has come for a minute', async () => {
    const old = aWorker(test, withOldKeys)
    const payment = await old.accept()
    await old.handle(await old.takeOne())
    old.clock.atMs = CREATED_MS + 61_000
    await old.work()
    expect((await old.load(payment)).progress).to.include({ status: 'failed', error: 'card_unreadable' })
    expect(old.released).to.deep.equal([payment.terms.id])
    expect(old.network.asked).to.deep.equal([])
    expect(await old.left()).to.deep.equal({ commands: 0, letters: 0 })
  })
})
