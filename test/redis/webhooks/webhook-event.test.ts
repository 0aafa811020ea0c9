import { expect } from 'chai'
import { errorCatalogue } from '../../../contract/errors.js'
import { encodeEvent } from '../../../contract/webhook-event.js'
import type { Payment, Refund } from '../../../machines/model.js'
import { statusChangeOf } from '../../../machines/status-change.js'
import { decodeQueued } from '../../../redis/webhooks/webhook-event.js'
import { schemaProblems } from '../../support/documented-answers.js'
import { aPayment, CREATED_MS } from '../../support/payments.js'
import { storedWaiting } from '../../support/webhooks.js'

const refund: Refund = {
  amountCents: 300,
  state: 'failed',
  idempotencyKey: 'a refund [1]',
  requestedAtMs: CREATED_MS,
  concludedAtMs: CREATED_MS + 1_000,
  error: 'provider_rejected'
}

/** The event of a change, after it was stored and read again. */
function bodyOf(payment: Payment): Record<string, unknown> {
  const change = statusChangeOf(payment, CREATED_MS)
  const terms = { ...payment.terms, externalReference: 'an order [2' }
  for (const traceparent of [null, `00-${'a'.repeat(32)}-${'b'.repeat(16)}-01`]) {
    const traced = decodeQueued(storedWaiting(change, terms, { traceparent }))
    expect(traced).to.deep.include({ change, traceparent })
  }
  const queued = decodeQueued(storedWaiting(change, terms))
  const body = JSON.parse(encodeEvent(queued)) as Record<string, unknown>
  expect(schemaProblems('#/components/schemas/WebhookEvent', body)).to.deep.equal([])
  return body
}

describe('a webhook event', () => {
  it('contains the refunds of the payment, and why the last operation failed', () => {
    const operation = { kind: 'refund', state: 'failed', amountCents: 300, idempotencyKey: 'a refund [1]' } as const
    const elsewhere = { ...refund, state: 'succeeded', idempotencyKey: null, requestedAtMs: null, error: null } as const
    const progress = { operation, refunds: [elsewhere, refund], error: 'provider_rejected' } as const
    const body = bodyOf(aPayment({ progress }))
    const { message } = errorCatalogue.provider_rejected
    const error = { code: 'provider_rejected', message, retryable: false }
    expect(body['error']).to.deep.equal(error)
    const times = { requested_at: '2026-01-02T12:00:00.000Z', concluded_at: '2026-01-02T12:00:01.000Z' }
    expect(body['refunds']).to.deep.equal([
      { ...times, amount_cents: 300, state: 'succeeded', idempotency_key: null, requested_at: null },
      { ...times, amount_cents: 300, state: 'failed', idempotency_key: 'a refund [1]', error }
    ])
    expect(body['operation']).to.include({ state: 'failed', amount_cents: 300, idempotency_key: 'a refund [1]' })
  })

  it('names the code with which the network rejected the sale, as the payment does', () => {
    const payment = aPayment({ progress: { status: 'failed', error: 'provider_rejected' } })
    const line = { atMs: 1, event: 'REJECTED', status: 'failed', phase: null, detail: 'code 154', times: 1 } as const
    expect(bodyOf({ ...payment, history: [...payment.history, line] })['provider']).to.deep.equal({
      rejection_code: '154'
    })
    expect(bodyOf(payment)['provider']).to.deep.equal({ rejection_code: null })
  })

  it('keeps the amount that was authorised when it was made', () => {
    expect(bodyOf(aPayment({ progress: { authorizedCents: 700 } }))['amount_cents']).to.equal(700)
    expect(bodyOf(aPayment())['amount_cents']).to.equal(1_000)
  })

  it('names a lost CVV as the answer to the request does, by the row of the error catalogue', () => {
    const card = { brand: 'visa', last4: '0060', cardId: 'card_1' }
    const { error } = bodyOf(aPayment({ terms: { card }, progress: { error: 'invalid_token' } }))
    const { message, retryable } = errorCatalogue.cvv_lost
    expect(error).to.deep.equal({ code: 'invalid_token', message, retryable })
  })
})
