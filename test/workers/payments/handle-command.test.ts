import { expect } from 'chai'
import { noReferences, type Payment, placeOf } from '../../../machines/model.js'
import { requeueCommand } from '../../../redis/commands/command-queue.js'
import { paymentWork } from '../../../redis/commands/work-kind.js'
import { keys, paymentKeyOf } from '../../../redis/keys.js'
import { encodePayment } from '../../../redis/payments/payment-record.js'
import { VaultError } from '../../../vault/vault-error.js'
import type { WorkerDeps } from '../../../workers/payments/worker-deps.js'
import { ambiguous, approvedAndCaptured, approvedOnly, notSent } from '../../support/fake-network.js'
import { aSale, aWake, CREATED_MS, PARTITION } from '../../support/payments.js'
import { useRedis } from '../../support/redis.js'
import { aWorker, type TestWorker } from '../../support/worker.js'

const foundCaptured = (capturedCents = 1_000) => ({ kind: 'found', sales: [aSale({ capturedCents })] }) as const
const foundHeld = { kind: 'found', sales: [aSale({ status: 'authorised', capturedCents: 0 })] } as const

/** A worker that meets damaged boxes. */
const withUnreadableCards = ({ cardData }: WorkerDeps): Partial<WorkerDeps> => ({
  cardData: {
    ...cardData,
    open: () => Promise.reject(new VaultError('damaged_box', 'The box was changed.'))
  }
})

/** A pre-authorised payment. */
async function held(worker: TestWorker): Promise<Payment> {
  const payment = await worker.created('manual', approvedOnly)
  return payment
}

describe('a payments worker and a new payment', () => {
  const test = useRedis()

  it('takes a new payment from its command, and reads it when it has changed on the way', async () => {
    let reads = 0
    const worker = aWorker(test, ({ payments }) => ({
      payments: {
        ...payments,
        loadForChange: (partition, paymentKey) => {
          reads++
          return payments.loadForChange(partition, paymentKey)
        }
      }
    }))
    worker.network.willAnswer(approvedAndCaptured, approvedAndCaptured)
    const readsFor = async (version: number): Promise<number> => {
      const payment = await worker.accept()
      const entry = await worker.takeOne()
      await test.redis.set(
        keys.payment(PARTITION, paymentKeyOf(payment.terms.id)),
        encodePayment({ ...payment, version })
      )
      reads = 0
      await worker.handle(entry)
      return reads
    }
    expect([await readsFor(1), await readsFor(2)]).to.deep.equal([0, 1])
  })

  it('does not begin a command that another worker ended while it was suspended', async () => {
    const sleeper = aWorker(test)
    const payment = await sleeper.accept()
    const entry = await sleeper.takeOne()
    const ended = { ...payment, version: 2, progress: { ...payment.progress, status: 'failed' as const } }
    await test.redis.set(keys.payment(PARTITION, paymentKeyOf(payment.terms.id)), encodePayment(ended))
    await sleeper.handle(entry)
    expect(sleeper.network.asked).to.deep.equal([])
    expect(placeOf((await sleeper.load(payment)).progress)).to.equal('failed')
  })
})

