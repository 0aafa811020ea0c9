import { createServer, type Server, type Socket } from 'node:net'
import { expect } from 'chai'
import { NoAnswerError, OutcomeUnknownError, PaymentsClient } from '../../client/index.js'
import { demoCustomer } from '../../scripts/start/demo-customer.js'
import { API_KEY, scriptedApi } from './scripted-api.js'

const order = {
  amount_cents: 1,
  external_reference: 'order-1',
  customer: demoCustomer,
  payment_source: { source_type: 'card', card_id: 'c1' }
} as const
const ID = '0193c1a5-7c2e-7f5a-8a3b-1d2e3f4a5b6c'

describe('what cannot be sent', () => {
  const keys = ['order–1001', 'pedido-ação', 'a\nb', 'a\r\nX: 1', '', ' ', 'a ', '\u007f', '😀', 'k'.repeat(256)]
  for (const idempotencyKey of keys) {
    it(`is a TypeError before the first try: the key ${JSON.stringify(idempotencyKey).slice(0, 30)}`, async () => {
      const { client, sent } = scriptedApi([[201, { id: ID }]])
      const end = await client.payments.create(order, { idempotencyKey }).catch((error: unknown) => error)
      expect(end).to.be.instanceOf(TypeError).and.to.have.property('message').that.contains('`idempotencyKey`')
      expect(sent).to.have.length(0)
    })
  }

  const options: readonly (readonly [string, object])[] = [
    ['correlationId', { correlationId: 'order–1001' }],
    ['correlationId', { correlationId: '' }],
    ['waitS', { waitS: Number.NaN }],
    ['waitS', { waitS: 1.5 }],
    ['waitS', { waitS: '8\n' }],
    ['timeoutMs', { timeoutMs: Number.NaN }],
    ['timeoutMs', { timeoutMs: Number.POSITIVE_INFINITY }],
    ['timeoutMs', { timeoutMs: 0 }],
    ['deadlineMs', { deadlineMs: Number.NaN }],
    ['maxRetries', { maxRetries: -1 }],
    ['signal', { signal: {} }]
  ]
  for (const [name, given] of options) {
    it(`is a TypeError before the first try: the option ${name} in ${Object.values(given).map(String)}`, async () => {
      const { client, sent } = scriptedApi([[201, { id: ID }]])
      const end = await client.payments.create(order, given).catch((error: unknown) => error)
      expect(end).to.be.instanceOf(TypeError).and.to.have.property('message').that.contains(`\`${name}\``)
      expect(sent).to.have.length(0)
    })
  }

  const circle: Record<string, unknown> = {}
  circle['self'] = circle
  const bodies: readonly (readonly [string, unknown])[] = [
    ['a BigInt', { ...order, amount_cents: 1n }],
    ['NaN', { ...order, amount_cents: Number.NaN }],
    ['Infinity in metadata', { ...order, metadata: { weight: Number.POSITIVE_INFINITY } }],
    ['undefined in a list', { ...order, metadata: { list: [undefined] } }],
    ['a function', { ...order, metadata: { now: () => 1 } }],
    ['a symbol', { ...order, metadata: { tag: Symbol('x') } }],
    ['a Map', { ...order, metadata: new Map([['a', 1]]) }],
    ['a cycle', { ...order, metadata: circle }],
    ['no object', undefined],
    ['null', null],
    ['text', JSON.stringify(order)],
    ['a list', [order]]
  ]
  for (const [what, body] of bodies) {
    it(`is a TypeError before the first try: a body with ${what}`, async () => {
      const { client, sent } = scriptedApi([[201, { id: ID }]])
      const end = await client.payments.create(body as typeof order).catch((error: unknown) => error)
      expect(end).to.be.instanceOf(TypeError)
      expect(sent).to.have.length(0)
    })
  }

  it('names the field that JSON cannot say, and leaves out what is undefined', async () => {
    const { client, sent } = scriptedApi([[200, { id: ID }]])
    const amount = { amount_cents: Number.NaN }
    expect(await client.payments.refund(ID, amount).catch(String)).to.contain('`amount_cents` is NaN')
    await client.payments.create({ ...order, ...{ statement_descriptor: undefined } } as never)
    expect(sent.map(({ body }) => body)).to.deep.equal([JSON.stringify(order)])
  })

  it('is a TypeError when the client is made: addresses, keys and functions', () => {
    const make = (changed: object) => () =>
      new PaymentsClient({ baseUrl: 'http://api.test', apiKey: API_KEY, ...changed } as never)
    const addresses = ['localhost:8080', 'ftp://api.test', 'http://u:p@api.test', 'http://api.test?a=1', '', undefined]
    for (const baseUrl of addresses) expect(make({ baseUrl }), baseUrl).to.throw(TypeError, '`baseUrl`')
    for (const apiKey of ['svc_test.kid.sécret', 'svc_test.kid.a\n', undefined])
      expect(make({ apiKey })).to.throw(TypeError, '`apiKey`')
    expect(make({ fetch: 'fetch' })).to.throw(TypeError, '`fetch`')
    expect(make({ logger: {} })).to.throw(TypeError, '`logger`')
    expect(make({ retryPauseMs: Number.NaN })).to.throw(TypeError, '`retryPauseMs`')
  })

  it('is a rejection for malformed ids', async () => {
    const { client, sent } = scriptedApi([[200, {}]])
    for (const id of [undefined, null, '', '..', 'a/b', '?x', 'ação', 'a b', 'a%2Fb', 7])
      for (const call of [client.payments.get(id as never), client.payments.capture(id as never)])
        expect(await call.catch((error: unknown) => error))
          .to.be.instanceOf(TypeError)
          .with.property('message')
          .that.contains('is not an id of payments')
    expect(sent).to.have.length(0)
  })
})

