import { expect } from 'chai'
import { decodeCursor, encodeCursor } from '../../../api/payments/cursor.js'
import { errorCatalogue } from '../../../runtime/errors.js'
import { aPayment, capturedProgress, PAYMENT_ID } from '../builders.js'
import { type RunningApi, startApi } from '../running-api.js'

const refund = {
  amountCents: 90,
  idempotencyKey: 'refund-1',
  requestedAtMs: Date.UTC(2026, 0, 2),
  concludedAtMs: Date.UTC(2026, 0, 3)
}
const shown = {
  amount_cents: 90,
  idempotency_key: 'refund-1',
  requested_at: '2026-01-02T00:00:00.000Z',
  concluded_at: '2026-01-03T00:00:00.000Z'
}
const error = {
  code: 'provider_rejected',
  message: errorCatalogue.provider_rejected.message,
  retryable: false
}

describe('reading payments', () => {
  let api: RunningApi
  beforeEach(async () => {
    api = await startApi()
  })
  afterEach(() => api.stop())

  it('2.1: shows every field of a captured payment', async () => {
    api.payments.payment = aPayment({
      terms: {
        statementDescriptor: 'LOJA',
        metadata: { a: 1, b: null },
        card: { brand: 'visa', last4: '0060', cardId: 'card_1' }
      },
      progress: capturedProgress({
        refundedCents: 90,
        refundedAtMs: Date.UTC(2026, 0, 3),
        refunds: [
          { ...refund, state: 'succeeded', error: null },
          { ...refund, amountCents: 5, state: 'failed', error: 'provider_rejected' },
          { ...refund, state: 'unknown', concludedAtMs: null, error: null }
        ],
        error: 'provider_rejected'
      })
    })
    const answer = await api.request('GET', `/v1/payments/${PAYMENT_ID}`)
    expect(answer.status).to.equal(200)
    expect(answer.body).to.deep.equal({
      id: PAYMENT_ID,
      external_reference: 'order-1',
      status: 'captured',
      capture_mode: 'auto',
      amount_cents: 15_990,
      captured_cents: 15_990,
      refunded_cents: 90,
      currency: 'BRL',
      installments: 1,
      statement_descriptor: 'LOJA',
      card: { brand: 'visa', last4: '0060', card_id: 'card_1' },
      customer: { name: 'Maria da Silva', email: 'maria@example.com' },
      provider: { authorization_code: 'auth-1', nsu: 'nsu-1', tid: 'tid-1', declined_code: null },
      metadata: { a: 1, b: null },
      expires_at: null,
      created_at: '2026-01-02T03:04:05.678Z',
      authorized_at: '2026-01-02T03:04:06.000Z',
      captured_at: '2026-01-02T03:04:06.000Z',
      canceled_at: null,
      refunded_at: '2026-01-03T00:00:00.000Z',
      refunds: [
        { ...shown, state: 'succeeded' },
        { ...shown, amount_cents: 5, state: 'failed', error },
        { ...shown, state: 'unknown', concluded_at: null }
      ],
      operation: {
        kind: 'authorization',
        state: 'succeeded',
        amount_cents: 15_990,
        idempotency_key: 'key-of-the-create'
      },
      error
    })
  })

  it('2.1: what has no value yet is null, metadata is an object, error is absent', async () => {
    api.payments.payment = aPayment()
    const { body } = await api.request('GET', `/v1/payments/${PAYMENT_ID}`)
    expect(body).to.deep.include({ status: 'pending', metadata: {}, statement_descriptor: null, authorized_at: null })
    expect(body['provider']).to.deep.equal({ authorization_code: null, nsu: null, tid: null, declined_code: null })
    expect(body).not.to.have.property('error')
  })

  it('4.4: asks for the payment of the key’s merchant, with an id in any case', async () => {
    api.payments.payment = aPayment()
    const answer = await api.request('GET', `/v1/payments/${PAYMENT_ID.toUpperCase()}`)
    expect(answer.status).to.equal(200)
    expect(api.payments.reads).to.deep.equal([{ merchantId: 'm_one', paymentId: PAYMENT_ID }])
  })

  it('4.4: a payment of another merchant and one that does not exist are the same 404', async () => {
    const missing = await api.request('GET', `/v1/payments/${PAYMENT_ID}`)
    api.payments.payment = aPayment({ terms: { merchantId: 'm_other' } })
    const foreign = await api.request('GET', `/v1/payments/${PAYMENT_ID}`)
    expect(missing.status).to.equal(404)
    expect(foreign.status).to.equal(404)
    expect({ ...foreign.error, request_id: '' }).to.deep.equal({ ...missing.error, request_id: '' })
  })

  for (const id of ['1', 'null', '%00', '%E0%A4%A', `${PAYMENT_ID}0`, '..%2f..', "'%20OR%201=1"]) {
    it(`4.4: the id ${id} is 404 and not looked up`, async () => {
      for (const [method, path] of [
        ['GET', `/v1/payments/${id}`],
        ['POST', `/v1/payments/${id}/capture`],
        ['POST', `/v1/payments/${id}/cancel`]
      ] as const) {
        const answer = await api.request(method, path)
        expect(answer.status, path).to.equal(404)
        expect(answer.error['code']).to.equal('not_found')
      }
      expect(api.payments.reads).to.have.length(0)
      expect(api.payments.commands).to.have.length(0)
    })
  }

  it('4.4: HEAD answers like GET, without a body', async () => {
    api.payments.payment = aPayment()
    const answer = await api.request('HEAD', `/v1/payments/${PAYMENT_ID}`)
    expect(answer.status).to.equal(200)
    expect(answer.text).to.equal('')
  })
})

