import { expect } from 'chai'
import { Registry } from 'prom-client'
import type { PaymentProgress, PaymentStatus } from '../../../machines/model.js'
import { createOutcomeMetrics } from '../../../workers/payments/outcome-metrics.js'
import { aPayment } from '../../support/payments.js'

/** The lines above zero after these changes of one payment of 1,000 cents, without the prefix. */
async function countsOf(...changes: [before: PaymentStatus, after: Partial<PaymentProgress>][]): Promise<string[]> {
  const registry = new Registry()
  const count = createOutcomeMetrics(registry)
  for (const [statusBefore, progress] of changes) count({ payment: aPayment({ progress }), statusBefore }, 'live')
  const lines = (await registry.metrics()).split('\n')
  return lines.filter(line => /^card_payments_.* [1-9]/.test(line)).map(line => line.replace('card_payments_', ''))
}

const operation = aPayment().progress.operation

describe('the business metrics of payments', () => {
  it('counts an approval and the captured money', async () => {
    expect(await countsOf(['pending', { status: 'captured', capturedCents: 1_000 }])).to.deep.equal([
      'authorisations_total{merchant="m_0000000001",brand="visa",outcome="approved",reason=""} 1',
      'money_cents_total{flow="captured"} 1000'
    ])
  })

  it('counts a doubt once it is over', async () => {
    expect(await countsOf(['pending', { status: 'unknown' }], ['unknown', { status: 'pre_authorized' }])).to.include(
      'authorisations_total{merchant="m_0000000001",brand="visa",outcome="approved",reason=""} 1'
    )
  })

  it('counts declines by the reason of their code, and failures by theirs', async () => {
    expect(
      await countsOf(
        ['pending', { status: 'failed', error: 'card_declined', declinedCode: '51' }],
        ['unknown', { status: 'failed', error: 'card_expired', declinedCode: '54' }],
        ['pending', { status: 'failed', error: 'network_unavailable' }]
      )
    ).to.include.members([
      'authorisations_total{merchant="m_0000000001",brand="visa",outcome="declined",reason="insufficient_funds"} 1',
      'authorisations_total{merchant="m_0000000001",brand="visa",outcome="declined",reason="expired_card"} 1',
      'authorisations_total{merchant="m_0000000001",brand="visa",outcome="failed",reason="network_unavailable"} 1'
    ])
  })

  it('counts a partial capture and refunds that succeeded', async () => {
    const refund = { ...operation, kind: 'refund', amountCents: 200 } as const
    expect(
      await countsOf(
        ['capturing', { status: 'captured', capturedCents: 700 }],
        ['captured', { status: 'refunding', operation: { ...refund, state: 'in_progress' } }],
        ['refunding', { status: 'partially_refunded', operation: { ...refund, state: 'succeeded' } }],
        ['refunding', { status: 'captured', capturedCents: 700, operation: { ...refund, state: 'failed' } }]
      )
    ).to.include.members(['money_cents_total{flow="captured"} 700', 'money_cents_total{flow="refunded"} 200'])
  })

  it('counts what a chargeback takes', async () => {
    const change = { status: 'charged_back', capturedCents: 1_000, refundedCents: 300 } as const
    expect(await countsOf(['partially_refunded', change])).to.deep.equal(['money_cents_total{flow="charged_back"} 700'])
  })

  it('counts nothing while the status stays', async () => {
    expect(await countsOf(['captured', { status: 'captured', capturedCents: 1_000 }])).to.deep.equal([])
  })
})
