import { expect } from 'chai'
import { ApiError, createTestToken, declineTexts, PaymentsClient } from '../../client/index.js'
import { nameOf, type RouteFacts } from '../../contract/route.js'
import { routes } from '../../contract/routes.js'
import { demoCustomer } from '../../scripts/start/demo-customer.js'
import { API_KEY, refusal, type Step, scriptedApi } from './scripted-api.js'

const ID = '0193c1a5-7c2e-7f5a-8a3b-1d2e3f4a5b6c'
const order = {
  amount_cents: 1,
  external_reference: 'order-1',
  customer: demoCustomer,
  payment_source: { source_type: 'card', card_id: 'c1' }
} as const

/** Each method once. */
const calls: readonly ((client: PaymentsClient) => Promise<unknown>)[] = [
  client => client.payments.create(order),
  client => client.payments.get(ID),
  client => client.payments.page(),
  client => client.payments.capture(ID),
  client => client.payments.cancel(ID),
  client => client.payments.refund(ID, { amount_cents: 1 }),
  client => client.cards.store({ token_id: 't1' }),
  client => client.cards.get(ID),
  client => client.cards.erase(ID),
  client => client.webhookEndpoint.register({ url: 'https://shop.example/hook' }),
  client => client.webhookEndpoint.get(),
  client => client.test.chargeback(ID),
  client => client.test.expire(ID),
  client => client.test.sendWebhookEvent(),
  client => client.test.webhookEvents(),
  client => client.test.replayWebhookEvent(ID),
  client => client.capabilities()
]

