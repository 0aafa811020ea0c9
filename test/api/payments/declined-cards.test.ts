import { expect } from 'chai'
import { reportingDamage } from '../../../api/payments/damaged-payments.js'
import { createPayments } from '../../../api/payments/submit.js'
import { noReferences } from '../../../machines/model.js'
import { CARD_DECLINES_MAX } from '../../../machines/stored-card-retries.js'
import { listDeadLetters } from '../../../redis/commands/dead-letters.js'
import { keys, paymentKeyOf } from '../../../redis/keys.js'
import { DamagedPayment } from '../../../redis/payments/payment-record.js'
import { createLogger } from '../../../runtime/log.js'
import { noteDecline } from '../../../workers/payments/note-decline.js'
import { aCommandPath, aCreateRequest, aScope, type CommandPath } from '../../support/command-path.js'
import { approvedAndCaptured } from '../../support/fake-network.js'
import { aPayment, DAY_MS, PARTITION } from '../../support/payments.js'
import { useRedis } from '../../support/redis.js'
import { aWorker } from '../../support/worker.js'

describe('a payment by a stored card that the issuer has declined', () => {
  const test = useRedis()
  beforeEach(() => Promise.all([test.redis.flushdb(), test.secrets.flushdb()]))

  /** Pays with a card that is declined with each code in turn. Resolves to the refusal of the next payment, or to its kind. */
  async function afterDeclines(codes: readonly string[], environment: 'test' | 'live' = 'test') {
    await test.redis.flushdb()
    const path = await aCommandPath(test, ({ config }) => ({ config: { ...config, environment } }))
    const worker = path.worker()
    worker.clock.atMs = Date.now()
    const card = await path.storedCard()
    for (const [at, code] of codes.entries()) {
      worker.network.willAnswer({ kind: 'declined', code, references: noReferences })
      await path.payments.create(aScope(`k${at}`), aCreateRequest(card, '123'))
      await worker.work()
    }
    const sent = worker.network.asked.length
    const answer = await path.payments.create(aScope('next'), aCreateRequest(card, '123')).then(
      ({ kind }) => kind,
      ({ code, more }) => ({ code, decline_reason: more.decline_reason, may_retry: more.may_retry })
    )
    return { sent, answer, path, worker, card }
  }

  it('for good, is refused unsent with the same reason; another card is taken, and a repeat finds its payment', async () => {
    const { answer, path, worker, sent, card } = await afterDeclines(['77'])
    expect(answer).to.deep.equal({ code: 'card_declined', decline_reason: 'blocked_card', may_retry: false })
    await worker.work()
    expect(worker.network.asked.length).to.equal(sent)
    expect(await path.payments.create(aScope('k0'), aCreateRequest(card, '123'))).to.include({
      kind: 'finished',
      isReplay: true
    })
    expect(await path.payments.create(aScope('other'), aCreateRequest(await path.storedCard(), '123'))).to.include({
      kind: 'in_progress'
    })
    const [declines] = await test.redis.keys('*:declines:*')
    expect(await test.redis.pttl(declines ?? '')).to.be.within(1, 30 * DAY_MS)
  })

  it('is unknown to another merchant', async () => {
    const { path, card } = await afterDeclines(['77'])
    const scope = { ...aScope('next'), merchantId: 'm_0000000099' }
    const refusal = await path.payments.create(scope, aCreateRequest(card, '123')).catch(({ code }) => code)
    expect(refusal).to.equal('unknown_card')
  })

  it('is noted only when the payment has failed by it, and never fails the payment', async () => {
    const noted: string[] = []
    const note = async (_merchant: string, card: string): Promise<void> => {
      noted.push(card)
      throw new Error('Redis is away.')
    }
    const { deps } = aWorker(test, () => ({ cardDeclines: { note } }))
    for (const status of ['failed', 'pre_authorized'] as const) {
      for (const cardId of ['card-1', null]) {
        const terms = { card: { brand: 'visa', last4: '0052', cardId } }
        await noteDecline(aPayment({ terms, progress: { status, error: 'card_declined' } }), deps)
      }
    }
    expect(noted).to.deep.equal(['card-1'])
  })

  it('counts a decline that cannot be read as a try, and never fails for it', async () => {
    const { path, card } = await afterDeclines(Array<string>(CARD_DECLINES_MAX - 1).fill('05'))
    const [declines = ''] = await test.redis.keys('*:declines:*')
    await test.redis.zadd(declines, Date.now(), 'damaged')
    const refusal = await path.payments.create(aScope('more'), aCreateRequest(card, '123')).catch(({ code }) => code)
    expect(refusal).to.equal('card_declined')
  })

  it('for an expiry is refused as such; for a wrong security code, or for a while, it is sent again', async () => {
    expect((await afterDeclines(['57'])).answer).to.include({ code: 'card_expired', may_retry: false })
    for (const code of ['05', '51']) expect((await afterDeclines([code])).answer).to.equal('in_progress')
    // Mastercard and Visa: invalid data, and a code that is in no table.
    for (const code of ['14', 'N7', '4242']) {
      expect((await afterDeclines([code], 'live')).answer, code).to.equal('in_progress')
    }
  })

  it('too often is refused unsent, and accepted again after 30 days', async () => {
    const codes = Array<string>(CARD_DECLINES_MAX).fill('05')
    expect((await afterDeclines(codes.slice(1))).answer).to.equal('in_progress')
    const { answer, path, card } = await afterDeclines(codes)
    expect(answer).to.deep.equal({ code: 'card_declined', decline_reason: 'do_not_honor', may_retry: false })
    const later = createPayments({ ...path.deps, clock: { now: () => Date.now() + 31 * DAY_MS } })
    expect(await later.create(aScope('later'), aCreateRequest(card, '123'))).to.include({ kind: 'in_progress' })
  })
})

