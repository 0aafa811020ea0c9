/** When the network is asked: by the settings as they are delivered, whose times docs/PAYMENTS.md tells. */
import { readFileSync } from 'node:fs'
import { expect } from 'chai'
import type { Payment } from '../../../machines/model.js'
import { decide } from '../../../machines/payment/decide.js'
import type { PaymentEvent } from '../../../machines/payment/events.js'
import { mayBeInEarlierAccount } from '../../../machines/payment/findings.js'
import { vouchedPolicy } from '../../../machines/payment/policy.js'
import { UNANSWERED_GAP_MAX_MS } from '../../../machines/payment/reconcile-schedule.js'
import { wakeAtMs } from '../../../machines/payment/wake-ups.js'
import { readConfig } from '../../../runtime/config.js'
import { aPayment, aSale, CREATED_MS } from '../../support/payments.js'

const policy = vouchedPolicy(readConfig({ SERVICE_ENV: 'test' }))
const { notFoundHorizonMs } = policy
const HOUR_MS = 3_600_000
const DOUBT_MAX_MS = notFoundHorizonMs + UNANSWERED_GAP_MAX_MS

type Answer = 'ABSENT' | 'NO_ANSWER'

describe('the schedule of reconciliation', () => {
  it('asks once the not-found horizon is over, and believes the absence then', () => {
    const { payment, askedMs } = reconciledUntilFinal(() => 'ABSENT')
    expect(payment.progress.status).to.equal('failed')
    expect(askedMs).to.deep.equal([2_000, 7_000, 22_000, 82_000, 382_000, notFoundHorizonMs])
  })

  it('resolves a doubt within the time stated in docs/PAYMENTS.md, although one query is not answered', () => {
    for (let unanswered = 0; unanswered < 7; unanswered++) {
      const { askedMs } = reconciledUntilFinal(query => (query === unanswered ? 'NO_ANSWER' : 'ABSENT'))
      expect(askedMs.at(-1), `query ${unanswered}`).to.be.within(notFoundHorizonMs, DOUBT_MAX_MS)
    }
    const minutes = `${DOUBT_MAX_MS / 60_000} min`.replace('.5 min', ' min 30 s')
    expect(readFileSync('docs/PAYMENTS.md', 'utf8').replace(/\s+/g, ' ')).to.contain(`in doubt for ${minutes} at most`)
  })

  for (const outageMs of [10 * 60_000, 5 * HOUR_MS]) {
    it(`asks within half a minute after an outage of ${outageMs / 60_000} min, and continues as if there had been none`, () => {
      let backAfterMs = 0
      const { payment, askedMs } = reconciledUntilFinal((_, ageMs) => {
        if (ageMs < outageMs) return 'NO_ANSWER'
        backAfterMs ||= ageMs - outageMs
        return 'ABSENT'
      })
      expect(backAfterMs).to.be.at.most(30_000)
      expect(payment.progress.status).to.equal('failed')
      const gaps = askedMs.map((ms, index) => ms - (askedMs[index - 1] ?? 0))
      expect(Math.max(...gaps)).to.equal(30_000)
    })
  }

  it('tries a capture ever more rarely when each try gets no answer, though queries do', () => {
    const references = { saleId: 'sale-1', tid: null, nsu: null, authorizationCode: null }
    let nowMs = CREATED_MS
    let payment = taken(aPayment({ terms: { captureMode: 'auto' } }), {
      type: 'APPROVED',
      isCaptured: false,
      references,
      nowMs
    })
    const sale = aSale({ status: 'authorised', capturedCents: 0 })
    const sentMs: number[] = []
    while (payment.progress.status === 'capturing') {
      if (payment.progress.phase === 'sending') {
        sentMs.push(nowMs - CREATED_MS)
        payment = taken(payment, { type: 'AMBIGUOUS', reason: 'http_500', nowMs })
      }
      nowMs = wakeAtMs(payment.progress) ?? nowMs
      payment = taken(payment, { type: 'FOUND', sale, isOther: false, duplicates: [], nowMs })
    }
    const minutes = sentMs.map(ms => Math.round(ms / 6_000) / 10)
    expect(minutes).to.deep.equal([0, 0.1, 1.4, 6.4, 76.4, 206.4])
    expect(payment.progress).to.include({ status: 'pre_authorized', error: 'capture_not_sent' })
  })

  it('asks seldom about what is listed for its age: an operator or a notification has it asked', () => {
    const listAfterMs = policy.reconcileListAfterMs
    let payment = taken(aPayment(), { type: 'AMBIGUOUS', reason: 'cut', nowMs: CREATED_MS })
    const unfinished = { type: 'FOUND', sale: aSale({ status: 'unfinished' }), isOther: false, duplicates: [] }
    const answered = (nowMs: number) => taken(payment, { ...unfinished, nowMs } as PaymentEvent)
    const asked = { before: 0, after: 0 }
    while (asked.after < 4) {
      const nowMs = wakeAtMs(payment.progress) ?? Number.NaN
      asked[nowMs < CREATED_MS + listAfterMs ? 'before' : 'after']++
      payment = answered(nowMs)
    }
    expect(asked.before).to.be.below(80)
    expect(payment.history.at(-1)?.atMs).to.be.at.least(CREATED_MS + 8 * listAfterMs)
    expect(payment.progress.reviewReason).to.equal('unresolved_for_long')
    const nowMs = CREATED_MS + 9 * listAfterMs
    for (const event of [{ type: 'REVIEW_RESOLVED' }, { type: 'NETWORK_NOTIFICATION', reported: 'change' }] as const) {
      expect(wakeAtMs(taken(payment, { ...event, nowMs }).progress)).to.equal(nowMs)
    }
    const silent = taken(payment, { type: 'NO_ANSWER', reason: 'cut', nowMs })
    expect(wakeAtMs(silent.progress)).to.equal(nowMs + HOUR_MS)
  })

  it('does not count a query without an answer: the gaps after it are those of the answers before it', () => {
    const { askedMs } = reconciledUntilFinal(query => (query === 1 || query === 2 ? 'NO_ANSWER' : 'ABSENT'))
    expect(askedMs.slice(0, 5)).to.deep.equal([2_000, 7_000, 14_000, 28_000, 43_000])
  })
})

