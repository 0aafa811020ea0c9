import { expect } from 'chai'
import type { PaymentProgress, ReviewReason } from '../../../machines/model.js'
import { orderIdOf } from '../../../machines/network.js'
import { presentForOperators } from '../../../scripts/operator/payment-text.js'
import { adviceText } from '../../../scripts/operator/review-advice.js'
import { inDoubt, inStatus } from '../../support/decisions.js'
import { aDoubt, aPayment, references } from '../../support/payments.js'

/** The lines of the advice, by their name. */
function adviceFor(reviewReason: ReviewReason | null, progress: Partial<PaymentProgress>) {
  const payment = aPayment({ progress: { ...progress, reviewReason } })
  const [title = '', ...lines] = adviceText(payment).trimEnd().split('\n')
  const named = Object.fromEntries(lines.map(line => [line.slice(2, 12).trim(), line.slice(13)]))
  return { id: payment.terms.id, title, named }
}

const captured = inStatus('captured').progress
const refunding = inStatus('refunding', inDoubt('refund', 300)).progress

describe('the fields of `payment show --json`', () => {
  it('have names in one style, also inside', () => {
    const payment = aPayment({ progress: { ...refunding, reviewReason: 'figures_differ' } })
    const names = [...JSON.stringify(presentForOperators(payment)).matchAll(/"([^"]+)":/g)].map(([, name]) => name)
    expect(names).to.include('review_reason')
    expect(names.filter(name => !/^[a-z0-9]+(_[a-z0-9]+)*$/.test(String(name)))).to.deep.equal([])
  })
})

describe('the advice about a payment in manual review', () => {
  for (const reason of [
    'duplicate_sale',
    'figures_differ',
    'sale_after_failure',
    'notification_unconfirmed',
    'unresolved_for_long'
  ] as const) {
    it(`${reason}: ends when it is explained, and by a conclusion while an operation is in doubt`, () => {
      const { id, title, named } = adviceFor(reason, captured)
      expect(title).to.equal(`Listed for manual review: ${reason}`)
      expect(Object.keys(named)).to.deep.equal(['happened', 'payment', 'look at', 'ends by'])
      expect(named['look at']).to.contain(`order_id ${orderIdOf(id)}, sale_id ${captured.references?.saleId}`)
      expect(named['ends by']).to.contain(`payment settle-attention ${id}`)
      const doubtful = adviceFor(reason, refunding)
      expect(Object.keys(doubtful.named)).to.deep.equal([
        'happened',
        'payment',
        'look at',
        'in doubt',
        'booked',
        'not booked'
      ])
    })
  }

  it('has both sides: the figures of the payment, and those of the record that was read last', () => {
    const history = [
      { atMs: 0, event: 'CONTRADICTED', detail: 'another currency: captured, captured 9, voided 0', times: 1 },
      { atMs: 1, event: 'NO_ANSWER', detail: 'HTTP 500', times: 1 }
    ].map(line => ({ ...line, status: 'captured', phase: null }) as const)
    const payment = aPayment({ progress: { ...captured, reviewReason: 'figures_differ' } })
    const text = adviceText({ ...payment, history })
    expect(text).to.match(/payment +captured; asked 1000, authorised 1000, captured 1000, refunded 0 cents of BRL\n/)
    expect(text).to.match(/record +1970-01-01T00:00:00.000Z CONTRADICTED: another currency: captured, captured 9/)
  })

  it('says what must be seen at the acquirer before an outcome in doubt is concluded', () => {
    const reason = 'unresolved_for_long'
    const doubts: [Partial<PaymentProgress>, RegExp, RegExp | undefined, RegExp][] = [
      [refunding, /^the refund of 300/, /^the sale shows 300 cents voided in all: .*--booked`$/, /^it shows 0 cents/],
      [
        inStatus('capturing', inDoubt('capture', 400)).progress,
        /^the capture of 400/,
        /^the sale is captured, 400 cents exactly/,
        /or another amount/
      ],
      [
        inStatus('cancelling', inDoubt('cancel', 1_000)).progress,
        /^the cancellation/,
        /^the sale is voided/,
        /still held/
      ],
      [
        inStatus('expired', { reconciliation: aDoubt(0) }).progress,
        /^the release of the hold/,
        /^the sale is voided/,
        /the issuer releases it/
      ],
      [inStatus('unknown').progress, /^the authorisation/, undefined, /no sale of the order, or each is voided/],
      [
        inStatus('unknown', { references: { ...references, saleId: 's' } }).progress,
        /^the authorisation/,
        /^the sale is captured/,
        /denied or voided/
      ],
      [
        inStatus('failed', { phase: 'watched', reconciliation: aDoubt(0) }).progress,
        /turns up late/,
        undefined,
        /each is voided/
      ]
    ]
    for (const [progress, what, booked, notBooked] of doubts) {
      const { named } = adviceFor(reason, progress)
      expect(named['in doubt']).to.match(what)
      if (booked === undefined) expect(named).not.to.have.property('booked')
      else expect(named['booked']).to.match(booked)
      expect(named['not booked']).to.match(notBooked)
    }
  })

  it('poisoned: ends by itself once its command can be replayed, or by a conclusion while it is in doubt', () => {
    expect(adviceFor('poisoned', captured).named['ends by']).to.contain('`dead-letter replay`')
    expect(adviceFor('poisoned', captured).named).not.to.have.property('not booked')
    expect(adviceFor('poisoned', refunding).named).to.include.keys('ends by', 'booked', 'not booked')
  })

  it('is nothing while the payment is not listed', () => {
    expect(adviceText(aPayment({ progress: captured }))).to.equal('')
  })
})
