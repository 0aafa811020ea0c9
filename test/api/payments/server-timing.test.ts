import { expect } from 'chai'
import { serverTiming, stepTimes } from '../../../api/payments/server-timing.js'
import { aCreateBody, aPayment, capturedProgress } from '../builders.js'
import { startApi } from '../running-api.js'

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