describe('a payments worker', () => {
  const test = useRedis()

  it('charges once, stores the result, and leaves nothing behind', async () => {
    const worker = aWorker(test)
    const payment = await worker.created('auto', approvedAndCaptured)
    expect(placeOf((await worker.load(payment)).progress)).to.equal('captured')
    expect((await worker.resultOf(payment.progress.operation.idempotencyKey))?.kind).to.equal('succeeded')
    expect(await worker.left()).to.deep.equal({ commands: 0, letters: 0 })
    expect(worker.network.asked).to.deep.equal(['authorise'])
    expect(worker.forgotten).to.deep.equal([payment.terms.id])
  })

  it('dates no entry of the history before the last one, also with a wrong clock', async () => {
    const worker = aWorker(test)
    const payment = await held(worker)
    const heldAtMs = (await worker.load(payment)).history.at(-1)?.atMs ?? 0
    worker.clock.atMs = heldAtMs - 500
    await worker.acceptOperation(payment, { kind: 'capture', amountCents: null })
    worker.network.willAnswer(approvedAndCaptured)
    await worker.work()
    const { progress, history } = await worker.load(payment)
    expect(progress).to.include({ status: 'captured', capturedAtMs: heldAtMs })
    expect(history.map(({ atMs }) => atMs)).to.deep.equal(history.map(({ atMs }) => atMs).sort())
  })

  it('releases what it has not begun when it is stopped: the next worker may begin it', async () => {
    const stopped = aWorker(test)
    const payment = await stopped.accept()
    await stopped.handle(await stopped.takeOne(), AbortSignal.abort())
    const worker = aWorker(test)
    worker.network.willAnswer(approvedAndCaptured)
    await worker.work()
    expect(placeOf((await worker.load(payment)).progress)).to.equal('captured')
    expect([stopped.network.asked, worker.network.asked]).to.deep.equal([[], ['authorise']])
    expect(await worker.left()).to.deep.equal({ commands: 0, letters: 0 })
  })

  it('sends nothing once its lock is lost, and leaves what it has begun to the next delivery', async () => {
    let isLost = false
    const losing = aWorker(test, ({ commits }) => ({
      lock: { withLock: (_, work) => work({ isLost: () => isLost, onLost: () => () => undefined }) },
      commits: {
        ...commits,
        commit: async (...args) => {
          const written = await commits.commit(...args)
          isLost = true
          return written
        }
      }
    }))
    const worker = aWorker(test)
    const payment = await held(worker)
    await worker.acceptOperation(payment, { kind: 'capture', amountCents: null })
    expect(await losing.handle(await losing.takeOne())).to.equal('done')
    expect(losing.network.asked).to.deep.equal([])
    expect(placeOf((await worker.load(payment)).progress)).to.equal('capturing.sending')
    await worker.work()
    expect(placeOf((await worker.load(payment)).progress)).to.equal('capturing.reconciling')
  })

  it('counts no delivery while a key has another type, before its call and after it', async () => {
    const worker = aWorker(test)
    const payment = await held(worker)
    const key = await worker.acceptOperation(payment, { kind: 'capture', amountCents: null })
    const outcomesWhileReplaced = async (): Promise<Set<string>> => {
      const outcomes = new Set<string>()
      for (let time = 0; time < 5; time++) outcomes.add(await worker.handle(await worker.takeOne()))
      await test.redis.del(keys.review(PARTITION))
      return outcomes
    }
    await test.redis.set(keys.review(PARTITION), 'no hash')
    expect([...(await outcomesWhileReplaced())]).to.deep.equal(['left'])
    worker.network.willAnswer(async () => {
      await test.redis.set(keys.review(PARTITION), 'no hash')
      return approvedAndCaptured
    })
    expect([...(await outcomesWhileReplaced())]).to.deep.equal(['done', 'left'])
    await worker.work()
    worker.network.willFind(foundCaptured())
    await worker.wake(payment, worker.clock.atMs + 10_000)
    expect((await worker.resultOf(key))?.kind).to.equal('succeeded')
    expect(worker.network.asked).to.deep.equal(['authorise', 'capture 1000', 'query'])
    expect(await worker.left()).to.deep.equal({ commands: 0, letters: 0 })
  })

  it('goes on when a commit was written whose answer was lost', async () => {
    const worker = aWorker(test, ({ commits }) => {
      let isFirst = true
      return {
        commits: {
          ...commits,
          commit: async (...args) => {
            const written = await commits.commit(...args)
            const isAnswered = !isFirst
            isFirst = false
            if (isAnswered) return written
            throw Object.assign(new Error('Connection is closed.'), { code: 'ECONNRESET' })
          }
        }
      }
    })
    const payment = await held(aWorker(test))
    const key = await worker.acceptOperation(payment, { kind: 'capture', amountCents: null })
    worker.network.willAnswer(approvedAndCaptured)
    await worker.work()
    expect((await worker.resultOf(key))?.kind).to.equal('succeeded')
    expect(worker.network.asked).to.deep.equal(['capture 1000'])
  })

  it('continues the capture of a create whose worker died', async () => {
    const dying = aWorker(test)
    const payment = await dying.accept()
    dying.network.willAnswer(approvedOnly, () => new Promise(() => undefined))
    const entry = await dying.takeOne()
    void dying.handle(entry)
    await dying.untilAsked('capture 1000')
    const worker = aWorker(test)
    await requeueCommand(test.redis, paymentWork, entry)
    await test.secrets.del(keys.lock(paymentKeyOf(payment.terms.id)))
    await worker.work()
    expect(placeOf((await worker.load(payment)).progress)).to.equal('capturing.reconciling')
    worker.network.willFind(foundHeld).willAnswer(approvedAndCaptured)
    await worker.wake(payment, CREATED_MS + 10_000)
    expect(placeOf((await worker.load(payment)).progress)).to.equal('captured')
    expect(worker.network.asked).to.deep.equal(['query', 'capture 1000'])
  })

  it('tries a call again that did not leave, for a while, and then fails it', async () => {
    const patient = aWorker(test, () => ({ networkRetryMs: 400 }))
    const first = await patient.created('auto', notSent, approvedAndCaptured)
    expect(placeOf((await patient.load(first)).progress)).to.equal('captured')
    const worker = aWorker(test)
    const second = await worker.created('auto', notSent)
    const { progress } = await worker.load(second)
    expect([progress.status, progress.error]).to.deep.equal(['failed', 'network_unavailable'])
    expect(worker.released).to.deep.equal([second.terms.id])
  })

  it('releases no token of a call without an answer: it may have charged the card', async () => {
    const worker = aWorker(test)
    await worker.created('auto', ambiguous)
    expect(worker.released).to.deep.equal([])
  })

  it('refuses at once what comes while a call is in flight, although the payment is locked', async () => {
    const worker = aWorker(test)
    const payment = await held(worker)
    let answer: () => void = () => undefined
    const running = new Promise<void>(resolve => {
      answer = resolve
    })
    worker.network.willAnswer(async () => {
      await running
      return approvedAndCaptured
    })
    const first = await worker.acceptOperation(payment, { kind: 'capture', amountCents: null })
    const capturing = worker.handle(await worker.takeOne())
    await worker.untilAsked('capture 1000')
    const second = await worker.acceptOperation(payment, { kind: 'cancel', amountCents: null })
    await worker.handle(await worker.takeOne())
    expect(await worker.resultOf(second)).to.deep.equal({ kind: 'refused', code: 'operation_in_progress' })
    answer()
    await capturing
    expect((await worker.resultOf(first))?.kind).to.equal('succeeded')
  })

  it('queries the network when its outcome meets a newer version: real money is never dropped', async () => {
    const [slow, other] = [aWorker(test), aWorker(test)]
    const payment = await held(slow)
    slow.network.willAnswer(async () => {
      // Meanwhile the command is taken over: the payment moves on without this worker.
      await test.secrets.del(keys.lock(paymentKeyOf(payment.terms.id)))
      await requeueCommand(test.redis, paymentWork, entry)
      await other.work()
      return approvedAndCaptured
    })
    slow.network.willFind(foundCaptured())
    await slow.acceptOperation(payment, { kind: 'capture', amountCents: null })
    const entry = await slow.takeOne()
    await slow.handle(entry)
    expect(placeOf((await slow.load(payment)).progress)).to.equal('captured')
    expect(slow.network.asked).to.deep.equal(['authorise', 'capture 1000', 'query'])
    expect(other.network.asked).to.deep.equal([])
  })
})