describe('the methods of the client', () => {
  it('reach every route of the API, with the key, and with an Idempotency-Key where the route wants one', async () => {
    const { client, sent } = scriptedApi([[200, { id: ID }]])
    for (const call of calls) await call(client)
    const wanted = Object.values<RouteFacts>(routes).map(
      route => `${nameOf(route).replace('{id}', ID)} ${route.exampleKey !== undefined}`
    )
    const got = sent.map(({ line, headers }) => `${line} ${headers['idempotency-key'] !== undefined}`)
    expect([...new Set(got)]).to.have.members(wanted)
    expect(new Set(sent.map(({ headers }) => headers['authorization']))).to.deep.equal(new Set([`Bearer ${API_KEY}`]))
  })

  it('list all pages, also those that are empty before the end, with the filters that were given', async () => {
    const page = (ids: readonly string[], next: string | null): Step => [
      200,
      { items: ids.map(id => ({ id })), next_cursor: next }
    ]
    const { client, sent } = scriptedApi([page(['p3', 'p2'], 'c1'), page([], 'c2'), page(['p1'], null)])
    const found: string[] = []
    for await (const { id } of client.payments.list({ status: 'captured', limit: 2 })) found.push(id)
    expect(found).to.deep.equal(['p3', 'p2', 'p1'])
    expect(sent.map(({ line }) => line)).to.deep.equal([
      'GET /v1/payments?status=captured&limit=2',
      'GET /v1/payments?status=captured&limit=2&cursor=c1',
      'GET /v1/payments?status=captured&limit=2&cursor=c2'
    ])
  })

  it('request no page that the caller does not need', async () => {
    const { client, sent } = scriptedApi([[200, { items: [{ id: 'p1' }], next_cursor: 'c1' }]])
    for await (const { id } of client.payments.list()) if (id === 'p1') break
    expect(sent).to.have.length(1)
  })

  it('refuse an amount that is undefined, which JSON would make the whole amount', async () => {
    const { client, sent } = scriptedApi([[200, {}]])
    const amount = JSON.parse('{}') as { amount_cents: number }
    for (const operation of ['refund', 'capture'] as const) {
      const call = client.payments[operation](ID, { amount_cents: amount.amount_cents })
      expect(await call.catch(String)).to.contain('is undefined')
    }
    expect(sent).to.have.length(0)
  })

  it('refuse an amount in the place of the options, and a key that is undefined by mistake', async () => {
    const { client, sent } = scriptedApi([[200, {}]])
    const amount: object = { amount_cents: 1 }
    const noKey = JSON.parse('{}') as { key: string }
    expect(await client.payments.cancel(ID, amount).catch(String)).to.contain('`amount_cents` is not an option')
    expect(await client.payments.create(order, { idempotencyKey: noKey.key }).catch(String)).to.contain('is no text')
    expect(sent).to.have.length(0)
  })

  it('carry what the error says, as fields', async () => {
    const fields = [{ path: 'customer.email', message: 'must be an e-mail address' }]
    const { client } = scriptedApi([refusal(400, 'invalid_request', { fields, correlation_id: ID, payment_id: ID })])
    const error = await client.payments.create(order, { correlationId: ID }).catch((thrown: unknown) => thrown)
    if (!(error instanceof ApiError)) throw new Error('no ApiError')
    expect(error.fields).to.deep.equal(fields)
    expect(error.message).to.equal('invalid_request. customer.email: must be an e-mail address.')
    expect(error).to.include({ correlationId: ID, paymentId: ID, requestId: 'r1', retryable: false })
  })

  it('carry why a card was declined, which has a sentence for buyers', async () => {
    const { client } = scriptedApi([
      refusal(422, 'card_declined', { payment_id: ID, decline_reason: 'insufficient_funds', may_retry: true })
    ])
    const error = await client.payments.create(order).catch((thrown: unknown) => thrown)
    if (!(error instanceof ApiError)) throw new Error('no ApiError')
    expect(error).to.include({ declineReason: 'insufficient_funds', mayRetry: true })
    expect(declineTexts[error.declineReason ?? 'other']['pt-BR']).to.contain('saldo ou limite')
  })

  it('log each answer and each retry, and no card, no buyer and no key of the API', async () => {
    const lines: string[] = []
    const log = (level: string) => (fields: object, message: string) => {
      lines.push(`${level} ${message} ${JSON.stringify(fields)}`)
    }
    const logger = { debug: log('debug'), warn: log('warn') }
    const steps: Step[] = ['cut', refusal(500, 'internal_error'), [201, { id: ID }, { 'X-Request-Id': 'r9' }]]
    await scriptedApi(steps, { logger }).client.payments.create(order)
    expect(lines.map(line => line.split(' ')[0])).to.deep.equal(['debug', 'warn', 'debug', 'warn', 'debug'])
    expect(lines.at(-1)).to.contain('"status":201').and.to.contain('"request_id":"r9"')
    expect(lines.join()).not.to.match(/Ada|52998224725|svc_test|"c1"/)
  })

  it('return the payment although the logger throws', async () => {
    const broken = (): never => {
      throw new Error('the log is full')
    }
    const api = scriptedApi(['cut', [201, { id: ID }]], { logger: { debug: broken, warn: broken } })
    expect(await api.client.payments.create(order)).to.deep.equal({ id: ID })
  })
})

describe('a client that cannot work', () => {
  it('is refused when it is made: a live key over plain http, a publishable key', () => {
    const make = (baseUrl: string, apiKey: string) => () => new PaymentsClient({ baseUrl, apiKey })
    expect(make('http://payments.example', API_KEY.replace('test', 'live'))).to.throw(TypeError, 'https://')
    expect(make('http://localhost:1', API_KEY.replace('test', 'live'))).not.to.throw()
    expect(make('http://localhost', 'svc_test.publishable')).to.throw(TypeError, '`apiKey` must be a secret key')
  })

  it('makes no tokens with a key of the live environment', async () => {
    const tokensUrl = 'http://localhost:1'
    const refused = await createTestToken({ tokensUrl, publishableKey: 'svc_live.kid' }).catch(String)
    expect(refused).to.contain('of the test environment')
    const nowhere = await createTestToken({ tokensUrl: 'payments.example', publishableKey: 'svc_test.kid' }).catch(
      String
    )
    expect(nowhere).to.contain('`tokensUrl` must be a URL')
  })
})
