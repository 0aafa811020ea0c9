import { Agent, request } from 'node:http'
import { expect } from 'chai'
import { BODY_BYTES_MAX } from '../../../api/http/middleware/json-body.js'
import { aCreateBody, PAYMENT_ID } from '../builders.js'
import { exchange, requestHead } from '../raw-http.js'
import { API_KEY, useApi } from '../running-api.js'

const valid = JSON.stringify(aCreateBody())

/** Of an answer in the raw: the header is there, and the envelope says the same. */
function expectRequestId(answer: string): void {
  const [, header] = /^X-Request-Id: (\S+)\r$/m.exec(answer) ?? []
  const [, inside] = /"request_id":"([0-9a-f-]{36})"/.exec(answer) ?? []
  expect(header).to.be.a('string').and.to.equal(inside)
}

describe('bad requests are a clear 4xx, and nothing is submitted', () => {
  const api = useApi()
  afterEach(() => {
    expect(api.payments.creates).to.have.length(0)
    expect(api.payments.commands).to.have.length(0)
  })

  const bodies: readonly [name: string, body: string | Uint8Array, message: RegExp][] = [
    ['broken JSON', '{"amount_cents": 1', /not valid JSON/],
    ['a trailing comma', '{"amount_cents": 1,}', /not valid JSON/],
    ['NaN', '{"amount_cents": NaN}', /not valid JSON/],
    ['a number written with a leading zero', '{"amount_cents": 01}', /not valid JSON/],
    ['invalid UTF-8', Buffer.from([0x7b, 0x22, 0xff, 0xfe, 0x22, 0x7d]), /not valid UTF-8/],
    ['overlong UTF-8', Buffer.from([0x22, 0xc0, 0xaf, 0x22]), /not valid UTF-8/],
    ['UTF-16', Buffer.from(valid, 'utf16le'), /not valid UTF-8/],
    ['spaces only', '  \n ', /not valid JSON/],
    ['a string', '"text"', /must be a JSON object/],
    ['a number', '1', /must be a JSON object/],
    ['null', 'null', /must be a JSON object/],
    ['an array', '[]', /must be a JSON object/],
    ['a field twice', valid.replace('{"amount_cents"', '{"amount_cents":1,"amount_cents"'), /twice in one object/],
    ['a field twice further in', valid.replace('"state"', '"state":"RJ","state"'), /twice in one object/],
    ['a field twice, once in escapes', valid.replace('"name"', '"n\\u0061me":"x","name"'), /twice in one object/],
    ['an array nested 400 deep', '['.repeat(400) + ']'.repeat(400), /must be a JSON object/],
    ['an array nested 30,000 deep', '['.repeat(30_000) + ']'.repeat(30_000), /more than 500/],
    ['5,000 fields', `{${Array.from({ length: 5_000 }, (_, name) => `"${name.toString(36)}":1`)}}`, /more than 500/],
    ['5,000 numbers', `[${'1,'.repeat(5_000)}1]`, /more than 500/],
    ['brackets in texts', JSON.stringify(['[{:'.repeat(1_000)]), /must be a JSON object/]
  ]
  for (const [name, body, message] of bodies) {
    it(`${name} is 400 invalid_request`, async () => {
      const answer = await api.request('POST', '/v1/payments', { body })
      expect(answer.status).to.equal(400)
      expect(answer.error['code']).to.equal('invalid_request')
      expect(answer.error.fields?.[0]).to.include({ path: 'body' })
      expect(answer.error.fields?.[0]?.message).to.match(message)
    })
  }

  it('no body at all is 400 where one is needed', async () => {
    const answer = await api.request('POST', '/v1/payments')
    expect(answer.status).to.equal(400)
    expect(answer.error.fields).to.deep.equal([{ path: 'body', message: 'is missing: send a JSON object' }])
  })

  const roundedAmounts = ['1999.99999999999999999', '1999.9999999999999', '2000.00000000000000001', '20000000000000001']
  for (const number of [...roundedAmounts, `2000.${'0'.repeat(60_000)}1`, `1${'0'.repeat(60_000)}`]) {
    it(`amount_cents ${number.slice(0, 30)} is 400, and is not charged as another amount`, async () => {
      const body = valid.replace('"amount_cents":15990', `"amount_cents":${number}`)
      const answer = await api.request('POST', '/v1/payments', { body })
      expect(answer.status).to.equal(400)
      expect(answer.error.fields?.map(field => field.path)).to.deep.equal(['amount_cents'])
    })
  }

  for (const number of ['1e400', '-1e400', '0', '-0', '-1', '1.5', '0.9999999999999999', '"100"', '1e-7', 'true']) {
    it(`8: amount_cents ${number} is 400`, async () => {
      const body = valid.replace('"amount_cents":15990', `"amount_cents":${number}`)
      const answer = await api.request('POST', '/v1/payments', { body })
      expect(answer.status).to.equal(400)
      expect(answer.error.fields?.map(field => field.path)).to.deep.equal(['amount_cents'])
    })
  }

  it('names every number that JSON.parse would change, however deep, and no name that may be a card number', async () => {
    const numbers = '{"n":1e400,"m":[1,[0.1,9007199254740993]],"4024007153760060":1e-400,"a b":-1e999}'
    const body = valid.replace('"amount_cents":15990', `"amount_cents":1999.99999999999999999,"metadata":${numbers}`)
    const answer = await api.request('POST', '/v1/payments', { body })
    expect(answer.error.fields?.map(field => field.path)).to.deep.equal([
      'amount_cents',
      'metadata.n',
      'metadata.m.1.1',
      'body'
    ])
    expect(answer.error.fields?.[0]?.message).to.match(/would be rounded/)
    expect(answer.text).not.to.contain('4024007153760060')
  })

  it('9007199254740993 as the whole body is 400 body', async () => {
    const answer = await api.request('POST', '/v1/payments', { body: '9007199254740993' })
    expect(answer.error.fields?.map(field => field.path)).to.deep.equal(['body'])
  })

  it('a body of exactly 64 KiB is read, one byte more is 413', async () => {
    const send = (bytes: number) => api.request('POST', '/v1/payments', { body: '{"unknown":1}'.padEnd(bytes) })
    expect((await send(65_536)).error.fields?.map(field => field.path)).to.include('unknown')
    expect((await send(65_537)).status).to.equal(413)
  })

  it('a body of more than 64 KiB is 413 without Content-Length, too', async () => {
    const body = JSON.stringify({ ...aCreateBody(), metadata: { x: 'x'.repeat(BODY_BYTES_MAX) } })
    const chunks = `${Buffer.byteLength(body).toString(16)}\r\n${body}\r\n0\r\n\r\n`
    const head = requestHead('POST', '/v1/payments', {
      'Idempotency-Key': '1',
      'Content-Type': 'application/json',
      'Transfer-Encoding': 'chunked',
      Connection: 'close'
    })
    expect(await exchange(api.port, head + chunks)).to.match(/^HTTP\/1.1 413 .*"payload_too_large"/s)
  })

  it('the rest of a body that is too large does not block the next request of its connection', async () => {
    const agent = new Agent({ keepAlive: true, maxSockets: 1 })
    const [tooLarge, next] = [await send(agent, api.port, 4 * BODY_BYTES_MAX), await send(agent, api.port, 1)]
    agent.destroy()
    expect([tooLarge, next]).to.deep.equal([413, 400])
  })

  const media: readonly [string, Record<string, string | null>][] = [
    ['text/plain', { 'Content-Type': 'text/plain' }],
    ['a form', { 'Content-Type': 'application/x-www-form-urlencoded' }],
    ['multipart', { 'Content-Type': 'multipart/form-data; boundary=x' }],
    ['another JSON', { 'Content-Type': 'application/vnd.api+json' }],
    ['a name that only begins like JSON', { 'Content-Type': 'application/jsonp' }],
    ['another charset', { 'Content-Type': 'application/json; charset=iso-8859-1' }],
    ['compressed JSON', { 'Content-Encoding': 'gzip' }]
  ]
  for (const [name, headers] of media) {
    it(`${name} is 415`, async () => {
      const answer = await api.request('POST', '/v1/payments', { body: valid, headers })
      expect(answer.status).to.equal(415)
      expect(answer.error['code']).to.equal('unsupported_media_type')
    })
  }

  it('the Content-Type of an empty body is ignored: a capture without a body is accepted, a create is 400', async () => {
    const headers = { 'Content-Type': 'application/x-www-form-urlencoded', 'Content-Length': '0', Connection: 'close' }
    const answerTo = (path: string) =>
      exchange(api.port, requestHead('POST', path, { 'Idempotency-Key': '1', ...headers }))
    api.payments.submission = { kind: 'not_found' }
    for (const name of ['capture', 'cancel']) {
      expect(await answerTo(`/v1/payments/${PAYMENT_ID}/${name}`)).to.match(/^HTTP\/1.1 404 .*"not_found"/s)
    }
    expect(api.payments.commands.splice(0)).to.have.length(2)
    expect(await answerTo('/v1/payments')).to.match(/^HTTP\/1.1 400 .*is missing: send a JSON object/s)
  })

  it('JSON without a Content-Type is 415', async () => {
    const body = new TextEncoder().encode(valid)
    const answer = await api.request('POST', '/v1/payments', { body, headers: { 'Content-Type': null } })
    expect(answer.status).to.equal(415)
  })
})

