import { expect } from 'chai'
import type { CardSource } from '../../../machines/commands.js'
import { aCommandPath, aCreateRequest, aScope, type CommandPath } from '../../support/command-path.js'
import { approvedAndCaptured, notSent } from '../../support/fake-network.js'
import { useRedis } from '../../support/redis.js'
import { aCreateBody } from '../builders.js'
import { useApi } from '../running-api.js'

describe('a payment by stored card with the token of its CVV', () => {
  const test = useRedis()
  let path: CommandPath
  beforeEach(async () => {
    await Promise.all([test.redis.flushdb(), test.secrets.flushdb()])
    path = await aCommandPath(test)
  })

  const create = (source: CardSource, key: string, body?: string) =>
    path.payments.create(aScope(key, body), aCreateRequest(source))
  const codeOf = (source: CardSource, key: string, body?: string) =>
    create(source, key, body).then(
      ({ kind }) => kind,
      ({ code }) => code
    )

  it('sends the CVV, and then neither it nor its token is left', async () => {
    const worker = path.worker()
    const card = await path.storedCardWithCvvToken()
    const sent: unknown[] = []
    const { open } = worker.deps.cardData
    worker.deps.cardData.open = async (...given) => {
      const opened = await open(...given)
      sent.push(typeof opened === 'string' ? opened : opened.cvv)
      return opened
    }
    await create(card, 'k1')
    worker.network.willAnswer(approvedAndCaptured)
    await worker.work()
    expect(await create(card, 'k1')).to.have.nested.property('result.progress.status', 'captured')
    expect(sent).to.deep.equal(['123'])
    expect(await test.secrets.keys('cvv:*')).to.deep.equal([])
    expect(await codeOf(card, 'k2')).to.equal('invalid_token')
  })

  it('is one payment only: the token of an accepted one is taken', async () => {
    const card = await path.storedCardWithCvvToken()
    expect(await codeOf(card, 'k1')).to.equal('in_progress')
    expect(await codeOf(card, 'k2')).to.equal('invalid_token')
  })

  it('leaves the token free when the request is not accepted, and when nothing was sent', async () => {
    const worker = path.worker()
    await create(await path.storedCardWithCvvToken(), 'k1')
    const card = await path.storedCardWithCvvToken()
    expect(await codeOf(card, 'k1', 'another')).to.equal('conflict')
    await create(card, 'k2')
    worker.network.willAnswer(approvedAndCaptured, notSent)
    await worker.work()
    expect(await create(card, 'k2')).to.deep.include({ result: { kind: 'failed', code: 'network_unavailable' } })
    expect(await codeOf(card, 'k3')).to.equal('in_progress')
  })
})

describe('cvv_token_id in a create', () => {
  const api = useApi({}, beforeEach)
  const request = (source: object) =>
    api.request('POST', '/v1/payments', {
      body: { ...aCreateBody(), payment_source: { source_type: 'card', card_id: 'card_1', ...source } }
    })

  it('stands in the place of cvv', async () => {
    await request({ cvv_token_id: 'cvt_1', cvv: null })
    const { source, cvv } = api.payments.creates[0]?.request ?? expect.fail('nothing was asked')
    expect(source).to.deep.equal({ type: 'card', cardId: 'card_1', hasCvv: true, cvvTokenId: 'cvt_1' })
    expect(cvv).to.equal(null)
  })

  for (const [name, source, path] of [
    ['together with cvv', { cvv_token_id: 'cvt_1', cvv: '123' }, 'payment_source.cvv'],
    ['that is no id', { cvv_token_id: '1 2' }, 'payment_source.cvv_token_id'],
    [
      'with a token',
      { source_type: 'token', token_id: 'tok_1', card_id: undefined, cvv_token_id: 'cvt_1' },
      'payment_source.cvv_token_id'
    ]
  ] as const) {
    it(`is refused ${name}`, async () => {
      const answer = await request(source)
      expect(answer.status).to.equal(400)
      expect(answer.error.fields?.map(field => field.path)).to.deep.equal([path])
      expect(api.payments.creates).to.have.length(0)
    })
  }
})
