import { expect } from 'chai'
import type { RequestScope } from '../../../api/payments/payments-port.js'
import type { CardSource } from '../../../machines/commands.js'
import { requeueCommand } from '../../../redis/commands/command-queue.js'
import { paymentWork } from '../../../redis/commands/work-kind.js'
import { RedisUnavailable } from '../../../redis/connection/redis-errors.js'
import { idempotencyRecordIdOf, keys, partitionOf } from '../../../redis/keys.js'
import { aCommandPath, aCreateRequest, aScope, type CommandPath } from '../../support/command-path.js'
import { until } from '../../support/conditions.js'
import { ambiguous, approvedAndCaptured, notSent } from '../../support/fake-network.js'
import { aSale, DAY_MS, PARTITION } from '../../support/payments.js'
import { useRedis } from '../../support/redis.js'

type TokenSource = CardSource & { type: 'token' }

describe('the token of a request', () => {
  const test = useRedis()
  let path: CommandPath
  beforeEach(async () => {
    await Promise.all([test.redis.flushdb(), test.secrets.flushdb()])
    path = await aCommandPath(test)
  })

  const answerTo = (source: CardSource, key: string, body?: string) =>
    path.payments.create(aScope(key, body), aCreateRequest(source))
  const create = (source: CardSource, key: string, body?: string) =>
    answerTo(source, key, body).then(
      ({ kind }) => kind,
      ({ code }) => code
    )
  const ownerOf = async ({ tokenId }: TokenSource) => (await path.tokens.peek(tokenId))?.owner

  it('can be used with a new key after a conflict, before and after the payment of the first key ends', async () => {
    const worker = path.worker()
    const token = await path.token()
    await create(token, 'k1')
    const next = await path.token()
    expect(await create(next, 'k1', 'another')).to.equal('conflict')
    expect(await ownerOf(next)).to.equal(null)
    worker.network.willAnswer(approvedAndCaptured)
    await worker.work()
    expect(await create(next, 'k1', 'another')).to.equal('conflict')
    expect(await create(next, 'k2', 'another')).to.equal('in_progress')
  })

  it('stays with a payment that needs it, for every other request with its key', async () => {
    const worker = path.worker()
    const token = await path.token()
    const answers = await Promise.all(['a', 'b', 'c', 'a'].map(body => create(token, 'k1', body)))
    expect(answers.filter(answer => answer === 'in_progress')).to.have.length(1)
    for (const body of ['a', 'b', 'c']) await create(token, 'k1', body)
    expect(await create(token, 'k2')).to.equal('invalid_token')
    worker.network.willAnswer(approvedAndCaptured)
    await worker.work()
    expect(worker.network.asked).to.deep.equal(['authorise'])
  })

  for (const [name, outcome] of Object.entries({ approvedAndCaptured, ambiguous })) {
    it(`stays used up when the network has seen it: ${name}`, async () => {
      const worker = path.worker()
      const token = await path.token()
      await create(token, 'k1')
      // As if the worker had died after its call: the token was not removed.
      path.tokens.drop = async () => undefined
      worker.network.willAnswer(outcome)
      await worker.work()
      for (const body of ['body', 'another']) await create(token, 'k1', body)
      expect(await create(token, 'k2')).to.equal('invalid_token')
    })
  }

  it('is released by a repeat of the request, when the process died before the release', async () => {
    await create(await path.token(), 'k1')
    const token = await path.token()
    const { release } = path.tokens
    path.tokens.release = async () => await Promise.reject(new Error('Connection is closed.'))
    expect(await create(token, 'k1', 'another')).to.equal('conflict')
    expect(await create(token, 'k2', 'another')).to.equal('invalid_token')
    path.tokens.release = release
    expect(await create(token, 'k1', 'another')).to.equal('conflict')
    expect(await create(token, 'k2', 'another')).to.equal('in_progress')
  })

  it('leaves no CVV behind', async () => {
    const card = await path.storedCard()
    await path.payments.create(aScope('k1'), aCreateRequest(card, '123'))
    await path.payments.create(aScope('k1', 'another'), aCreateRequest(card, '123'))
    expect(await test.secrets.keys('cvv:*')).to.have.length(1)
  })

  it('of an authorisation that did not leave pays under a new key, also after the first request was repeated', async () => {
    const worker = path.worker()
    const token = await path.token()
    await create(token, 'k1')
    worker.network.willAnswer(notSent)
    await worker.work()
    const failed = { kind: 'finished', result: { kind: 'failed', code: 'network_unavailable' }, isReplay: true }
    expect(await answerTo(token, 'k1')).to.deep.include(failed)
    expect(await answerTo(token, 'k1')).to.deep.include(failed)
    await create(token, 'k2')
    worker.network.willAnswer(approvedAndCaptured)
    await worker.work()
    expect(await answerTo(token, 'k2')).to.have.nested.property('result.progress.status', 'captured')
    expect(await create(token, 'k3')).to.equal('invalid_token')
  })

  it('of an authorisation that did not leave is not charged twice when the worker dies before it commits the result', async () => {
    const dying = path.worker()
    const token = await path.token()
    await create(token, 'k1')
    const entry = await dying.takeOne()
    dying.network.willAnswer(notSent)
    const { commit } = dying.deps.commits
    dying.deps.commits.commit = () => new Promise(() => undefined)
    void dying.handle(entry)
    const isFree = async () => (await path.tokens.peek(token.tokenId))?.owner === null
    await until('the token is released', isFree)
    // The worker is dead, its lock has run out, and its entry is redelivered.
    dying.deps.commits.commit = commit
    await test.secrets.del(keys.lock(entry.paymentKey))
    await requeueCommand(test.redis, paymentWork, { ...entry, deliveryCount: 1 })
    await create(token, 'k2')
    const worker = path.worker()
    worker.network.willAnswer(approvedAndCaptured)
    await worker.work()
    // A worker had the first command: it may have sent it, so the payment is reconciled and never sent.
    expect(worker.network.asked).to.deep.equal(['authorise'])
    expect(await answerTo(token, 'k1')).to.have.nested.property('progress.status', 'unknown')
    expect(await answerTo(token, 'k2')).to.have.nested.property('result.progress.status', 'captured')
  })
})