describe('listing payments', () => {
  let api: RunningApi
  beforeEach(async () => {
    api = await startApi()
  })
  afterEach(() => api.stop())

  it('4.5: without parameters asks for the newest 20', async () => {
    const answer = await api.request('GET', '/v1/payments')
    expect(answer.body).to.deep.equal({ items: [], next_cursor: null })
    expect(api.payments.lists[0]).to.deep.equal({
      merchantId: 'm_one',
      filter: { status: null, externalReference: null, limit: 20, afterId: null }
    })
  })

  it('4.5: filters, limit and cursor combine; next_cursor leads on', async () => {
    api.payments.page = { payments: [aPayment()], nextAfterId: PAYMENT_ID }
    const first = await api.request('GET', '/v1/payments?status=captured&external_reference=a%20b&limit=1')
    expect(first.body['items']).to.have.length(1)
    await api.request('GET', `/v1/payments?limit=100&cursor=${first.body['next_cursor']}`)
    const longest = 'é'.repeat(64)
    await api.request('GET', `/v1/payments?external_reference=${encodeURIComponent(longest)}`)
    expect(api.payments.lists.map(call => call.filter)).to.deep.equal([
      { status: 'captured', externalReference: 'a b', limit: 1, afterId: null },
      { status: null, externalReference: null, limit: 100, afterId: PAYMENT_ID },
      { status: null, externalReference: longest, limit: 20, afterId: null }
    ])
  })

  const bad: readonly [query: string, path: string][] = [
    ['limit=0', 'limit'],
    ['limit=101', 'limit'],
    ['limit=-1', 'limit'],
    ['limit=1.5', 'limit'],
    ['limit=1e1', 'limit'],
    ['limit=abc', 'limit'],
    ['limit=', 'limit'],
    ['limit=1&limit=2', 'limit'],
    ['status=paid', 'status'],
    ['status=', 'status'],
    ['status=captured&status=failed', 'status'],
    ['external_reference=', 'external_reference'],
    [`external_reference=${'x'.repeat(65)}`, 'external_reference'],
    ['external_reference=a%00', 'external_reference'],
    ['cursor=', 'cursor'],
    ['cursor=garbage', 'cursor'],
    [`cursor=${encodeCursor('m_other', PAYMENT_ID)}`, 'cursor'],
    [`cursor=${encodeCursor('m_one', PAYMENT_ID)}x`, 'cursor'],
    [`cursor=${PAYMENT_ID}`, 'cursor'],
    ['order=asc', 'order'],
    ['__proto__=1', '__proto__'],
    ['external_reference=%ff', 'query'],
    ['%', 'query']
  ]
  for (const [query, path] of bad) {
    it(`4.5, 8: ?${query.slice(0, 40)} is 400 and names ${path}`, async () => {
      const answer = await api.request('GET', `/v1/payments?${query}`)
      expect(answer.status).to.equal(400)
      expect(answer.error.fields?.map(field => field.path)).to.deep.equal([path])
      expect(api.payments.lists).to.have.length(0)
    })
  }

  it('4.5: says of a parameter that is there twice that it is there twice', async () => {
    const { error } = await api.request('GET', '/v1/payments?limit=5&limit=6&status=paid')
    const messages = error.fields?.map(({ path, message }) => [path, message.split(' ').slice(0, 3).join(' ')])
    expect(messages).to.have.deep.members([
      ['limit', 'must be sent'],
      ['status', 'must be one']
    ])
  })

  it('4.5: a cursor is its payment again, for its merchant only', () => {
    const cursor = encodeCursor('m_one', PAYMENT_ID)
    expect(decodeCursor('m_one', cursor)).to.equal(PAYMENT_ID)
    expect(decodeCursor('m_two', cursor)).to.equal(null)
  })
})