describe('an absent body', () => {
  const api = useApi()

  it('treats `null` as an absent body: a capture or cancel means the whole amount, with the same fingerprint', async () => {
    api.payments.submission = { kind: 'not_found' }
    for (const name of ['capture', 'cancel']) {
      for (const body of [undefined, 'null', ' null\n', '{"amount_cents":1}']) {
        await api.request('POST', `/v1/payments/${PAYMENT_ID}/${name}`, { body })
      }
      const commands = api.payments.commands.splice(0)
      expect(commands.map(({ amountCents }) => amountCents)).to.deep.equal([null, null, null, 1])
      expect(new Set(commands.map(({ scope }) => scope.fingerprint))).to.have.property('size', 2)
    }
    const answer = await api.request('POST', `/v1/payments/${PAYMENT_ID}/cancel`, { body: '{"amount_cents":null}' })
    expect(answer.error.fields?.map(field => field.path)).to.deep.equal(['amount_cents'])
  })
})

describe('parameters that a route does not know', () => {
  const api = useApi()

  const routes: readonly [method: string, path: string][] = [
    ['POST', '/v1/payments'],
    ['POST', `/v1/payments/${PAYMENT_ID}/capture`],
    ['GET', `/v1/payments/${PAYMENT_ID}`],
    ['GET', '/v1/payments'],
    ['PUT', '/v1/webhook-endpoint']
  ]
  for (const [method, path] of routes) {
    it(`a parameter that ${method} ${path} does not know is 400`, async () => {
      const body = method === 'GET' ? undefined : aCreateBody()
      const answer = await api.request(method, `${path}?x=1&__proto__=1`, { body })
      expect([answer.status, answer.error['code']]).to.deep.equal([400, 'invalid_request'])
      const message = 'is not a known field here'
      expect(answer.error.fields).to.have.deep.members(['x', '__proto__'].map(name => ({ path: name, message })))
    })
  }

  it('a query that is not UTF-8 is 400, and an empty one is ignored', async () => {
    const answer = await api.request('GET', `/v1/payments/${PAYMENT_ID}?%ff`)
    expect(answer.error.fields).to.deep.equal([{ path: 'query', message: 'must be percent-encoded UTF-8' }])
    expect((await api.request('GET', `/v1/payments/${PAYMENT_ID}?`)).status).to.equal(404)
  })
})

