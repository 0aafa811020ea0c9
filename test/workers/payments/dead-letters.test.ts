import { expect } from 'chai'
import { listDeadLetters, replayDeadLetter, replayDeadLetters } from '../../../redis/commands/dead-letters.js'
import { keys, paymentKeyOf } from '../../../redis/keys.js'
import { encodePayment } from '../../../redis/payments/payment-record.js'
import { approvedAndCaptured } from '../../support/fake-network.js'
import { aSale, PARTITION, recordIdOf } from '../../support/payments.js'
import { useRedis } from '../../support/redis.js'
import { aWorker } from '../../support/worker.js'

const PARTITIONS = PARTITION + 1
const foundCaptured = { kind: 'found', sales: [aSale()] } as const

describe('a dead letter', () => {
  const test = useRedis()

  afterEach(() => test.redis.flushdb())

  for (const [when, names] of [
    ['before it began', 'loads'],
    ['after it began', 'commits']
  ] as const) {
    it(`is made of a command that failed five times ${when}`, async () => {
      let isBroken = false
      const fail = <Call extends (...given: never[]) => unknown>(call: Call) =>
        ((...given: Parameters<Call>) => (isBroken ? Promise.reject(new Error('a mistake')) : call(...given))) as Call
      const worker = aWorker(test, ({ payments, commits, deliveriesMax }) => ({
        payments: names === 'loads' ? { ...payments, loadForChange: fail(payments.loadForChange) } : payments,
        commits: names === 'commits' ? { ...commits, commit: fail(commits.commit) } : commits,
        deliveriesMax
      }))
      const payment = await worker.created('auto', approvedAndCaptured)
      await worker.acceptOperation(payment, { kind: 'cancel', amountCents: 300 })
      isBroken = true
      const counts: number[] = []
      for (let deliveries = 0; deliveries < 5; deliveries++) {
        const entry = await worker.takeOne()
        counts.push(entry.deliveryCount)
        await worker.handle(entry)
      }
      expect(counts).to.deep.equal([0, 1, 2, 3, 4])
      expect(await worker.left()).to.deep.equal({ commands: 1, letters: 0 })
      isBroken = false
      await worker.handle(await worker.takeOne())
      expect(await worker.left()).to.deep.equal({ commands: 0, letters: 1 })
    })
  }

  it('replayed after its request is forgotten does not refund again what was refunded meanwhile', async () => {
    const worker = aWorker(test)
    const payment = await worker.created('auto', approvedAndCaptured)
    const key = await worker.acceptOperation(payment, { kind: 'cancel', amountCents: 300 })
    await worker.handle({ ...(await worker.takeOne()), deliveryCount: 3 })
    expect(await worker.resultOf(key)).to.deep.equal({ kind: 'failed', code: 'network_unavailable' })

    await worker.acceptOperation(payment, { kind: 'cancel', amountCents: 300 })
    worker.network.willAnswer(approvedAndCaptured)
    await worker.work()
    // The days of IDEMPOTENCY_RETENTION_DAYS are over.
    await test.redis.del(keys.idempotency(PARTITION, recordIdOf(key)))
    const [letter] = await listDeadLetters(test.redis, PARTITIONS)
    await replayDeadLetter(test.redis, letter?.letterId ?? '')
    await worker.work()
    expect(worker.network.asked).to.deep.equal(['authorise', 'void 300'])
    expect((await worker.load(payment)).progress.refundedCents).to.equal(300)
    expect(await worker.left()).to.deep.equal({ commands: 0, letters: 0 })
  })

  it('of a payment that is still pending makes it unknown, although another worker wrote it meanwhile', async () => {
    let loads = 0
    const worker = aWorker(test, deps => ({
      payments: {
        ...deps.payments,
        load: async (partition, paymentKey) => {
          const payment = await deps.payments.load(partition, paymentKey)
          if (payment === null || loads++ > 0) return payment
          const next = { ...payment, version: payment.version + 1 }
          await test.redis.set(keys.payment(partition, paymentKey), encodePayment(next))
          return payment
        }
      }
    }))
    const payment = await worker.accept()
    await worker.handle({ ...(await worker.takeOne()), deliveryCount: 3 })
    expect((await worker.load(payment)).progress).to.include({ status: 'unknown', reviewReason: 'poisoned' })
    expect(await worker.wakeUpOf(payment)).to.be.above(worker.clock.atMs)
    expect(await test.redis.hget(keys.review(PARTITION), paymentKeyOf(payment.terms.id))).to.equal('poisoned')
    expect(await worker.left()).to.deep.equal({ commands: 0, letters: 1 })
  })

  it('of workers that died leaves its payment off the list once its outcome is known, before or after the replay', async () => {
    const worker = aWorker(test)
    const payments = [await worker.accept(), await worker.accept(), await worker.accept()]
    // The first was sent before its worker died.
    for (const entry of await worker.take()) await worker.handle({ ...entry, deliveryCount: 3 })
    expect(await reviews()).to.deep.equal(payments.map(() => 'poisoned'))
    const [first, ...others] = payments
    if (first === undefined) throw new Error('unreachable')
    worker.network.willFind(foundCaptured)
    await worker.wake(first, (await worker.wakeUpOf(first)) ?? 0)
    expect(await reviews()).to.have.lengthOf(2)
    expect(await replayDeadLetters(test.redis, PARTITIONS, { kind: 'wake' })).to.equal(0)
    expect(await replayDeadLetters(test.redis, PARTITIONS, { reason: 'damaged' })).to.equal(0)
    expect(await replayDeadLetters(test.redis, PARTITIONS, { kind: 'create', reason: 'without a result' })).to.equal(3)
    await worker.work()
    expect(await worker.left()).to.deep.equal({ commands: 0, letters: 0 })
    for (const payment of others) {
      worker.network.willFind(foundCaptured)
      await worker.wake(payment, (await worker.wakeUpOf(payment)) ?? 0)
    }
    expect(await reviews()).to.deep.equal([])
    expect(worker.network.asked.filter(call => call === 'authorise')).to.deep.equal([])
  })

  const reviews = async (): Promise<string[]> => Object.values(await test.redis.hgetall(keys.review(PARTITION)))
})
