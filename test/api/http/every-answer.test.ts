import { InMemorySpanExporter, SimpleSpanProcessor, TracerProvider } from '@opentelemetry/sdk-trace'
import { expect } from 'chai'
import { pino } from 'pino'
import { ArchiveUnavailable } from '../../../archive/archive.js'
import { WrittenByOtherVersion } from '../../../machines/written-by-other-version.js'
import { DamagedPayment } from '../../../redis/payments/payment-record.js'
import { DamagedValue } from '../../../redis/stored-fields.js'
import { recordTraces } from '../../../runtime/tracing.js'
import { writingTo } from '../../support/log-lines.js'
import { aCreateBody, aPayment, capturedProgress, PAYMENT_ID } from '../builders.js'
import { type RunningApi, startApi, useApi } from '../running-api.js'

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/

describe('what every answer carries', () => {
  const lines: string[] = []
  const api = useApi({ log: pino({ level: 'debug' }, writingTo(lines)) })
  beforeEach(() => {
    lines.length = 0
  })

  it('X-Request-Id, the same in the envelope, new for each request', async () => {
    const [first, second] = [await api.request('GET', '/v1/none'), await api.request('GET', '/v1/none')]
    expect(first.headers.get('X-Request-Id')).to.match(UUID).and.to.equal(first.error['request_id'])
    expect(second.headers.get('X-Request-Id')).not.to.equal(first.headers.get('X-Request-Id'))
  })

  for (const [method, path, status] of [
    ['GET', '/v1/capabilities', 200],
    ['GET', `/v1/payments/${PAYMENT_ID}`, 404],
    ['GET', '/v1/none', 404],
    ['DELETE', '/v1/payments', 405]
  ] as const) {
    it(`5.2: X-Correlation-Id is echoed, and stands in the envelope (${method} ${path})`, async () => {
      const id = '0D0E0F00-0000-4000-8000-00000000000a'
      const answer = await api.request(method, path, { headers: { 'X-Correlation-Id': id } })
      expect(answer.status).to.equal(status)
      expect(answer.headers.get('X-Correlation-Id')).to.equal(id)
      expect(answer.error['correlation_id']).to.equal(status === 200 ? undefined : id)
    })

    it(`5.2: an X-Correlation-Id that is not a UUID is 400, on every route (${method} ${path})`, async () => {
      for (const id of ['abc', '']) {
        const answer = await api.request(method, path, { headers: { 'X-Correlation-Id': id } })
        expect(answer.status).to.equal(400)
        expect(answer.error.fields?.map(field => field.path)).to.deep.equal(['header X-Correlation-Id'])
        expect(answer.error).not.to.have.property('correlation_id')
      }
    })
  }

  it('headers against caching, sniffing and framing, and no header that names the server software', async () => {
    const { headers } = await api.request('GET', '/v1/capabilities')
    expect(headers.get('Cache-Control')).to.equal('no-store')
    expect(headers.get('X-Content-Type-Options')).to.equal('nosniff')
    expect(headers.get('Strict-Transport-Security')).to.match(/^max-age=31536000/)
    expect(headers.get('Content-Security-Policy')).to.contain("frame-ancestors 'none'")
    expect(headers.get('Content-Type')).to.match(/^application\/json/)
    expect(headers.has('X-Powered-By')).to.equal(false)
  })

  it('7: an unexpected error is 500 with a general sentence, and a log that has the reason', async () => {
    api.payments.submission = new Error('the reason')
    const answer = await api.request('POST', '/v1/payments', { body: aCreateBody() })
    expect(answer.status).to.equal(500)
    expect(answer.error).to.include({ code: 'internal_error', retryable: true })
    expect(answer.text).not.to.contain('the reason')
    const logged = lines.find(line => line.includes('the reason'))
    expect(logged).to.contain(String(answer.error['request_id'])).and.to.contain('"route":"/v1/payments"')
  })

  for (const reason of ['Connection is closed.', 'Command timed out', 'connect ECONNREFUSED 127.0.0.1:6379']) {
    it(`an unavailable Redis (${reason}) is 503 service_unavailable with Retry-After`, async () => {
      const code = reason.includes('ECONNREFUSED') ? { code: 'ECONNREFUSED' } : {}
      api.payments.submission = Object.assign(new Error(reason), code)
      const answer = await api.request('POST', '/v1/payments', { body: aCreateBody() })
      expect(answer.status).to.equal(503)
      expect(answer.error).to.include({ code: 'service_unavailable', retryable: true })
      expect(Number(answer.headers.get('Retry-After'))).to.be.greaterThan(0)
    })
  }

  it('an unavailable archive is 503 service_unavailable with Retry-After', async () => {
    api.payments.submission = new ArchiveUnavailable(new Error('connect ECONNREFUSED'))
    const answer = await api.request('POST', '/v1/payments', { body: aCreateBody() })
    expect([answer.status, answer.error['code']]).to.deep.equal([503, 'service_unavailable'])
    expect(Number(answer.headers.get('Retry-After'))).to.be.greaterThan(0)
  })

  it('a payment of a newer format is 503, not 500: while two versions run, the other one can read it', async () => {
    api.payments.submission = new WrittenByOtherVersion('A stored record lacks amountCents.')
    const answer = await api.request('POST', '/v1/payments', { body: aCreateBody() })
    expect(answer.status).to.equal(503)
    expect(answer.error).to.include({ code: 'service_unavailable', retryable: true })
  })

  it('a stored record that is damaged is 503 with a sentence, and names the payment, never 500', async () => {
    const { id } = aPayment().terms
    for (const [error, paymentId] of [
      [new DamagedValue('A stored idempotency record has elements of another type.'), undefined],
      [new DamagedPayment(id, 'A stored payment is not a list with a format number.'), id]
    ] as const) {
      api.payments.submission = error
      const answer = await api.request('POST', '/v1/payments', { body: aCreateBody() })
      expect(answer.status).to.equal(503)
      expect(answer.error).to.include({ code: 'service_unavailable', retryable: true })
      expect(answer.error['message']).to.match(/cannot be read.* operator/)
      expect(answer.error['payment_id']).to.equal(paymentId)
    }
  })

  it('only the ids of a request are logged', async () => {
    api.payments.submission = {
      kind: 'finished',
      terms: aPayment().terms,
      result: { kind: 'succeeded', progress: capturedProgress() },
      isReplay: false
    }
    const source = { source_type: 'card', card_id: 'card_1', cvv: '987' }
    await api.request('POST', '/v1/payments', { body: { ...aCreateBody(), payment_source: source } })
    await api.request('POST', '/v1/payments', { body: '{"payment_source":{"cvv":"987"' })
    expect(lines.join('')).to.contain('request answered')
    const answered = lines.map(line => JSON.parse(line)).filter(({ msg }) => msg === 'request answered')
    expect(answered.map(({ status, payment_id, code }) => ({ status, payment_id, code }))).to.deep.equal([
      { status: 201, payment_id: aPayment().terms.id, code: undefined },
      { status: 400, payment_id: undefined, code: 'invalid_request' }
    ])
    // Clocks, process ids and random ids may hold any digits by chance; everything else is searched for the bare CVV.
    const chance = new Set(['time', 'pid', 'duration_ms', 'request_id'])
    const log = lines
      .map(line => JSON.stringify(JSON.parse(line, (key, value) => (chance.has(key) ? null : value))))
      .join('')
    expect(log).not.to.match(/987|secret-of|12345678909|Maria|card_1|key-\d/)
  })
})