describe('a name of half a character', () => {
  const api = useApi()

  it('is told as a whole one: strict clients could not read the answer', async () => {
    const answer = await api.request('POST', '/v1/payments', { body: `{"\\ud83d":1,"metadata":{"\\ud83d":1}}` })
    const paths = answer.error.fields?.map(({ path }) => path)
    expect(paths).to.include.members(['\ufffd', 'metadata.\ufffd'])
  })
})

describe('invalid Idempotency-Keys', () => {
  const api = useApi()
  afterEach(() => {
    expect(api.payments.creates).to.have.length(0)
  })

  for (const key of [null, '']) {
    it(`5.1, 7: ${key === null ? 'no' : 'an empty'} Idempotency-Key is 400 missing_idempotency_key on every payment POST`, async () => {
      for (const path of ['', `/${PAYMENT_ID}/capture`, `/${PAYMENT_ID}/cancel`]) {
        const answer = await api.request('POST', `/v1/payments${path}`, { headers: { 'Idempotency-Key': key } })
        expect(answer.status).to.equal(400)
        expect(answer.error).to.include({ code: 'missing_idempotency_key', retryable: false })
      }
    })
  }

  for (const [name, key] of [
    ['256 characters', 'x'.repeat(256)],
    ['a letter that is not ASCII', 'chavé'],
    ['a tab inside', 'a\tb'],
    ['nothing but a card number', '4024 0071 5376 0060']
  ] as const) {
    it(`an Idempotency-Key with ${name} is 400 invalid_request`, async () => {
      const answer = await api.request('POST', '/v1/payments', { body: valid, headers: { 'Idempotency-Key': key } })
      expect(answer.status).to.equal(400)
      expect(answer.error.fields?.map(field => field.path)).to.deep.equal(['header Idempotency-Key'])
      expect(JSON.stringify(answer.error)).not.to.include(key)
    })
  }

  it('two Idempotency-Keys in one request are 400', async () => {
    const head = requestHead('POST', '/v1/payments', {
      'Idempotency-Key': '1\r\nIdempotency-Key: 2',
      Connection: 'close'
    })
    expect(await exchange(api.port, head)).to.match(/^HTTP\/1.1 400 .*header Idempotency-Key/s)
  })
})