describe('a payments worker that cannot open the card', () => {
  const test = useRedis()

  for (const error of ['invalid_token', 'unknown_card'] as const) {
    it(`fails a payment whose card is gone, without a call: ${error}`, async () => {
      const worker = aWorker(test, deps => ({ cardData: { ...deps.cardData, open: async () => error } }))
      const payment = await worker.accept()
      await worker.work()
      expect((await worker.load(payment)).progress).to.include({ status: 'failed', error })
      expect(worker.network.asked).to.deep.equal([])
    })
  }

  it('fails a payment whose card data cannot be opened, without a call, and releases its token', async () => {
    const worker = aWorker(test, withUnreadableCards)
    const payment = await worker.accept()
    await worker.work()
    expect((await worker.load(payment)).progress).to.include({ status: 'failed', error: 'card_unreadable' })
    expect(worker.released).to.deep.equal([payment.terms.id])
    expect(worker.network.asked).to.deep.equal([])
    expect(await worker.left()).to.deep.equal({ commands: 0, letters: 0 })
  })

  it('reconciles a payment that was begun before and whose card data cannot be opened: it may have been sent', async () => {
    const worker = aWorker(test, withUnreadableCards)
    const payment = await worker.accept()
    await requeueCommand(test.redis, paymentWork, await worker.beginOne())
    await worker.work()
    expect(placeOf((await worker.load(payment)).progress)).to.equal('unknown')
    worker.network.willFind(foundCaptured())
    await worker.wake(payment, CREATED_MS + 10_000)
    expect(placeOf((await worker.load(payment)).progress)).to.equal('captured')
    expect(worker.network.asked).to.deep.equal(['query'])
  })
})