describe('payment requests:', () => {
  const test = useRedis()
  let path: CommandPath
  beforeEach(async () => {
    await Promise.all([test.redis.flushdb(), test.secrets.flushdb()])
    path = await aCommandPath(test)
  })

  it('a payment by stored card is not sent without the CVV that came with it, when that is lost', async () => {
    const worker = path.worker()
    const card = await path.storedCard()
    const create = (key: string) => path.payments.create(aScope(key), aCreateRequest(card, '123'))
    await create('k1')
    // The memory-only Redis is started anew.
    await test.secrets.flushdb()
    await worker.work()
    expect(worker.network.asked).to.deep.equal([])
    expect(await create('k1')).to.deep.include({ result: { kind: 'failed', code: 'invalid_token' } })
    await create('k2')
    worker.network.willAnswer(approvedAndCaptured)
    await worker.work()
    expect(await create('k2')).to.have.nested.property('result.progress.status', 'captured')
  })

  it('a payment by a stored card that is expired is refused before it is accepted, as an issuer would decline it', async () => {
    const create = (source: CardSource) => path.payments.create(aScope('k1'), aCreateRequest(source))
    const refusal = await create(await path.storedCard('2020')).then(
      () => expect.fail('it was accepted'),
      ({ code, more }) => ({ code, more })
    )
    expect(refusal).to.deep.equal({
      code: 'card_expired',
      more: { decline_reason: 'expired_card', may_retry: false }
    })
    // The key is not used: another card can take it.
    expect(await create(await path.storedCard())).to.include({ kind: 'in_progress' })
  })

  it('4.2: the window of a new payment is that of the brand of its card, else that of all brands', async () => {
    for (const [byName, days] of [
      [{ visa: 5, elo: 15 }, 5],
      [{ elo: 15 }, 7]
    ] as const) {
      path = await aCommandPath(test, ({ config }) => ({
        config: { ...config, preauthTtlDays: { days: 7, byName } }
      }))
      const created = await path.payments.create(aScope(`k${days}`), aCreateRequest(await path.token()))
      expect(created).to.have.nested.property('terms.card.brand', 'visa')
      expect(created).to.have.nested.property('terms.preauthTtlMs', days * DAY_MS)
    }
  })

  it('a payment whose stored card is erased before it was sent fails without a call, keeps no CVV, and answers that the card does not exist', async () => {
    const worker = path.worker()
    const card = await path.storedCard()
    const create = (key: string) => path.payments.create(aScope(key), aCreateRequest(card, '123'))
    await create('k1')
    expect(await path.deps.cards.erase(aScope('').merchantId, card.cardId)).to.equal(true)
    await worker.work()
    expect(worker.network.asked).to.deep.equal([])
    const answer = await create('k1').catch((error: unknown) => error)
    expect(answer).to.deep.include({ result: { kind: 'failed', code: 'unknown_card' }, isReplay: true })
    expect(await test.secrets.keys('cvv:*')).to.deep.equal([])
    expect(await create('k2').catch((error: unknown) => error)).to.include({ code: 'unknown_card' })
  })

  it('a payment whose stored card is erased after it was sent ends as the card network says', async () => {
    const worker = path.worker()
    const card = await path.storedCard()
    worker.network.willAnswer({ kind: 'ambiguous', reason: 'timeout' })
    const created = await path.payments.create(aScope('k1'), aCreateRequest(card, '123'))
    if (created.kind !== 'in_progress') throw new Error(created.kind)
    await worker.work()
    await path.deps.cards.erase(aScope('').merchantId, card.cardId)
    worker.network.willFind({ kind: 'found', sales: [aSale()] })
    const read = async () => await path.payments.read(aScope('').merchantId, created.terms.id)
    const before = await read()
    if (before === null) throw new Error('the payment is gone')
    await worker.wake(before, before.terms.createdAtMs + 10_000)
    expect((await read())?.progress.status).to.equal('captured')
  })

  it('a create while the memory-only Redis is unavailable is replayed when it is finished, is a conflict with another body, and is refused when it is new', async () => {
    const worker = path.worker()
    const [token, card] = [await path.token(), await path.storedCard()]
    const create = async (key: string, source: CardSource, body?: string) =>
      await path.payments.create(aScope(key, body), aCreateRequest(source, source.type === 'card' ? '123' : null))
    worker.network.willAnswer(approvedAndCaptured, approvedAndCaptured)
    await create('k1', token)
    await create('k2', card)
    await worker.work()
    const isAway = () => Promise.reject(new RedisUnavailable('away'))
    Object.assign(path.tokens, { claim: isAway, putCvv: isAway })
    for (const [key, source] of [
      ['k1', token],
      ['k2', card]
    ] as const) {
      const replayed = await create(key, source)
      if (replayed.kind !== 'finished') throw new Error(replayed.kind)
      expect(replayed).to.have.nested.property('result.progress.status', 'captured')
      expect(replayed).to.have.property('isReplay', true)
      expect(await create(key, source, 'another')).to.deep.equal({
        kind: 'conflict',
        paymentId: replayed.terms.id
      })
      const failure = await create(`new ${key}`, source).catch((error: unknown) => error)
      expect(failure).to.be.instanceOf(RedisUnavailable)
    }
  })

  it('4.4: reading a payment does not find payments of another merchant in the same partition', async () => {
    const { merchantId } = aScope('k1')
    const created = await path.payments.create(aScope('k1'), aCreateRequest(await path.token()))
    if (created.kind !== 'in_progress') throw new Error(created.kind)
    const { id } = created.terms
    const isNeighbour = (other: string): boolean =>
      other !== merchantId && partitionOf(other, PARTITION + 1) === PARTITION
    const neighbour = Array.from({ length: 100 }, (_, n) => `m_${n}`).find(isNeighbour) ?? ''
    expect(await path.payments.read(merchantId, id)).to.have.nested.property('terms.id', id)
    expect(await path.payments.read(neighbour, id)).to.equal(null)
  })

  it('5.1: an Idempotency-Key is kept for the configured days by a capture or refund, before and after it ends, and for ever by a create', async () => {
    path = await aCommandPath(test, ({ config }) => ({ config: { ...config, idempotencyRetentionDays: 45 } }))
    const lifeMs = ({ merchantId, idempotencyKey }: RequestScope) =>
      test.redis.pttl(keys.idempotency(PARTITION, idempotencyRecordIdOf(merchantId, idempotencyKey)))
    const [ofCreate, ofRefund, ofCapture] = [aScope('a'), aScope('b'), aScope('c')]
    const worker = path.worker()
    const created = await path.payments.create(ofCreate, aCreateRequest(await path.token()))
    if (created.kind !== 'in_progress') throw new Error(created.kind)
    const { id } = created.terms
    worker.network.willAnswer(approvedAndCaptured, approvedAndCaptured)
    await worker.work()
    await path.payments.cancel(ofRefund, id, 100)
    await path.payments.capture(ofCapture, id, null)
    for (const when of ['accepted', 'ended']) {
      expect(await lifeMs(ofCreate), when).to.equal(-1)
      expect(await lifeMs(ofRefund), when).to.be.within(44.9 * DAY_MS, 45 * DAY_MS)
      expect(await lifeMs(ofCapture), when).to.be.within(44.9 * DAY_MS, 45 * DAY_MS)
      await worker.work()
    }
    expect(await path.payments.cancel(ofRefund, id, 100)).to.have.property('kind', 'finished')
    expect(await path.payments.capture(ofCapture, id, null)).to.have.nested.property('result.kind', 'refused')
  })

  it('a request whose payment ends while it is answered gets the result, never 202 with a payment that is final: a create, and its repeat', async () => {
    let beforeLoad = async (): Promise<void> => undefined
    path = await aCommandPath(test, ({ store }) => ({
      store: {
        ...store,
        load: async (partition, paymentKey) => {
          await beforeLoad()
          return await store.load(partition, paymentKey)
        }
      }
    }))
    const worker = path.worker()
    const create = async (key: string, source: CardSource) => path.payments.create(aScope(key), aCreateRequest(source))
    const captured = async (): Promise<void> => {
      worker.network.willAnswer(approvedAndCaptured)
      await worker.work()
    }
    const [first, second] = [await path.token(), await path.token()]
    await create('k1', first)
    beforeLoad = captured
    expect(await create('k1', first)).to.deep.include({ kind: 'finished', isReplay: true })
    expect(await create('k2', second)).to.deep.include({ kind: 'finished', isReplay: false })
  })
})
