import { expect } from 'chai'
import type { CommandResult } from '../../../machines/commands.js'
import type { Payment, PaymentProgress, PaymentTerms } from '../../../machines/model.js'
import { paymentKeyOf } from '../../../redis/keys.js'
import { decodePayment, encodePayment, storedResult } from '../../../redis/payments/payment-record.js'
import { aPayment, CREATED_MS, everyText, references } from '../../support/payments.js'

const full: Payment = {
  ...aPayment({
    terms: {
      captureMode: 'manual',
      installments: 12,
      ...everyText('LOJA *1'),
      card: { brand: 'elo', last4: '4321', cardId: 'card_1' },
      metadata: { table: 4, vip: true, note: null, 'ü "quoted"': 'x\ny' },
      preauthTtlMs: 5 * 24 * 3_600_000
    },
    progress: {
      status: 'refunding',
      phase: 'reconciling',
      capturedCents: 900,
      refundedCents: 100,
      references: { ...references, nsu: null },
      declinedCode: '05',
      expiresAtMs: CREATED_MS + 1,
      authorizedAtMs: CREATED_MS + 2,
      capturedAtMs: CREATED_MS + 3,
      canceledAtMs: CREATED_MS + 4,
      refundedAtMs: CREATED_MS + 5,
      operation: { kind: 'refund', state: 'unknown', amountCents: 50, idempotencyKey: 'r' },
      refunds: [
        {
          amountCents: 100,
          state: 'succeeded',
          idempotencyKey: 'q 1',
          requestedAtMs: 1,
          concludedAtMs: 2,
          error: null
        },
        {
          amountCents: 9,
          state: 'failed',
          idempotencyKey: 'p',
          requestedAtMs: 3,
          concludedAtMs: 4,
          error: 'refund_reversed'
        },
        {
          amountCents: 70,
          state: 'succeeded',
          idempotencyKey: null,
          requestedAtMs: null,
          concludedAtMs: 5,
          error: null
        },
        { amountCents: 50, state: 'unknown', idempotencyKey: 'r', requestedAtMs: 6, concludedAtMs: null, error: null }
      ],
      error: 'provider_rejected',
      reconciliation: {
        sinceMs: 1,
        attempts: 2,
        nextAtMs: 3,
        openedMs: 4,
        tries: 5,
        unansweredMs: 6,
        refusedMs: 7,
        concluded: 'not_booked'
      },
      verification: { sinceMs: 4, attempts: 5, nextAtMs: 6, reported: 'chargeback' },
      reviewReason: 'figures_differ',
      authorizedCents: 8,
      voids: [
        { times: 9, lastMs: 10, saleId: 'sale-2' },
        { times: 1, lastMs: 2, saleId: 'sale-3' }
      ]
    }
  }),
  version: 7,
  history: [
    { atMs: 1, event: 'APPROVED', status: 'pre_authorized', phase: null, detail: null, times: 1 },
    { atMs: 2, event: 'NO_ANSWER', status: 'refunding', phase: 'reconciling', detail: 'timeout', times: 9 }
  ]
}

describe('payment record', () => {
  for (const [name, payment] of Object.entries({ 'with every field': full, 'just accepted': aPayment() })) {
    it(`reads back a payment ${name}`, () => {
      const record = encodePayment(payment)
      expect(decodePayment(record, paymentKeyOf(payment.terms.id))).to.deep.equal(payment)
    })
  }

  it('has a distinct value in every field of its sample: a field that is not stored would be lost at the next commit', () => {
    const [{ terms, progress }, fresh] = [full, aPayment()]
    const likeNew = (value: unknown, initial: unknown): boolean => JSON.stringify(value) === JSON.stringify(initial)
    const inTerms = Object.entries(fresh.terms).filter(([name, value]) =>
      likeNew(terms[name as keyof PaymentTerms], value)
    )
    const inProgress = Object.entries(fresh.progress).filter(([name, value]) =>
      likeNew(progress[name as keyof PaymentProgress], value)
    )
    // There is one currency, and one merchant in these tests; the buyer and the order have no value to begin with.
    const always = ['merchantId', 'externalReference', 'amountCents', 'currency', 'customer', 'createdAtMs']
    expect(inTerms.map(([name]) => name)).to.deep.equal(always)
    expect(inProgress.map(([name]) => name)).to.deep.equal([])
  })

  it('begins with version and merchant, which scripts compare without parsing', () => {
    expect(encodePayment(full)).to.match(new RegExp(`^\\[1,7,"${full.terms.merchantId}",`))
  })

  it('reads back every kind of result', () => {
    const results: CommandResult[] = [
      { kind: 'succeeded', progress: full.progress },
      { kind: 'failed', code: 'card_declined' },
      { kind: 'refused', code: 'invalid_state' }
    ]
    for (const result of results) {
      const text = JSON.stringify(storedResult.encode(result))
      expect(storedResult.decode(JSON.parse(text) as unknown[])).to.deep.equal(result)
    }
  })
})
