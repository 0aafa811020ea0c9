import { expect } from 'chai'
import { aCreateBody, aPayment, capturedProgress, withField } from '../builders.js'
import { useApi } from '../running-api.js'

const text = (length: number): string => 'x'.repeat(length)
const pairs = (count: number): Record<string, string> =>
  Object.fromEntries(Array.from({ length: count }, (_, index) => [`key-${index}`, 'value']))
const card = (changes: object): object => ({ source_type: 'card', card_id: 'card_1', ...changes })

/** A value in a test's title. */
function shown(value: unknown): string {
  const json = JSON.stringify(value) ?? 'nothing'
  return json.length > 40 ? `${json.slice(0, 30)}... (${json.length - 2} characters)` : json
}

/** Field, then values that must pass, then values that must not. `undefined` is the absent field. */
const rules: readonly [path: string, good: readonly unknown[], bad: readonly unknown[]][] = [
  [
    'amount_cents',
    [1, 100, 1e3, 999_999_999_999],
    [0, -1, 1.5, '100', null, true, [], {}, 1_000_000_000_000, 1e300, undefined]
  ],
  ['currency', ['BRL', null, undefined], ['USD', 'brl', '', 986]],
  ['installments', [1, 18, null, undefined], [0, 19, -1, 1.5, '3']],
  ['capture', [true, false, null, undefined], ['true', 1, 0]],
  ['statement_descriptor', ['LOJA', text(22), '', null, undefined], [text(23), 'LOJA\n', 'a\u0000', 5]],
  [
    'external_reference',
    ['1', text(64), '😀'.repeat(64)],
    [text(65), '', '   ', 'a\tb', 'a\u2028', 1, null, undefined]
  ],
  [
    'payment_source',
    [
      { source_type: 'token', token_id: 'tok_1' },
      card({}),
      card({ cvv: '123' }),
      card({ cvv: '1234' }),
      card({ cvv: null })
    ],
    [...['token', null, [], 1, undefined]]
  ],
  ['payment_source.source_type', [], ['cash', 'TOKEN', '', null, 1, undefined]],
  ['payment_source.token_id', ['tok-1_X', text(64)], ['', ' ', 'a b', 'a:b', text(65), 1, null, undefined]],
  ['payment_source.cvv', [null], ['123']],
  ['payment_source.card_id', [null], ['card_1']],
  ['customer', [], ['Maria', null, [], undefined]],
  ['customer.name', ['José Ñandú', text(120)], ['', ' ', text(121), 'a\u0007', '\ud800', 7, null, undefined]],
  [
    'customer.email',
    ['a@b.co', 'a.b+c@sub.example.com.br', `${text(108)}@example.com`],
    ['', 'a', 'a@', '@b.co', 'a b@c.co', 'a@b', 'a@b..co', `${text(109)}@example.com`, 'a@b.co\n', 1, null, undefined]
  ],
  [
    'customer.document',
    ['12345678909', '52998224725', '11222333000181', '11444777000161'],
    [
      ...['123.456.789-09', '12345678900', '11111111111', '00000000000', '00000000000000', '11222333000180'],
      ...['1234567890', '123456789012', '12ABC34501DE35', '١٢٣٤٥٦٧٨٩٠٩', '', 12_345_678_909, null, undefined]
    ]
  ],
  [
    'customer.phone',
    ['1133334444', '11987654321'],
    ['113333444', '119876543210', '(11)33334444', '', 11, null, undefined]
  ],
  ['customer.address', [], ['Rua', null, [], undefined]],
  ['customer.address.zip_code', ['01310100'], ['01310-100', '0131010', '013101000', '', 1_310_100, null, undefined]],
  ['customer.address.street', [text(120)], [text(121), '', ' ', 1, null, undefined]],
  ['customer.address.number', ['1', 's/n', text(10)], [text(11), '', ' ', 100, null, undefined]],
  ['customer.address.complement', [text(60), '', null, undefined], [text(61), 'a\nb', 1]],
  ['customer.address.district', [text(60)], [text(61), '', ' ', 1, null, undefined]],
  ['customer.address.city', [text(60)], [text(61), '', ' ', 1, null, undefined]],
  ['customer.address.state', ['SP', 'DF', 'TO'], ['XX', 'sp', 'S', 'São Paulo', '', 1, null, undefined]],
  [
    'metadata',
    [
      {},
      pairs(20),
      { a: null, b: true, c: 1.5, d: text(500) },
      { constructor: 'x', toString: 'y', [text(40)]: 1 },
      null,
      undefined
    ],
    [pairs(21), [], 'a', 1]
  ],
  [
    'metadata.x',
    [text(500), 0, false, -1.5, 9_007_199_254_740_991, 'Dear Ada,\r\n\n\tMany happy returns', ''],
    [text(501), {}, [], [1], 'a\u0000', '\ud800', '\u001b[2J', '\u2028', 2 ** 53, -1e300]
  ]
]