describe('a client whose address has a path', () => {
  for (const baseUrl of ['http://api.test/card-payments', 'http://api.test/card-payments/']) {
    it(`requests below it: ${baseUrl}`, async () => {
      const { client, sent } = scriptedApi([[200, { items: [], next_cursor: null }]], { baseUrl })
      await client.payments.page({ limit: 2 })
      expect(sent.map(({ line }) => line)).to.deep.equal(['GET /card-payments/v1/payments?limit=2'])
    })
  }
})

describe('a call that moves money and sent nothing', () => {
  const servers: Server[] = []
  const sockets: Socket[] = []
  afterEach(() => {
    for (const socket of sockets.splice(0)) socket.destroy()
    for (const server of servers.splice(0)) server.close()
  })

  async function listen(onSocket: (socket: Socket) => void): Promise<string> {
    const server = createServer(socket => {
      sockets.push(socket)
      onSocket(socket.on('error', () => undefined))
    })
    servers.push(server)
    await new Promise<void>(done => server.listen(0, '127.0.0.1', done))
    const address = server.address()
    return `127.0.0.1:${typeof address === 'object' && address !== null ? address.port : 0}`
  }

  async function endOf(baseUrl: string, timeoutMs = 400): Promise<unknown> {
    const client = new PaymentsClient({ baseUrl, apiKey: API_KEY, retryPauseMs: 1, maxRetries: 1, timeoutMs })
    return await client.payments.create(order, { idempotencyKey: 'order-1' }).catch((error: unknown) => error)
  }

  const nowhere = ['http://127.0.0.1:9', 'http://no-such-host.invalid', 'http://127.0.0.1:25', 'http://[::1]:9']
  for (const baseUrl of nowhere) {
    it(`ends with NoAnswerError not_sent: ${baseUrl}`, async () => {
      const end = await endOf(baseUrl, 5_000)
      expect(end).to.be.instanceOf(NoAnswerError).and.to.include({ code: 'not_sent' })
    })
  }

  it('ends with NoAnswerError not_sent when the connection is not secure in time, or never', async () => {
    const silent = await endOf(`https://${await listen(() => undefined)}`)
    expect(silent).to.be.instanceOf(NoAnswerError).and.to.include({ code: 'not_sent' })
    const plain = await endOf(`https://${await listen(socket => socket.end('HTTP/1.1 400 Bad Request\r\n\r\n'))}`)
    expect(plain).to.be.instanceOf(NoAnswerError).and.to.include({ code: 'not_sent' })
    expect((plain as Error).message)
      .to.contain('does not speak TLS')
      .and.not.to.contain('ssl3_')
  })

  it('ends with OutcomeUnknownError once a byte was sent', async () => {
    const silent = await endOf(`http://${await listen(socket => socket.resume())}`)
    expect(silent).to.be.instanceOf(OutcomeUnknownError)
    const cut = await endOf(`http://${await listen(socket => socket.once('data', () => socket.destroy()))}`)
    expect(cut).to.be.instanceOf(OutcomeUnknownError)
  })

  it('ends with OutcomeUnknownError when the first try was sent, and the next ones were not', async () => {
    const address = await listen(socket =>
      socket.once('data', () => {
        for (const server of servers.splice(0)) server.close()
        socket.destroy()
      })
    )
    const end = await endOf(`http://${address}`)
    expect(end).to.be.instanceOf(OutcomeUnknownError)
    expect((end as OutcomeUnknownError).cause).to.include({ code: 'not_sent' })
  })
})
