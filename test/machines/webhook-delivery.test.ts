import { expect } from 'chai'
import { type Delivery, type DeliveryEvent, decideDelivery, newDelivery } from '../../machines/webhook-delivery.js'
import { RETRY_AFTER_MAX_MS, retryDelayMs, spanMs, standardRetries } from '../../machines/webhook-schedule.js'
import { readConfig } from '../../runtime/config.js'

const NOW_MS = Date.UTC(2026, 0, 2)
const HOUR_MS = 3_600_000
const sending: Delivery = { state: 'sending', attempts: 1, sinceMs: NOW_MS, nextAtMs: NOW_MS }
const answered = (status: number, retryAfterMs: number | null = null): DeliveryEvent => {
  return { type: 'ANSWERED', status, retryAfterMs, nowMs: NOW_MS, failingSinceMs: null, random: 0.5 }
}
const decided = (delivery: Delivery, event: DeliveryEvent): Delivery => decideDelivery(delivery, event, standardRetries)

describe('the delivery of one webhook event', () => {
  it('counts an attempt when it is sent', () => {
    expect(decided(newDelivery(NOW_MS), { type: 'SEND' })).to.deep.equal(sending)
  })

  for (const status of [200, 201, 204, 299]) {
    it(`is delivered by ${status}`, () => expect(decided(sending, answered(status)).state).to.equal('delivered'))
  }
  for (const status of [301, 307, 400, 401, 404, 429, 500, 503]) {
    it(`waits after ${status}`, () => {
      expect(decided(sending, answered(status))).to.include({ state: 'waiting', nextAtMs: NOW_MS + 5_000 })
    })
  }

  it('waits without an answer', () => {
    const event: DeliveryEvent = { type: 'NO_ANSWER', nowMs: NOW_MS, failingSinceMs: null, random: 0.5 }
    expect(decided(sending, event)).to.include({ state: 'waiting', attempts: 1, nextAtMs: NOW_MS + 5_000 })
  })

  it('stops at 410', () => expect(decided(sending, answered(410)).state).to.equal('undeliverable'))

  it('is given up after ten retries in about three days', () => {
    let delivery = newDelivery(NOW_MS)
    let nowMs = NOW_MS
    let attempts = 0
    while (delivery.state === 'waiting') {
      nowMs = delivery.nextAtMs
      delivery = decided(decided(delivery, { type: 'SEND' }), {
        type: 'NO_ANSWER',
        nowMs,
        failingSinceMs: NOW_MS,
        random: 0.5
      })
      attempts++
    }
    expect(delivery.state).to.equal('undeliverable')
    expect(attempts).to.equal(11)
    expect((nowMs - NOW_MS) / HOUR_MS).to.be.within(70, 72)
  })

  for (const [when, failingSinceMs] of [
    ['works', null],
    ['began to fail later', NOW_MS + 1]
  ] as const) {
    it(`has all its attempts, however long it waited for them, at an endpoint that ${when}`, () => {
      const nowMs = NOW_MS + spanMs(standardRetries) + 1
      const event: DeliveryEvent = { type: 'NO_ANSWER', nowMs, failingSinceMs, random: 0.5 }
      expect(decided(sending, event).state).to.equal('waiting')
      const waiting = newDelivery(NOW_MS)
      expect(() => decided(waiting, { type: 'OVERDUE', nowMs, failingSinceMs })).to.throw('does not take OVERDUE')
      expect(decided({ ...sending, attempts: 11 }, event).state).to.equal('undeliverable')
    })
  }

  it('is given up early when its endpoint has failed for the whole span, and it has waited as long', () => {
    const failingSinceMs = NOW_MS - HOUR_MS
    const endMs = NOW_MS + spanMs(standardRetries)
    const overdue = (nowMs: number): DeliveryEvent => ({ type: 'OVERDUE', nowMs, failingSinceMs })
    expect(() => decided(newDelivery(NOW_MS), overdue(endMs))).to.throw('does not take OVERDUE')
    expect(decided(newDelivery(NOW_MS), overdue(endMs + 1)).state).to.equal('undeliverable')
    const event: DeliveryEvent = { type: 'NO_ANSWER', nowMs: endMs + 1, failingSinceMs, random: 0.5 }
    expect(decided(sending, event).state).to.equal('undeliverable')
  })

  it('takes nothing more once it is delivered', () => {
    expect(() => decided({ ...sending, state: 'delivered' }, { type: 'SEND' })).to.throw('delivered does not take SEND')
  })
})

describe('the schedule of retries', () => {
  it('is the default of the configuration', () => {
    expect(readConfig({ SERVICE_ENV: 'test' }).webhookRetryDelaysMs).to.deep.equal(standardRetries.delaysMs)
  })

  it('varies each gap by a fifth, both ways', () => {
    expect([0, 0.5, 1].map(random => retryDelayMs(standardRetries, 1, null, random))).to.deep.equal([
      4_000, 5_000, 6_000
    ])
  })

  it('grows to Retry-After, within a day', () => {
    expect(retryDelayMs(standardRetries, 1, 60_000, 0.5)).to.equal(60_000)
    expect(retryDelayMs(standardRetries, 2, 1_000, 0.5)).to.equal(30_000)
    expect(retryDelayMs(standardRetries, 1, 1e12, 0.5)).to.equal(RETRY_AFTER_MAX_MS)
  })

  it('has an end', () => expect(retryDelayMs(standardRetries, 11, null, 0.5)).to.equal(null))
})