const everything = {
  status: null,
  externalReference: null,
  limit: 10,
  afterId: null,
  createdFromMs: null,
  createdToMs: null
}

describe('a payment whose record is damaged', () => {
  const test = useRedis()
  beforeEach(() => Promise.all([test.redis.flushdb(), test.secrets.flushdb()]))

  async function aPaidPath(): Promise<{
    path: CommandPath
    paymentId: string
    merchantId: string
    work(): Promise<unknown>
  }> {
    const path = await aCommandPath(test, ({ store }) => ({
      store: reportingDamage(store, createLogger('test', 'silent'))
    }))
    const worker = path.worker()
    worker.network.willAnswer(approvedAndCaptured)
    await path.payments.create(aScope('k1'), aCreateRequest(await path.token()))
    await worker.work()
    const { merchantId } = aScope('k1')
    const { payments } = await path.payments.list(merchantId, everything)
    return { path, paymentId: payments[0]?.terms.id ?? '', merchantId, work: () => worker.work() }
  }

  for (const record of ['damaged', '[1]', '[1,2,"m_0000000004",7,7]', '[]', '{}', '"', '\u0000']) {
    it(`${JSON.stringify(record)}: every request that needs it says so, and operators find it once among the dead letters`, async () => {
      const { path, paymentId, merchantId, work } = await aPaidPath()
      const key = keys.payment(PARTITION, paymentKeyOf(paymentId))
      const whole = (await test.redis.get(key)) ?? ''
      await test.redis.set(key, record)
      const requests = [
        () => path.payments.read(merchantId, paymentId),
        () => path.payments.list(merchantId, everything),
        () => path.payments.capture(aScope('k2'), paymentId, 100),
        () => path.payments.create(aScope('k1'), aCreateRequest({ type: 'token', tokenId: 'used' }))
      ]
      for (const request of requests) {
        const error: unknown = await request().catch((thrown: unknown) => thrown)
        expect(error).to.be.instanceOf(DamagedPayment)
        expect((error as DamagedPayment).paymentId).to.equal(paymentId)
        await work()
      }
      const letters = await listDeadLetters(test.redis, PARTITION + 1)
      expect(letters.map(({ command }) => command?.paymentId)).to.deep.equal([paymentId])
      expect(await test.redis.get(key)).to.equal(record)
      await test.redis.set(key, whole)
      expect(await path.payments.read(merchantId, paymentId)).to.have.nested.property('progress.status', 'captured')
    })
  }
})
