import { expect } from 'chai'
import { serverTiming, stepTimes } from '../../../api/payments/server-timing.js'
import { aCreateBody, aPayment, capturedProgress, PAYMENT_ID } from '../builders.js'
import { startApi, useApi } from '../running-api.js'

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
})

describe('Server-Timing', () => {
  it('divides the whole time of a request: the rest is the time of the store', () => {
    const times = stepTimes(1_530, { queueMs: 4, lockMs: 1, networkMs: 1_502, workMs: 1_510 })
    expect(times).to.deep.equal({ queueMs: 4, lockMs: 1, networkMs: 1_502, storeMs: 23 })
  })

  it('never reports a step longer than the whole request, when clocks differ', () => {
    const times = stepTimes(20, { queueMs: 900, lockMs: 1, networkMs: 10, workMs: 15 })
    expect(times).to.deep.equal({ queueMs: 5, lockMs: 1, networkMs: 10, storeMs: 4 })
  })

  it('is a header of payment POSTs, of refusals too, in ms', async () => {
    const api = await startApi()
    const times = { queueMs: 0.84, lockMs: 0.4, networkMs: 1_502, storeMs: 3.1 }
    const expected = 'queue;dur=0.8, lock;dur=0.4, network;dur=1502, store;dur=3.1'
    expect(serverTiming(times)).to.equal(expected)
    const { terms } = aPayment()
    for (const result of [
      { kind: 'succeeded', progress: capturedProgress() },
      { kind: 'failed', code: 'card_declined' }
    ] as const) {
      api.payments.submission = { kind: 'finished', terms, result, isReplay: false, times }
      const answer = await api.request('POST', '/v1/payments', { body: aCreateBody() })
      expect(answer.headers.get('Server-Timing')).to.equal(expected)
    }
    await api.stop()
  })
})
