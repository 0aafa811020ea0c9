import { InMemorySpanExporter, SimpleSpanProcessor, TracerProvider } from '@opentelemetry/sdk-trace'
import { expect } from 'chai'
import { recordTraces } from '../../../runtime/tracing.js'
import { type RunningApi, startApi } from '../running-api.js'

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