const TRACEPARENT = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01'

describe('traces of requests', () => {
  const exporter = new InMemorySpanExporter()
  let api: RunningApi
  before(async () => {
    api = await startApi()
  })
  beforeEach(() => {
    exporter.reset()
    recordTraces(new TracerProvider({ spanProcessors: [new SimpleSpanProcessor({ exporter })] }).getTracer('test'))
  })
  afterEach(() => recordTraces(null))
  after(() => api.stop())

  const get = (headers: Record<string, string | null>) => api.request('GET', '/v1/capabilities', { headers })
  const parents = () => exporter.getFinishedSpans().map(({ parentSpanContext }) => parentSpanContext?.traceId)

  it('records no trace of a request with a traceparent but without a valid key', async () => {
    for (const Authorization of [null, 'Bearer svc_test.k_full.wrong'])
      await get({ Authorization, traceparent: TRACEPARENT })
    expect(parents()).to.deep.equal([])
  })

  it('records a request with a key under the trace of its client, from its beginning', async () => {
    await get({ traceparent: TRACEPARENT })
    expect(parents()).to.deep.equal(['4bf92f3577b34da6a3ce929d0e0e4736'])
    expect(exporter.getFinishedSpans()[0]?.name).to.equal('GET /v1/capabilities')
  })

  it('keeps no trace whose ids may be a card number', async () => {
    for (const ids of [
      '00000000000000004024007153760060-00f067aa0ba902b7',
      '4bf92f3577b34da6a3ce929d0e0e4736-4024007153760060'
    ])
      await get({ traceparent: `00-${ids}-01` })
    expect(parents()).to.deep.equal([undefined, undefined])
  })
})