describe('requests that are not readable get the envelope, too', () => {
  const api = useApi()

  it('answers 400 with the envelope to a header that injects another one', async () => {
    const answer = await exchange(api.port, 'GET /v1/payments HTTP/1.1\r\nHost: x\r\nX-A: a\u0000b\r\n\r\n')
    expect(answer).to.match(/^HTTP\/1.1 400 .*"code":"invalid_request"/s)
  })

  for (const [name, head, status] of [
    ['no Host', 'GET /v1/payments HTTP/1.1\r\n\r\n', 400],
    ['a second Host', 'GET /v1/payments HTTP/1.1\r\nHost: x\r\nhost: y\r\n\r\n', 400],
    ['a second key', requestHead('GET', '/v1/payments', { AUTHORIZATION: `Bearer ${API_KEY}` }), 400],
    ['an unknown expectation', 'GET /v1/payments HTTP/1.1\r\nHost: x\r\nExpect: tea\r\n\r\n', 417]
  ] as const) {
    it(`7: ${name} is ${status} with the envelope`, async () => {
      const id = '0d0e0f00-0000-4000-8000-00000000000a'
      const answer = await exchange(api.port, head.replace('\r\n', `\r\nX-Correlation-Id: ${id}\r\n`))
      expect(answer).to.match(/^HTTP\/1.1 \d+ .*"code":"invalid_request".*"path":"request"/s)
      expect(answer.slice(9, 12)).to.equal(String(status))
      expectRequestId(answer)
      expect(answer).to.contain(`X-Correlation-Id: ${id}\r\n`).and.contain(`"correlation_id":"${id}"`)
      expect(await exchange(api.port, head.replace('\r\n', '\r\nX-Correlation-Id: x\r\n'))).not.to.contain('orrelation')
    })
  }

  it('more than 100 headers are 431 with the envelope, so that no header is dropped silently', async () => {
    const headOf = (others: number): string =>
      requestHead('GET', '/v1/none', Object.fromEntries(Array.from({ length: others }, (_, at) => [`a${at}`, ''])))
    // Beside them: Host, Authorization, Connection.
    expect(await exchange(api.port, headOf(97).replace('Host', 'Connection: close\r\nHost'))).to.match(
      /^HTTP\/1.1 404 /
    )
    const manyWithSecondKey = headOf(2_000).replace(/\r\n$/, `Authorization: Bearer ${API_KEY}\r\n\r\n`)
    for (const head of [headOf(99), headOf(1_050), manyWithSecondKey]) {
      const answer = await exchange(api.port, head)
      expect(answer).to.match(/^HTTP\/1.1 431 .*"code":"invalid_request".*"has more than 100 headers"/s)
      expectRequestId(answer)
    }
  })

  it('headers of more than 16 KiB are 431 with the envelope', async () => {
    const headOf = (bytes: number): string =>
      requestHead('GET', '/v1/none', { 'X-A': 'a'.repeat(bytes), Connection: 'close' })
    expect(await exchange(api.port, headOf(16_000))).to.match(/^HTTP\/1.1 404 /)
    const answer = await exchange(api.port, headOf(16_384))
    expect(answer).to.match(/^HTTP\/1.1 431 .*"code":"invalid_request".*a request line and headers/s)
    expectRequestId(answer)
  })

  it('a request that is not HTTP is 400 with the envelope', async () => {
    const answer = await exchange(api.port, 'what\r\n\r\n')
    expect(answer).to.match(/^HTTP\/1.1 400 .*"code":"invalid_request"/s)
    expectRequestId(answer)
  })
})