describe('an absence after a change of our account at the network', () => {
  for (const [what, createdAtMs, accountSinceMs, expected] of [
    ['proves nothing about a payment from before the change', CREATED_MS - 1, CREATED_MS, true],
    ['proves nothing about a payment of the hour after it', CREATED_MS + HOUR_MS - 1, CREATED_MS, true],
    ['counts for a payment that is an hour younger than the change', CREATED_MS + HOUR_MS, CREATED_MS, false],
    ['counts for every payment when there never was another account', CREATED_MS, 0, false]
  ] as const) {
    it(what, () => expect(mayBeInEarlierAccount(createdAtMs, accountSinceMs)).to.equal(expected))
  }
})

/** An authorisation in doubt, asked about whenever it is due. `askedMs`: ages of the doubt at each query. */
function reconciledUntilFinal(answerTo: (query: number, ageMs: number) => Answer): {
  payment: Payment
  askedMs: number[]
} {
  const since = CREATED_MS + 1_000
  let payment = taken(aPayment(), { type: 'AMBIGUOUS', reason: 'cut', nowMs: since })
  const askedMs: number[] = []
  while (payment.progress.status === 'unknown') {
    const nowMs = wakeAtMs(payment.progress) ?? Number.NaN
    const answer = answerTo(askedMs.length, nowMs - since)
    askedMs.push(nowMs - since)
    payment = taken(payment, answer === 'ABSENT' ? { type: answer, nowMs } : { type: answer, reason: 'cut', nowMs })
  }
  return { payment, askedMs }
}

function taken(payment: Payment, event: PaymentEvent): Payment {
  const decision = decide(payment, event, policy)
  if (decision.kind !== 'taken') throw new Error(`${event.type} was refused`)
  return decision.payment
}
