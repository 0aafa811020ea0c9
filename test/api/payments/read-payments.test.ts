import { expect } from 'chai'
import { decodeCursor, encodeCursor } from '../../../api/payments/cursor.js'
import { errorCatalogue } from '../../../contract/errors.js'
import { aPayment, capturedProgress, PAYMENT_ID } from '../builders.js'
import { useApi } from '../running-api.js'

const notDeclined = { declined_code: null, decline_reason: null, may_retry: null, rejection_code: null }
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
  const api = useApi({}, beforeEach)

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
      provider: { authorization_code: 'auth-1', nsu: 'nsu-1', tid: 'tid-1', ...notDeclined },
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
    expect(body['provider']).to.deep.equal({ authorization_code: null, nsu: null, tid: null, ...notDeclined })
    expect(body).not.to.have.property('error')
  })

  it('says why the issuer declined, and whether the card may be tried again', async () => {
    api.payments.payment = aPayment({ progress: { status: 'failed', declinedCode: '57', error: 'card_expired' } })
    const { body } = await api.request('GET', `/v1/payments/${PAYMENT_ID}`)
    expect(body['provider']).to.deep.include({ declined_code: '57', decline_reason: 'expired_card', may_retry: false })
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

const CURSOR = { afterId: PAYMENT_ID, parameters: {} }
/** What a list without parameters asks for. */
const ANY = {
  status: null,
  externalReference: null,
  createdFromMs: null,
  createdToMs: null,
  limit: 20,
  afterId: null
}

describe('listing payments', () => {
  const api = useApi({}, beforeEach)

  it('4.5: without parameters asks for the newest 20', async () => {
    const answer = await api.request('GET', '/v1/payments')
    expect(answer.body).to.deep.equal({ items: [], next_cursor: null })
    expect(api.payments.lists[0]).to.deep.equal({
      merchantId: 'm_one',
      filter: ANY
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
      { ...ANY, status: 'captured', externalReference: 'a b', limit: 1 },
      { ...ANY, status: 'captured', externalReference: 'a b', limit: 100, afterId: PAYMENT_ID },
      { ...ANY, externalReference: longest }
    ])
  })

  it('chooses by the time of creation: from a time, and before a time', async () => {
    const [from, to] = ['2026-01-02T12:00:00.5Z', '2026-01-02T12:00:01%2B03:00']
    for (const query of [`created_from=${from}`, `created_to=${to}`]) await api.request('GET', `/v1/payments?${query}`)
    expect(api.payments.lists.map(call => call.filter)).to.deep.equal([
      { ...ANY, createdFromMs: Date.UTC(2026, 0, 2, 12, 0, 0, 500) },
      { ...ANY, createdToMs: Date.UTC(2026, 0, 2, 9, 0, 1) }
    ])
  })

  it('takes times with up to nine digits of a second, and a part of a ms as the next ms', async () => {
    const times = ['00.123456789Z', '00.123000000Z', '00.1230Z', '00.123001Z']
    for (const time of times) await api.request('GET', `/v1/payments?created_from=2026-01-02T12:00:${time}`)
    const ms = api.payments.lists.map(({ filter }) => (filter.createdFromMs ?? 0) % 1_000)
    expect(ms).to.deep.equal([124, 123, 123, 124])
  })

  it('keeps all filters in the cursor, and takes another one that is sent along in its place', async () => {
    api.payments.page = { payments: [], nextAfterId: PAYMENT_ID }
    const range = 'created_from=2026-01-01T00:00:00Z&created_to=2026-02-01T00:00:00Z'
    const first = await api.request('GET', `/v1/payments?status=failed&external_reference=%C3%A9&${range}`)
    const second = await api.request('GET', `/v1/payments?cursor=${first.body['next_cursor']}`)
    await api.request('GET', `/v1/payments?status=captured&cursor=${second.body['next_cursor']}`)
    const kept = { ...api.payments.lists[0]?.filter, afterId: PAYMENT_ID }
    expect(kept).to.include({ createdFromMs: Date.UTC(2026, 0, 1), createdToMs: Date.UTC(2026, 1, 1) })
    expect(api.payments.lists[1]?.filter).to.deep.equal(kept)
    expect(api.payments.lists[2]?.filter).to.deep.equal({ ...kept, status: 'captured' })
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
    [`cursor=${encodeCursor('m_other', CURSOR)}`, 'cursor'],
    [`cursor=${encodeCursor('m_one', CURSOR)}x`, 'cursor'],
    [`cursor=${PAYMENT_ID}`, 'cursor'],
    ['created_from=2026-01-02', 'created_from'],
    ['created_from=2026-01-02T12:00:00', 'created_from'],
    ['created_from=2026-02-30T12:00:00Z', 'created_from'],
    ['created_from=2026-01-02T12:00:00.0000000001Z', 'created_from'],
    ['created_to=2026-01-02T12:00:60Z', 'created_to'],
    ['created_to=2026-01-02T12:00:00+03:00', 'created_to'],
    ['created_from=2026-01-02T12:00:00Z&created_to=2026-01-02T12:00:00Z', 'created_to'],
    [`cursor=${encodeCursor('m_one', { ...CURSOR, parameters: { status: 'paid' } })}`, 'status'],
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

  it('4.5: reports a repeated parameter as repeated', async () => {
    const { error } = await api.request('GET', '/v1/payments?limit=5&limit=6&status=paid')
    const messages = error.fields?.map(({ path, message }) => [path, message.split(' ').slice(0, 3).join(' ')])
    expect(messages).to.have.deep.members([
      ['limit', 'must be sent'],
      ['status', 'must be one']
    ])
  })

  it('4.5: a cursor is its payment again, for its merchant only', () => {
    for (const parameters of [{}, { status: 'captured', external_reference: 'é' }]) {
      const cursor = encodeCursor('m_one', { ...CURSOR, parameters })
      expect(decodeCursor('m_one', cursor)).to.deep.equal({ ...CURSOR, parameters })
      expect(decodeCursor('m_two', cursor)).to.equal(null)
    }
  })
})
