import { expect } from 'chai'
import { placeOf } from '../../../machines/model.js'
import type { CommandEntry } from '../../../redis/commands/command-entry.js'
import { ensureGroups, paymentWork } from '../../../redis/commands/command-stream.js'
import { keys, PAYMENTS_GROUP, paymentKeyOf } from '../../../redis/keys.js'
import { takeoverRound } from '../../../workers/timers/rounds.js'
import { approvedAndCaptured, approvedOnly } from '../../support/fake-network.js'
import { aSale, PARTITION } from '../../support/payments.js'
import { useRedis } from '../../support/redis.js'
import { aWorker, type TestWorker } from '../../support/worker.js'

const STREAM = keys.commands(PARTITION)
const PARTITIONS = PARTITION + 1
const found = { kind: 'found', sales: [aSale()] } as const

/** What makes the group deliver again what it has delivered: by mistake, or in a copy of the data without it. */
const LOSSES = {
  'was destroyed': async (redis: ReturnType<typeof useRedis>['redis']) => {
    await redis.xgroup('DESTROY', STREAM, PAYMENTS_GROUP)
    await ensureGroups(redis, PARTITIONS, paymentWork)
  },
  'was set back': async (redis: ReturnType<typeof useRedis>['redis']) => {
    await redis.xgroup('SETID', STREAM, PAYMENTS_GROUP, '0')
  }
} as const

describe('a command whose consumer group', () => {
  const test = useRedis()
  afterEach(() => Promise.all([test.redis.flushdb(), test.secrets.flushdb()]))

  /** A worker that dies during the call, which the network books. */
  const dying = async (worker: TestWorker, entry: CommandEntry, call: string): Promise<void> => {
    worker.network.willAnswer(() => new Promise(() => undefined))
    void worker.handle(entry)
    await worker.untilAsked(call)
    await test.secrets.flushdb()
  }

  for (const [loss, lose] of Object.entries(LOSSES)) {
    it(`${loss} is not authorised again: the network is asked`, async () => {
      const [dead, worker] = [aWorker(test, undefined, 'dead'), aWorker(test, undefined, 'other')]
      const payment = await dead.accept()
      await dying(dead, await dead.takeOne(), 'authorise')
      await lose(test.redis)
      await worker.work()
      expect(placeOf((await worker.load(payment)).progress)).to.equal('unknown')
      worker.network.willFind(found)
      await worker.wake(payment, worker.clock.atMs + 10_000)
      expect(placeOf((await worker.load(payment)).progress)).to.equal('captured')
      expect(worker.network.asked).to.deep.equal(['query'])
    })

    it(`${loss} is not called overdue when it was begun, however old it is`, async () => {
      const [dead, worker] = [aWorker(test, undefined, 'dead'), aWorker(test, undefined, 'other')]
      const payment = await dead.accept()
      await dying(dead, await dead.takeOne(), 'authorise')
      await lose(test.redis)
      worker.clock.atMs += 3 * 3_600_000
      await worker.work()
      expect((await worker.load(payment)).progress).to.include({ status: 'unknown', error: null })
      worker.network.willFind(found)
      await worker.wake(payment, worker.clock.atMs + 10_000)
      expect(placeOf((await worker.load(payment)).progress)).to.equal('captured')
    })

    it(`${loss} does not fail for its card, which the dead worker had used up`, async () => {
      const dead = aWorker(test, undefined, 'dead')
      const worker = aWorker(test, ({ cardData }) => ({ cardData: { ...cardData, open: async () => 'invalid_token' } }))
      const payment = await dead.accept()
      await dying(dead, await dead.takeOne(), 'authorise')
      await lose(test.redis)
      await worker.work()
      expect((await worker.load(payment)).progress).to.include({ status: 'unknown', error: null })
    })

    it(`${loss} is authorised when no worker had begun it`, async () => {
      const [idle, worker] = [aWorker(test, undefined, 'idle'), aWorker(test, undefined, 'other')]
      const payment = await idle.accept()
      const held = await idle.takeOne()
      await lose(test.redis)
      worker.network.willAnswer(approvedAndCaptured)
      await worker.work()
      await idle.handle(held)
      expect(placeOf((await worker.load(payment)).progress)).to.equal('captured')
      expect([...worker.network.asked, ...idle.network.asked]).to.deep.equal(['authorise'])
    })

    it(`${loss} is abandoned by a worker that no longer holds it`, async () => {
      const [first, second] = [aWorker(test, undefined, 'first'), aWorker(test, undefined, 'second')]
      const payment = await first.accept()
      const held = await first.takeOne()
      await lose(test.redis)
      const again = await second.takeOne()
      await first.handle(held)
      expect(first.network.asked).to.deep.equal([])
      second.network.willAnswer(approvedAndCaptured)
      await second.handle(again)
      expect(second.network.asked).to.deep.equal(['authorise'])
      expect(placeOf((await second.load(payment)).progress)).to.equal('captured')
    })

    it(`${loss} refunds once, also when the refund was concluded meanwhile`, async () => {
      const [first, second] = [aWorker(test, undefined, 'first'), aWorker(test, undefined, 'second')]
      const payment = await first.created('auto', approvedAndCaptured)
      const key = await first.acceptOperation(payment, { kind: 'cancel', amountCents: 300 })
      await dying(first, await first.takeOne(), 'void 300')
      // The payment is found in flight for too long, and its refund is booked.
      second.network.willFind({ kind: 'found', sales: [aSale({ voidedCents: 300 })] })
      await second.fire(payment)
      await second.fire(payment)
      expect((await second.resultOf(key))?.kind).to.equal('succeeded')
      await lose(test.redis)
      await second.work()
      expect([...first.network.asked, ...second.network.asked].filter(call => call === 'void 300')).to.have.length(1)
      expect((await second.load(payment)).progress.refundedCents).to.equal(300)
      expect(await second.left()).to.deep.equal({ commands: 0, letters: 0 })
    })
  }

  it('exists is requested again by the same delivery, and counts as begun before for any other', async () => {
    const worker = aWorker(test)
    await worker.accept()
    const entry = await worker.takeOne()
    const begin = (delivery: string, version = 1) => worker.deps.commits.begin({ ...entry, delivery }, version)
    expect(await begin('mine')).to.equal('begun')
    expect(await begin('mine')).to.equal('begun')
    expect(await begin('other')).to.equal('begun_before')
    expect(await begin('')).to.equal('begun_before')
    expect(await begin('mine', 2)).to.equal('changed')
    expect(await worker.deps.commits.begin({ ...entry, consumer: 'another' }, 1)).to.equal('taken_over')
  })
})