describe('POST /v1/payments: the rule of each field', () => {
  const api = useApi()
  before(() => {
    api.payments.submission = {
      kind: 'finished',
      terms: aPayment().terms,
      result: { kind: 'succeeded', progress: capturedProgress() },
      isReplay: false
    }
  })

  for (const [path, good, bad] of rules) {
    for (const value of good) {
      it(`${path}: takes ${shown(value)}`, async () => {
        const answer = await api.request('POST', '/v1/payments', { body: withField(aCreateBody(), path, value) })
        expect(answer.status, answer.text).to.equal(201)
      })
    }

    for (const value of bad) {
      it(`${path}: refuses ${shown(value)} with 400, its path and its rule, and submits nothing`, async () => {
        const before = api.payments.creates.length
        const answer = await api.request('POST', '/v1/payments', { body: withField(aCreateBody(), path, value) })
        expect(answer.status).to.equal(400)
        expect(answer.error['code']).to.equal('invalid_request')
        expect(answer.error.fields?.map(field => field.path)).to.deep.equal([path])
        expect(answer.error.fields?.[0]?.message).to.match(/^(must |is required: must |is not a known field)/)
        expect(api.payments.creates.length).to.equal(before)
      })
    }
  }

  for (const [name, source, path] of [
    ['token_id with source_type card', card({ token_id: 'tok_1' }), 'payment_source.token_id'],
    [
      'card_id with source_type token',
      { source_type: 'token', token_id: 'tok_1', card_id: 'c' },
      'payment_source.card_id'
    ],
    ['source_type card without card_id', { source_type: 'card' }, 'payment_source.card_id'],
    ['an empty card_id', card({ card_id: '' }), 'payment_source.card_id'],
    ['a cvv of 2 digits', card({ cvv: '12' }), 'payment_source.cvv'],
    ['a cvv of 5 digits', card({ cvv: '12345' }), 'payment_source.cvv'],
    ['a cvv that is a number', card({ cvv: 123 }), 'payment_source.cvv']
  ] as const) {
    it(`payment_source: refuses ${name}`, async () => {
      const answer = await api.request('POST', '/v1/payments', {
        body: withField(aCreateBody(), 'payment_source', source)
      })
      expect(answer.status).to.equal(400)
      expect(answer.error.fields?.map(field => field.path)).to.deep.equal([path])
    })
  }

  it('payment_source: takes null in the fields of the other source, as clients with one class for both write it', async () => {
    for (const source of [
      { source_type: 'token', token_id: 'tok_1', card_id: null, cvv: null, cvv_token_id: null },
      card({ token_id: null })
    ]) {
      const answer = await api.request('POST', '/v1/payments', {
        body: withField(aCreateBody(), 'payment_source', source)
      })
      expect(answer.status).to.equal(201)
    }
  })

  for (const key of ['', ' ', text(41), 'a\u0000', '__proto__']) {
    it(`metadata: refuses the key ${JSON.stringify(key)}`, async () => {
      const body = JSON.stringify({ ...aCreateBody(), metadata: {} }).replace(
        '"metadata":{}',
        `"metadata":{${JSON.stringify(key)}:1}`
      )
      const answer = await api.request('POST', '/v1/payments', { body })
      expect(answer.status).to.equal(400)
      expect(answer.error.fields?.map(field => field.path)).to.deep.equal([`metadata.${key}`])
      expect(answer.error.fields?.[0]?.message).to.match(/^must (not|be another key|have at most 40 characters)/)
    })
  }

  it('metadata: takes twenty pairs at their limit in escapes, each of which counts as its character; more are 413', async () => {
    const metadata = Object.fromEntries(Object.keys(pairs(20)).map(key => [key.padEnd(40, 'k'), '😀'.repeat(500)]))
    const body = JSON.stringify({ ...aCreateBody(), metadata }).replaceAll('😀', '\\ud83d\\ude00')
    expect(body.length).to.be.greaterThan(120_000)
    expect((await api.request('POST', '/v1/payments', { body })).status).to.equal(201)
    const tooLarge = body.replace('"metadata":{', `"metadata":{"x":"${text(40_000)}",`)
    expect((await api.request('POST', '/v1/payments', { body: tooLarge })).status).to.equal(413)
  })

  it('unknown fields: refuses them at every level', async () => {
    const body = JSON.stringify(aCreateBody())
      .replace('{"amount_cents"', '{"merchant":"m_1","__proto__":{"a":1},"amount_cents"')
      .replace('"zip_code"', '"country":"BR","zip_code"')
      .replace('"email"', '"vip":true,"email"')
      .replace('"token_id"', '"pan":"4","token_id"')
    const answer = await api.request('POST', '/v1/payments', { body })
    expect(answer.status).to.equal(400)
    expect(answer.error.fields?.map(field => field.path)).to.have.members([
      ...['merchant', '__proto__', 'customer.vip', 'customer.address.country', 'payment_source.pan']
    ])
  })

  it('names all problems at once, each field once, and repeats no value', async () => {
    const answer = await api.request('POST', '/v1/payments', {
      body: {
        amount_cents: 0,
        capture: 'yes',
        payment_source: card({ cvv: '9876543' }),
        customer: { name: '', email: 'x', document: '98765432199', phone: '1', address: { state: 'XX' } }
      }
    })
    expect(answer.error.fields?.map(field => field.path)).to.have.members([
      ...['amount_cents', 'capture', 'external_reference', 'payment_source.cvv', 'customer.name', 'customer.email'],
      ...['customer.document', 'customer.phone', 'customer.address.zip_code', 'customer.address.street'],
      ...['customer.address.number', 'customer.address.district', 'customer.address.city', 'customer.address.state']
    ])
    expect(answer.text).not.to.match(/9876543|98765432199/)
  })

  it('bounds the list of problems, however many there are', async () => {
    const extra = Object.fromEntries(Array.from({ length: 400 }, (_, index) => [`field_${index}`, 1]))
    const answer = await api.request('POST', '/v1/payments', { body: { ...aCreateBody(), ...extra } })
    expect(answer.error.fields).to.have.length(50)
  })
})
