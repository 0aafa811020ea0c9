import { randomUUID } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { expect } from 'chai'
import { demoCustomer } from '../../../scripts/start/demo-customer.js'
import { readLoopbackTls } from '../../../scripts/start/loopback-tls.js'
import { type Collector, startCollector, treeOf } from '../../support/collector.js'
import { until } from '../../support/conditions.js'
import { Merchant, orderOf, registerHook, testCards } from '../../support/merchant.js'
import { startReceiver } from '../../support/receiver.js'
import { startService } from '../../support/service.js'

const TRACE_ID = '4bf92f3577b34da6a3ce929d0e0e4736'
const TRACEPARENT = `00-${TRACE_ID}-00f067aa0ba902b7-01`

describe('traces (docs/OPERATIONS.md#traces-with-opentelemetry)', () => {
  let collector: Collector
  let logs = ''
  let paymentId = ''

  before(async () => {
    collector = await startCollector()
    const service = await startService({ env: { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url } })
    const receiver = await startReceiver(undefined, readLoopbackTls(service.dataDir))
    try {
      await registerHook(service, receiver.url)
      const token = await new Merchant(() => service).token(testCards.approved)
      const response = await fetch(`${service.baseUrl}/v1/payments`, {
        method: 'POST',
        headers: {
          Authorization: `Bearer ${service.apiKey}`,
          'Content-Type': 'application/json',
          'Idempotency-Key': randomUUID(),
          traceparent: TRACEPARENT
        },
        body: JSON.stringify({ ...orderOf({}), payment_source: { source_type: 'token', token_id: token } })
      })
      paymentId = ((await response.json()) as { id: string }).id
      await until('the webhook has arrived', () => receiver.received.length > 0)
    } finally {
      // What is left is exported when the processes stop.
      await service.stop()
      await receiver.stop()
      logs = service.logs()
    }
  })
  after(() => collector.stop())

  it("go from the merchant's request through stream, worker and network to the webhook, as the document shows", () => {
    const request = collector.spans.find(({ name, traceId }) => name === 'POST /v1/payments' && traceId === TRACE_ID)
    if (request === undefined) throw new Error(`No step of the request; there are:\n${collector.text()}`)
    expect(request.parentSpanId).to.equal('00f067aa0ba902b7')
    const documented = /### Traces[\s\S]*?```text\n([\s\S]*?)```/.exec(readFileSync('docs/OPERATIONS.md', 'utf8'))?.[1]
    expect(`${treeOf(collector.spans, request).join('\n')}\n`).to.equal(documented)
  })

  it('are named in the lines of the log', () => {
    const lines = logs.split('\n').filter(line => line.includes('a payment changed') && line.includes(paymentId))
    expect(lines).not.to.deep.equal([])
    for (const line of lines) expect(line).to.include(`"trace_id":"${TRACE_ID}"`)
  })

  it('carry no card and no personal data', () => {
    const text = collector.text()
    expect(text).to.include(paymentId)
    const { address, ...buyer } = demoCustomer
    const secrets = [testCards.approved, ...Object.values(buyer), ...Object.values(address)]
    for (const secret of secrets.filter(({ length }) => length > 4))
      expect(text.includes(secret), secret).to.equal(false)
    expect(text.includes(`"${testCards.approved.slice(-4)}"`), 'the last four digits').to.equal(false)
  })
})