describe('unknown paths and methods', () => {
  const api = useApi()

  for (const path of [
    '/',
    '/v1',
    '/v2/payments',
    '/v1/payment',
    '/V1/payments',
    '/v1/payments/',
    '/%',
    '//v1/payments'
  ]) {
    it(`${path} is 404 not_found`, async () => {
      const answer = await api.request('GET', path)
      expect(answer.status).to.equal(404)
      expect(answer.error['code']).to.equal('not_found')
    })
  }

  for (const [method, path, allow] of [
    ['DELETE', '/v1/payments', 'GET, HEAD, OPTIONS, POST'],
    ['PUT', `/v1/payments/${PAYMENT_ID}`, 'GET, HEAD, OPTIONS'],
    ['GET', `/v1/payments/${PAYMENT_ID}/capture`, 'OPTIONS, POST'],
    ['POST', '/v1/capabilities', 'GET, HEAD, OPTIONS']
  ] as const) {
    it(`${method} ${path} is 405 with Allow; OPTIONS has the same Allow`, async () => {
      const answer = await api.request(method, path)
      expect(answer.status).to.equal(405)
      expect(answer.error['code']).to.equal('method_not_allowed')
      expect(answer.headers.get('Allow')).to.equal(allow)
      const options = await api.request('OPTIONS', path)
      expect(options.status).to.equal(204)
      expect(options.headers.get('Allow')).to.equal(allow)
    })
  }
})

/** Sends a body of that size in chunks; answers the status. */
function send(agent: Agent, port: number, bytes: number): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    const headers = {
      Authorization: `Bearer ${API_KEY}`,
      'Idempotency-Key': '1',
      'Content-Type': 'application/json',
      'Transfer-Encoding': 'chunked'
    }
    const sent = request({ agent, port, host: '127.0.0.1', path: '/v1/payments', method: 'POST', headers }, answer => {
      answer.resume().once('end', () => resolve(answer.statusCode))
    })
    sent.once('error', reject).end('x'.repeat(bytes))
  })
}