describe('a payment that was begun', () => {
  const test = useRedis()
  afterEach(() => Promise.all([test.redis.flushdb(), test.secrets.flushdb()]))
  const begun = () => test.redis.hgetall(keys.begun(PARTITION))

  it('is marked until it has its status', async () => {
    const worker = aWorker(test)
    const payment = await worker.accept()
    let during: Readonly<Record<string, string>> = {}
    worker.network.willAnswer(async () => {
      during = await begun()
      return approvedAndCaptured
    })
    const entry = await worker.takeOne()
    await worker.handle(entry)
    expect(during).to.deep.equal({ [paymentKeyOf(payment.terms.id)]: entry.delivery })
    expect(await begun()).to.deep.equal({})
  })

  it('counts the death of its worker; a command that was only delivered does not', async () => {
    const [dead, worker] = [aWorker(test, undefined, 'dead'), aWorker(test, undefined, 'other')]
    await dead.accept()
    const [first] = await dead.take()
    if (first === undefined) throw new Error('no command')
    dead.network.willAnswer(() => new Promise(() => undefined))
    void dead.handle(first)
    await dead.untilAsked('authorise')
    await dead.accept()
    await dead.take()
    await takeoverRound(test.redis, paymentWork, PARTITIONS, new Set(['other']), () => undefined)
    const counts = (await worker.take()).map(({ deliveryCount, paymentKey }) => [paymentKey, deliveryCount])
    expect(Object.fromEntries(counts)).to.have.property(first.paymentKey, 1)
    expect(counts.map(([, count]) => count).sort()).to.deep.equal([0, 1])
  })

  it('waits while a permission is missing, without counting it as a failure', async () => {
    let refusals = 0
    const worker = aWorker(test, ({ commits }) => ({
      commits: {
        ...commits,
        commit: async (write, partition) => {
          if (refusals++ < 5) throw new Error('NOPERM this user has no permissions to run the command')
          return await commits.commit(write, partition)
        }
      }
    }))
    const payment = await worker.accept()
    worker.network.willAnswer(approvedAndCaptured)
    await worker.handle(await worker.takeOne())
    expect(placeOf((await worker.load(payment)).progress)).to.equal('captured')
    expect(worker.network.asked).to.deep.equal(['authorise'])
    expect(await worker.left()).to.deep.equal({ commands: 0, letters: 0 })
  })

  it('is found within its time to be authorised when its command is lost, and the network is asked', async () => {
    const [dead, timers] = [aWorker(test, undefined, 'dead'), aWorker(test, undefined, 'other')]
    const payment = await dead.accept()
    dead.network.willAnswer(() => new Promise(() => undefined))
    void dead.handle(await dead.takeOne())
    await dead.untilAsked('authorise')
    await test.secrets.flushdb()
    await test.redis.xtrim(STREAM, 'MAXLEN', 0)
    await timers.fire(payment)
    expect((await timers.load(payment)).progress.status).to.equal('unknown')
  })

  it('whose command is lost before it began fails, because nothing was sent', async () => {
    const worker = aWorker(test)
    const payment = await worker.accept()
    await test.redis.xtrim(STREAM, 'MAXLEN', 0)
    await worker.fire(payment)
    expect((await worker.load(payment)).progress).to.include({ status: 'failed', error: 'authorization_overdue' })
    expect(await worker.resultOf(payment.progress.operation.idempotencyKey)).to.deep.equal({
      kind: 'failed',
      code: 'authorization_overdue'
    })
  })

  it('with a capture whose command is lost is reconciled', async () => {
    const [dead, worker] = [aWorker(test, undefined, 'dead'), aWorker(test, undefined, 'other')]
    const payment = await dead.accept('manual')
    dead.network.willAnswer(approvedOnly, () => new Promise(() => undefined))
    await dead.work()
    await dead.acceptOperation(payment, { kind: 'capture', amountCents: null })
    void dead.handle(await dead.takeOne())
    await dead.untilAsked('capture 1000')
    await test.secrets.flushdb()
    await test.redis.xtrim(STREAM, 'MAXLEN', 0)
    await worker.fire(payment)
    expect(placeOf((await worker.load(payment)).progress)).to.equal('capturing.reconciling')
  })
})
