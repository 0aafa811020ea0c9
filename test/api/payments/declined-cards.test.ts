import { expect } from 'chai'
import { createPayments } from '../../../api/payments/submit.js'
import { CARD_DECLINES_MAX } from '../../../machines/card-tries.js'
import { noReferences } from '../../../machines/model.js'
import { aCommandPath, aCreateRequest, aScope } from '../../support/command-path.js'
import { DAY_MS } from '../../support/payments.js'
import { useRedis } from '../../support/redis.js'

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
