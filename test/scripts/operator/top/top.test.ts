import { expect } from 'chai'
import { flowOf, lookAt, perSecondOf } from '../../../../scripts/operator/top/figures.js'
import { type Overview, screenOf } from '../../../../scripts/operator/top/screen.js'

const figures = (creates: readonly [fast: number, slow: number], refused: number): string => `
# TYPE card_payments_http_request_duration_seconds histogram
card_payments_http_request_duration_seconds_bucket{le="0.1",method="POST",route="/v1/payments",status="201"} ${creates[0]}
card_payments_http_request_duration_seconds_bucket{le="0.5",method="POST",route="/v1/payments",status="201"} ${creates[0] + creates[1]}
card_payments_http_request_duration_seconds_bucket{le="+Inf",method="POST",route="/v1/payments",status="201"} ${creates[0] + creates[1]}
card_payments_http_request_duration_seconds_count{method="POST",route="/v1/payments",status="201"} ${creates[0] + creates[1]}
card_payments_http_request_duration_seconds_count{method="GET",route="/v1/payments",status="503"} ${refused}
`
const api = (metrics: string, name = 'api at 10.0.0.1:9100') => ({ name, metrics })
const ofCreates = { method: /^POST$/, route: /^\/v1\/payments$/ }
const REQUESTS = 'http_request_duration_seconds'

describe('operator top: figures', () => {
  it('computes rates and quantiles from two reads of the metrics', () => {
    const before = lookAt(0, [api(figures([1_000, 0], 0))])
    const after = lookAt(2_000, [api(figures([1_050, 50], 4))])
    const { perSecond, p50Ms, p99Ms } = flowOf(before, after, REQUESTS, ofCreates)
    expect([perSecond, p50Ms, Math.round(p99Ms ?? 0)]).to.deep.equal([50, 100, 492])
    expect(perSecondOf(before, after, `${REQUESTS}_count`, { status: /^5/ })).to.equal(2)
    expect(flowOf(after, after, REQUESTS, ofCreates)).to.include({ p50Ms: null, p99Ms: null })
  })

  it('counts a series that a process did not have before', () => {
    const flow = flowOf(lookAt(0, [api('')]), lookAt(1_000, [api(figures([3, 0], 0))]), REQUESTS, ofCreates)
    expect(flow.perSecond).to.equal(3)
  })

  it('adds up processes, counts a new one from its second read, and a restarted one from 0', () => {
    const before = lookAt(0, [api(figures([1_000, 0], 0)), api(figures([500, 0], 0), 'api at b')])
    const after = lookAt(1_000, [
      api(figures([10, 0], 0)),
      api(figures([505, 0], 0), 'api at b'),
      api(figures([7_000, 0], 0), 'api at c')
    ])
    expect(flowOf(before, after, REQUESTS, ofCreates).perSecond).to.equal(15)
  })
})

describe('operator top: screen', () => {
  it('is at most 80 columns wide with large figures', () => {
    const overview: Overview = {
      at: '2026-01-31T12:00:00.000Z',
      environment: 'live',
      flows: { creates: { perSecond: 123_456.7, p50Ms: 12_345.6, p99Ms: 123_456.7 } },
      waiting: 1_234_567,
      in_work: 123_456,
      oldest_ms: 123_456_789,
      wake_ups_due: 1_234_567,
      to_reconcile: 1_234_567,
      dead_letters: 1_234,
      in_doubt: { '0': 1_234_567, '60': 1_234_567, '600': 1_234_567, '3600': 1_234_567 },
      workers: 1_234,
      review: Array.from({ length: 9 }, (_, index) => ({
        payment_id: `01890a5d-ac96-774b-bcce-b302099a800${index}`,
        reason: 'notification_unconfirmed'
      })),
      processes: [{ name: 'notifications at host.with.a.long.name.example:9100', state: 'PROBLEM durable redis' }]
    }
    const lines = screenOf(overview).split('\n')
    expect(Math.max(...lines.map(({ length }) => length))).to.be.at.most(80)
    expect(lines.filter(line => line.includes('notification_unconfirmed'))).to.have.lengthOf(5)
    expect(lines).to.include('creates                       123456.7    12346 ms   123457 ms')
  })
})
