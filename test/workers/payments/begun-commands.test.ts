import { expect } from 'chai'
import type { CardSource } from '../../../machines/commands.js'
import { placeOf } from '../../../machines/model.js'
import { paymentWork } from '../../../redis/commands/work-kind.js'
import { keys, paymentKeyOf } from '../../../redis/keys.js'
import { takeoverRound } from '../../../workers/timers/rounds.js'
import { aCommandPath, aCreateRequest, aScope, type CommandPath } from '../../support/command-path.js'
import { approvedAndCaptured } from '../../support/fake-network.js'
import { PARTITION } from '../../support/payments.js'
import { useRedis } from '../../support/redis.js'
import { aWorker, type TestWorker } from '../../support/worker.js'

const STREAM = keys.commands(PARTITION)
const PARTITIONS = PARTITION + 1

describe('an authorisation', () => {
  const test = useRedis()
  afterEach(() => Promise.all([test.redis.flushdb(), test.secrets.flushdb()]))

  it('is begun once more by the same delivery, and counts as begun before for any other', async () => {
    const worker = aWorker(test)
    await worker.accept()
    const entry = await worker.takeOne()
    const begin = (name: string, version = 1) => worker.deps.commits.begin({ ...entry, delivery: `${name} 1` }, version)
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

  it('keeps its mark when another delivery of its command is released', async () => {
    const worker = aWorker(test)
    await worker.accept()
    const entry = await worker.takeOne()
    await worker.deps.commits.begin({ ...entry, delivery: 'mine 1' }, 1)
    await worker.deps.queue.release({ ...entry, delivery: 'other 1' })
    expect(Object.values(await begun())).to.deep.equal(['mine 1'])
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

  it('is reconciled within its time to be authorised when its command is lost', async () => {
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
})

const HOUR_MS = 3_600_000

describe('a create that no worker took for hours', () => {
  const test = useRedis()
  let path: CommandPath
  let worker: TestWorker
  beforeEach(async () => {
    await Promise.all([test.redis.flushdb(), test.secrets.flushdb()])
    path = await aCommandPath(test)
    worker = path.worker()
    worker.clock.atMs = Date.now() + 3 * HOUR_MS
  })

  const create = (source: CardSource, key = 'k1') => path.payments.create(aScope(key), aCreateRequest(source, '123'))

  it('fails by stored card: nothing is sent, and a repeated request gets the same result', async () => {
    const card = await path.storedCard()
    await create(card)
    await worker.work()
    expect(worker.network.asked).to.deep.equal([])
    const result = { kind: 'failed', code: 'authorization_overdue' }
    expect(await create(card)).to.deep.include({ kind: 'finished', result, isReplay: true })
    expect(await test.secrets.keys('cvv:*')).to.deep.equal([])
  })

  it('gives its token back', async () => {
    const token = await path.token()
    await create(token)
    await worker.work()
    expect(worker.network.asked).to.deep.equal([])
    expect((await path.tokens.peek(token.tokenId))?.owner).to.equal(null)
  })

  it('is reconciled when it was begun before: it may have been sent', async () => {
    const answer = await create(await path.storedCard())
    if (answer.kind !== 'in_progress') throw new Error(answer.kind)
    await worker.handle({ ...(await worker.beginOne()), delivery: 'another 1' })
    const stored = await path.deps.store.load(PARTITION, paymentKeyOf(answer.terms.id))
    expect(stored?.progress).to.deep.include({ status: 'unknown', error: null })
  })

  it('is sent up to the moment that it was accepted for', async () => {
    const answer = await create(await path.storedCard())
    if (answer.kind !== 'in_progress') throw new Error(answer.kind)
    worker.clock.atMs = answer.terms.createdAtMs + path.deps.config.authoriseWithinMs
    worker.network.willAnswer(approvedAndCaptured)
    await worker.work()
    expect(worker.network.asked).to.deep.equal(['authorise'])
  })
})
