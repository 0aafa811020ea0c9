import { expect } from 'chai'
import { aCreateBody, aPayment, PAYMENT_ID } from '../builders.js'
import { useApi } from '../running-api.js'

describe('the error of a failed payment', () => {
  const api = useApi()

  it('a lost CVV of a stored card is 422 invalid_token, and what to send again', async () => {
    const stored = aPayment({ terms: { card: { brand: 'visa', last4: '0060', cardId: 'card_1' } } })
    const result = { kind: 'failed', code: 'invalid_token' } as const
    api.payments.submission = { kind: 'finished', terms: stored.terms, result, isReplay: false }
    const answer = await api.request('POST', '/v1/payments', { body: aCreateBody() })
    expect(answer.status).to.equal(422)
    expect(answer.error).to.include({ code: 'invalid_token', retryable: true, payment_id: PAYMENT_ID })
    expect(answer.error['message']).to.contain('new Idempotency-Key and the cvv')

    api.payments.payment = { ...stored, progress: { ...stored.progress, status: 'failed', error: 'invalid_token' } }
    const { body } = await api.request('GET', `/v1/payments/${PAYMENT_ID}`)
    const { code, message, retryable } = answer.error
    expect(body['error']).to.deep.equal({ code, message, retryable })
  })

  const declines = [
    ['51', 'card_declined', 'insufficient_funds', true, /too little money or limit.*may be tried again later/],
    ['78', 'card_declined', 'blocked_card', true, /blocked.*may be tried again later/],
    ['77', 'card_declined', 'blocked_card', false, /blocked.*do not try this card again/],
    ['57', 'card_expired', 'expired_card', false, /expired.*let the buyer type a valid card/],
    ['99', 'card_declined', 'issuer_unavailable', true, /did not answer.*try again in some minutes/],
    ['zz', 'card_declined', 'other', false, /not told.*do not try this card again/]
  ] as const
  for (const [declinedCode, code, reason, mayRetry, sentence] of declines) {
    it(`a decline says why, and whether the card may be tried again: ${declinedCode} ${reason}`, async () => {
      const { terms, progress, ...rest } = aPayment()
      const result = { kind: 'failed', code } as const
      api.payments.submission = { kind: 'finished', terms, result, isReplay: false }
      api.payments.payment = { ...rest, terms, progress: { ...progress, status: 'failed', error: code, declinedCode } }
      const answer = await api.request('POST', '/v1/payments', { body: aCreateBody() })
      expect(answer.status).to.equal(422)
      expect(answer.error).to.include({ code, decline_reason: reason, may_retry: mayRetry, retryable: false })
      expect(answer.error['message']).to.match(sentence)
      const { body } = await api.request('GET', `/v1/payments/${PAYMENT_ID}`)
      expect(body['error']).to.deep.equal({ code, message: answer.error['message'], retryable: false })
    })
  }

  it('a decline whose payment cannot be read is the error without a reason', async () => {
    const { terms } = aPayment()
    const result = { kind: 'failed', code: 'card_declined' } as const
    api.payments.submission = { kind: 'finished', terms, result, isReplay: false }
    api.payments.payment = null
    const answer = await api.request('POST', '/v1/payments', { body: aCreateBody() })
    expect(answer.status).to.equal(422)
    expect(answer.error).to.include({ code: 'card_declined' }).and.not.to.have.any.keys('decline_reason', 'may_retry')
  })

  it('a rejected sale says the code of the network, and the field of a known one', async () => {
    const { terms, progress, ...rest } = aPayment()
    const rejected = (code: string) => {
      const line = {
        atMs: 1,
        event: 'REJECTED',
        status: 'failed',
        phase: null,
        detail: `code ${code}`,
        times: 1
      } as const
      return {
        ...rest,
        terms,
        progress: { ...progress, status: 'failed', error: 'provider_rejected' },
        history: [line]
      } as const
    }
    const result = { kind: 'failed', code: 'provider_rejected' } as const
    api.payments.submission = { kind: 'finished', terms, result, isReplay: false }
    for (const [code, fields] of [
      ['154', [{ path: 'customer.address', message: 'was rejected by the card network with the code 154' }]],
      ['999', undefined]
    ] as const) {
      api.payments.payment = rejected(code)
      const { status, error } = await api.request('POST', '/v1/payments', { body: aCreateBody() })
      expect([status, error['code'], error['rejection_code'], error.fields]).to.deep.equal([
        422,
        'provider_rejected',
        code,
        fields
      ])
      const { body } = await api.request('GET', `/v1/payments/${PAYMENT_ID}`)
      expect(body).to.have.nested.property('provider.rejection_code', code)
    }
    api.payments.payment = { ...rejected('1'), progress: { ...progress, status: 'failed', error: 'card_declined' } }
    const { body } = await api.request('GET', `/v1/payments/${PAYMENT_ID}`)
    expect(body).to.have.nested.property('provider.rejection_code', null)
  })

  it('a part of a pre-authorisation is not undone: 400, and the corrected request needs a new key', async () => {
    const result = { kind: 'refused', code: 'partial_void' } as const
    api.payments.submission = { kind: 'finished', terms: aPayment().terms, result, isReplay: false }
    const { status, error } = await api.request('POST', `/v1/payments/${PAYMENT_ID}/cancel`, {
      body: { amount_cents: 1 }
    })
    expect(status).to.equal(400)
    expect(error['message']).to.contain('with a new Idempotency-Key')
    expect(error.fields?.map(({ path }) => path)).to.deep.equal(['amount_cents'])
  })
})
