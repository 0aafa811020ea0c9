import { InMemorySpanExporter, SimpleSpanProcessor, TracerProvider } from '@opentelemetry/sdk-trace'
import { expect } from 'chai'
import { beginStep, recordStep, recordTraces, traceIdOf, traceparentOf } from '../../runtime/tracing.js'

const TRACE_ID = '4bf92f3577b34da6a3ce929d0e0e4736'
const PARENT = `00-${TRACE_ID}-00f067aa0ba902b7-01`

describe('tracing', () => {
  afterEach(() => recordTraces(null))

  const recorded = (): InMemorySpanExporter => {
    const exporter = new InMemorySpanExporter()
    recordTraces(new TracerProvider({ spanProcessors: [new SimpleSpanProcessor({ exporter })] }).getTracer('test'))
    return exporter
  }

  it('reads a traceparent, also of a later version, and no other text', () => {
    expect(traceparentOf(PARENT)).to.equal(PARENT)
    expect(traceparentOf(`01${PARENT.slice(2)}-more`)).to.equal(`01${PARENT.slice(2)}`)
    const noTrace = `00-${'0'.repeat(32)}-00f067aa0ba902b7-01`
    const noSpan = `00-${TRACE_ID}-${'0'.repeat(16)}-01`
    for (const text of ['', 'x', PARENT.slice(1), PARENT.toUpperCase(), `ff${PARENT.slice(2)}`, noTrace, noSpan]) {
      expect(traceparentOf(text), text).to.equal(null)
    }
    expect(traceIdOf(PARENT)).to.equal(TRACE_ID)
  })

  it('passes the trace on and records nothing, without an exporter', () => {
    const step = beginStep('request', PARENT)
    expect(step).to.deep.include({ traceparent: PARENT, isRecorded: false })
    expect(() => step.end()).not.to.throw()
    expect(beginStep('wake', null).traceparent).to.equal(null)
  })

  it('records steps under their parents, with their times, names, attributes and links', () => {
    const exporter = recorded()
    const step = beginStep('request', PARENT, { kind: 'SERVER' })
    const beforeMs = performance.now()
    recordStep('lock', step.traceparent, 30, { attributes: { outcome: 'held' }, link: PARENT })
    // The machine may stop between the two looks at its clock.
    const tookMs = performance.now() - beforeMs
    step.end({ status: 201 }, 'POST /v1/payments')
    const [lock, request] = exporter.getFinishedSpans()
    expect(request).to.deep.include({ name: 'POST /v1/payments', attributes: { status: 201 } })
    expect(request?.parentSpanContext?.spanId).to.equal('00f067aa0ba902b7')
    expect(lock?.spanContext().traceId).to.equal(TRACE_ID)
    expect(lock?.parentSpanContext?.spanId).to.equal(request?.spanContext().spanId)
    expect(lock?.links[0]?.context.spanId).to.equal('00f067aa0ba902b7')
    expect(Math.round((lock?.duration[0] ?? 0) * 1e3 + (lock?.duration[1] ?? 0) / 1e6)).to.be.within(29, 31 + tookMs)
  })

  it('begins a trace where there is none, and respects the sampling of its root', () => {
    recorded()
    expect(beginStep('wake', null).traceparent).to.match(/^00-[0-9a-f]{32}-[0-9a-f]{16}-01$/)
    expect(beginStep('command', PARENT.replace(/01$/, '00'))).to.deep.include({ isRecorded: false })
  })
})