describe('a payments worker whose network gives no id of the sale', () => {
  const test = useRedis()

  it('queries it, and takes over a sale that is already captured', async () => {
    const worker = aWorker(test)
    const payment = await worker.accept()
    worker.network
      .willAnswer({ kind: 'approved', isCaptured: false, references: noReferences })
      .willFind(foundCaptured())
    await worker.work()
    expect(placeOf((await worker.load(payment)).progress)).to.equal('capturing.reconciling')
    worker.network.willFind(foundCaptured())
    await worker.wake(payment, CREATED_MS + 10_000)
    expect(placeOf((await worker.load(payment)).progress)).to.equal('captured')
    expect((await worker.resultOf(payment.progress.operation.idempotencyKey))?.kind).to.equal('succeeded')
  })
})

describe('a payments worker with a due wake-up', () => {
  const test = useRedis()

  it('counts the doubt about a call from the wake-up at the earliest, however slow its own clock is', async () => {
    const worker = aWorker(test)
    const payment = await held(worker)
    const dueMs = (await worker.wakeUpOf(payment)) ?? 0
    worker.network.willFind(foundHeld).willAnswer(ambiguous)
    const wake = aWake(paymentKeyOf(payment.terms.id), { dueAtMs: dueMs })
    await test.redis.xadd(keys.commands(PARTITION), '*', ...wake)
    await worker.work()
    expect((await worker.load(payment)).progress.reconciliation?.sinceMs).to.equal(dueMs)
  })

  it('forgets the wake-ups of a payment that needs none', async () => {
    const worker = aWorker(test)
    const paymentKey = paymentKeyOf((await worker.created('auto', approvedAndCaptured)).terms.id)
    const lists = [keys.due(PARTITION), keys.reconcile(PARTITION)]
    for (const list of lists) await test.redis.zadd(list, 1, paymentKey)
    await test.redis.xadd(keys.commands(PARTITION), '*', ...aWake(paymentKey, { dueAtMs: 1 }))
    await worker.work()
    expect(await Promise.all(lists.map(list => test.redis.zscore(list, paymentKey)))).to.deep.equal([null, null])
  })
})

describe('a command that fails again and again', () => {
  const test = useRedis()

  it('becomes a dead letter with its reason after some tries; its payment is listed, and verified later', async () => {
    const worker = aWorker(test)
    const payment = await worker.created('auto', approvedAndCaptured)
    const paymentKey = paymentKeyOf(payment.terms.id)
    await test.redis.xadd(keys.commands(PARTITION), '*', ...aWake(paymentKey))
    await aWorker(test, () => ({ lock: { withLock: () => Promise.reject(new Error('a fault')) } })).work()
    expect(await worker.left()).to.deep.equal({ commands: 0, letters: 1 })
    const [[, fields] = ['', []]] = await test.redis.xrange(keys.deadLetters(PARTITION), '-', '+')
    expect(fields?.join()).to.contain('delivered 3 times without a result')
    expect((await worker.load(payment)).progress).to.include({ status: 'captured', reviewReason: 'poisoned' })
    expect(await test.redis.hget(keys.review(PARTITION), paymentKey)).to.equal('poisoned')
    expect(await worker.wakeUpOf(payment)).to.be.above(worker.clock.atMs)
  })

  it('leaves its payment a wake-up when it was a query', async () => {
    const worker = aWorker(test)
    const payment = await worker.created('auto', ambiguous)
    const before = await worker.wakeUpOf(payment)
    await test.redis.zrem(keys.due(PARTITION), paymentKeyOf(payment.terms.id))
    const poisoned = aWake(paymentKeyOf(payment.terms.id), { deliveryCount: 3 })
    await test.redis.xadd(keys.commands(PARTITION), '*', ...poisoned)
    worker.clock.atMs = before ?? 0
    await worker.work()
    expect(await worker.left()).to.deep.equal({ commands: 0, letters: 1 + 1 })
    expect(await worker.wakeUpOf(payment)).to.be.above(before ?? 0)
    expect((await worker.load(payment)).progress).to.include({ status: 'unknown', reviewReason: 'poisoned' })
  })
})
