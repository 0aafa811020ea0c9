import { expect } from 'chai'
import {
  type Circumstances,
  type Conclusion,
  conclude,
  type Delivery,
  type Failing,
  hindranceOf,
  type Outcome,
  RETRY_AFTER_MAX_MS,
  setAside,
  spanMs,
  stepOfLine
} from '../../machines/webhook-delivery.js'
import { readConfig } from '../../runtime/config.js'

const NOW_MS = Date.UTC(2026, 0, 2)
const HOUR_MS = 3_600_000
const DELAYS_MS = readConfig({ SERVICE_ENV: 'test' }).webhookRetryDelaysMs
const SPAN_MS = spanMs(DELAYS_MS)
const FIRST: Delivery = { attempts: 0, sinceMs: NOW_MS }
/** No jitter of gaps, and pauses that are shorter by a tenth. */
const MIDDLE = 0.5

const answered = (status: number | null, retryAfterMs: number | null = null): Outcome => ({
  kind: 'attempted',
  status,
  retryAfterMs
})
const UNANSWERED = answered(null)
const failing = (failures: number, pausedUntilMs: number | null = null, sinceMs = NOW_MS): Failing => {
  return { failures, sinceMs, nextMs: NOW_MS, pausedUntilMs }
}
const concluded = (
  outcome: Outcome,
  before: Failing | null = null,
  given: Partial<Circumstances & Delivery> = {}
): Conclusion =>
  conclude({ ...FIRST, ...given }, before, outcome, {
    nowMs: NOW_MS,
    random: MIDDLE,
    isTrial: false,
    delaysMs: DELAYS_MS,
    ...given
  })

describe('what follows from the outcome of a webhook event', () => {
  const works = null
  const once = failing(1)
  const paused = failing(5, NOW_MS + 900)
  /** Has failed for as long as all attempts may take. */
  const dead = failing(90, NOW_MS + 900, NOW_MS - SPAN_MS)
  const old = { sinceMs: NOW_MS - SPAN_MS }
  const last = { attempts: 10 }
  type Row = readonly [
    outcome: Outcome,
    before: Failing | null,
    delivery: Partial<Delivery>,
    event: Conclusion['event'],
    after: Failing | null
  ]
  const table: Readonly<Record<string, Row>> = {
    '2xx': [answered(204), works, FIRST, 'delivered', works],
    '2xx from an endpoint that failed': [answered(200), once, FIRST, 'delivered', works],
    '2xx from an endpoint that is paused': [answered(299), paused, FIRST, 'delivered', works],
    '2xx long after the last attempt': [answered(200), dead, { ...old, ...last }, 'delivered', works],
    '500': [answered(500), works, FIRST, 'waits', once],
    '300': [answered(300), works, FIRST, 'waits', once],
    '404': [answered(404), once, FIRST, 'waits', failing(2)],
    'no answer': [UNANSWERED, works, FIRST, 'waits', once],
    'a fifth failure in a row': [UNANSWERED, failing(4), FIRST, 'waits', paused],
    'a failure of what was sent before the pause': [UNANSWERED, paused, FIRST, 'waits', paused],
    '500 at the last attempt': [answered(500), works, last, 'undeliverable', once],
    '500 before the last attempt': [answered(500), works, { attempts: 9 }, 'waits', once],
    '500 from an endpoint that is dead, to an old event': [answered(500), dead, old, 'undeliverable', dead],
    '500 from an endpoint that is dead, to a younger event': [answered(500), dead, FIRST, 'waits', dead],
    '500 to an old event, from an endpoint that began to fail later': [answered(500), once, old, 'waits', failing(2)],
    '500 to an old event, from an endpoint that worked': [answered(500), works, old, 'waits', once],
    '410': [answered(410), works, FIRST, 'undeliverable', once],
    '410 at the last attempt': [answered(410), works, last, 'undeliverable', once],
    'switched off': [{ kind: 'off' }, works, FIRST, 'forgotten', works],
    'switched off, and dead': [{ kind: 'off' }, dead, old, 'forgotten', works],
    'its endpoint is paused': [{ kind: 'paused' }, paused, FIRST, 'waits', paused],
    'its endpoint was paused until now': [{ kind: 'paused' }, works, FIRST, 'waits', works],
    'its endpoint is dead': [{ kind: 'paused' }, dead, FIRST, 'waits', dead],
    'its endpoint is dead, and it is as old': [{ kind: 'paused' }, dead, old, 'undeliverable', dead],
    'its endpoint takes no more': [{ kind: 'full' }, works, FIRST, 'waits', works],
    'its endpoint takes no more, and it is old': [{ kind: 'full' }, works, old, 'waits', works]
  }
  for (const [name, [outcome, before, delivery, event, after]] of Object.entries(table)) {
    it(`${name}: ${event}`, () => {
      const { event: given, failing: next } = concluded(outcome, before, delivery)
      expect(given).to.equal(event)
      expect(next && { ...next, nextMs: NOW_MS }).to.deep.equal(after)
    })
  }

  it('sets a damaged event aside, and leaves its endpoint as it is', () => {
    expect(setAside(paused)).to.deep.equal({ event: 'set aside', failing: paused })
  })

  it('gives up no event for the time in which this service was away', () => {
    const awayMs = 2 * SPAN_MS
    const before = failing(1, null, NOW_MS - 1_000)
    const waited = { sinceMs: NOW_MS, nowMs: NOW_MS + awayMs }
    for (const outcome of [answered(500), { kind: 'paused' }, { kind: 'full' }] as const)
      expect(concluded(outcome, before, waited)).to.include({ event: 'waits' })
    const after = concluded(answered(500), before, waited).failing
    expect(after).to.include({ failures: 2, sinceMs: waited.nowMs })
    // An earlier version did not write when the next attempt was due.
    const earlier = { ...before, nextMs: null }
    expect(concluded({ kind: 'paused' }, earlier, waited)).to.include({ event: 'undeliverable' })
  })

  it('gives an event about three days: ten more attempts', () => {
    let [delivery, nowMs, endpoint]: [Delivery, number, Failing | null] = [FIRST, NOW_MS, null]
    for (;;) {
      const { event, dueMs = 0, failing: next } = concluded(UNANSWERED, endpoint, { ...delivery, nowMs })
      delivery = { ...delivery, attempts: delivery.attempts + 1 }
      if (event === 'undeliverable') break
      ;[nowMs, endpoint] = [dueMs, next]
    }
    expect(delivery.attempts).to.equal(11)
    expect((nowMs - NOW_MS) / HOUR_MS).to.be.within(70, 72)
  })

  it('never throws, and always says when a waiting event is tried next', () => {
    const kinds = ['off', 'paused', 'full'] as const
    const outcomes = [
      UNANSWERED,
      ...[200, 410, 429, 500, 503].map(status => answered(status, 5_000)),
      ...kinds.map(kind => ({ kind }))
    ]
    for (const outcome of outcomes)
      for (const before of [works, once, paused, dead])
        for (const attempts of [0, 10, 99])
          for (const isTrial of [true, false]) {
            const { event, dueMs, lineDueMs, failing: next } = concluded(outcome, before, { attempts, isTrial })
            expect(event === 'waits').to.equal(dueMs !== undefined)
            if (event === 'waits' || next !== before) expect(lineDueMs).to.be.a('number')
          }
  })
})

describe('the gap before the next attempt', () => {
  const gapMs = (outcome: Outcome, given: Partial<Circumstances & Delivery> = {}): number =>
    (concluded(outcome, null, given).dueMs ?? 0) - NOW_MS

  it('varies by a fifth, both ways', () => {
    const gaps = [0, 0.5, 1].map(random => gapMs(UNANSWERED, { random }))
    expect(gaps).to.deep.equal([4_000, 5_000, 6_000])
  })

  it('grows to Retry-After, within a day', () => {
    expect(gapMs(answered(429, 60_000))).to.equal(60_000)
    expect(gapMs(answered(500, 60_000))).to.equal(60_000)
    expect(gapMs(answered(429, 1_000), { attempts: 1 })).to.equal(30_000)
    expect(gapMs(answered(503, 1e12))).to.equal(RETRY_AFTER_MAX_MS)
  })

  it('is none for an event that waits for its endpoint alone: it is due', () => {
    expect(concluded({ kind: 'paused' }, failing(5, NOW_MS + 900), { sinceMs: 7 })).to.include({ dueMs: 7 })
    expect(concluded({ kind: 'full' }, null, { sinceMs: 7 })).to.include({ dueMs: 7, lineDueMs: NOW_MS + 1_000 })
  })
})

describe('an endpoint that fails', () => {
  const pauseMs = (before: Failing | null, outcome: Outcome, given: Partial<Circumstances> = {}): number | null => {
    const untilMs = concluded(outcome, before, given).failing?.pausedUntilMs ?? null
    return untilMs === null ? null : untilMs - NOW_MS
  }

  it('is paused after five failures in a row, longer after each trial, for half a minute at most', () => {
    const pauses = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11].map(failures =>
      pauseMs(failing(failures - 1, failures > 5 ? NOW_MS : null), UNANSWERED, { isTrial: true, random: 0 })
    )
    expect(pauses).to.deep.equal([null, null, null, null, 1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000])
    const jittered = [0, 0.5, 1].map(random => pauseMs(failing(9, NOW_MS), answered(500), { isTrial: true, random }))
    expect(jittered).to.deep.equal([30_000, 27_000, 24_000])
  })

  it('is paused at once when it asks to be left alone, for half a minute at most', () => {
    for (const status of [429, 503]) expect(pauseMs(null, answered(status, 10_000))).to.equal(10_000)
    expect(pauseMs(null, answered(429, HOUR_MS))).to.equal(30_000)
    expect(pauseMs(null, answered(500, 10_000))).to.equal(null)
    expect(pauseMs(null, answered(429))).to.equal(null)
  })

  it('is tried when its pause is over, and at once when it works again', () => {
    const untilMs = NOW_MS + 900
    expect(concluded(answered(500), failing(4)).lineDueMs).to.equal(untilMs)
    expect(concluded({ kind: 'paused' }, failing(5, untilMs)).lineDueMs).to.equal(untilMs)
    expect(concluded(answered(200), failing(5, untilMs), { isTrial: true }).lineDueMs).to.equal(NOW_MS)
    expect(concluded(answered(200))).not.to.have.property('lineDueMs')
  })

  it('releases two waiting events after each success, and gives up those as old as one that was given up', () => {
    expect(concluded(answered(200)).follow).to.deep.equal({ max: 2, dueByMs: NOW_MS })
    expect(concluded({ kind: 'off' }).follow).to.deep.equal({ max: 2, dueByMs: NOW_MS })
    expect(concluded(answered(410)).follow).to.deep.equal({ max: 1, dueByMs: NOW_MS - SPAN_MS })
    expect(concluded(answered(500))).not.to.have.property('follow')
  })
})

describe('an event whose turn has come', () => {
  const hindrance = (given: Partial<Parameters<typeof hindranceOf>[0]>) =>
    hindranceOf({ isOff: false, failing: null, isTrial: false, hasRoom: true, ...given })
  const paused = failing(5, NOW_MS)

  it('is sent, unless something hinders it', () => {
    expect(hindrance({})).to.equal(null)
    expect(hindrance({ failing: failing(4) })).to.equal(null)
    expect(hindrance({ failing: paused })).to.equal('paused')
    expect(hindrance({ hasRoom: false })).to.equal('full')
    expect(hindrance({ isOff: true, failing: paused, hasRoom: false })).to.equal('off')
  })

  it('is sent as a trial although its endpoint is paused, or is full', () => {
    expect(hindrance({ isTrial: true, failing: paused, hasRoom: false })).to.equal(null)
    expect(hindrance({ isTrial: true, isOff: true })).to.equal('off')
  })
})

describe('the line of an endpoint', () => {
  it('goes on in portions while the endpoint works, or has not failed five times', () => {
    for (const before of [null, failing(4)])
      expect(stepOfLine(before, NOW_MS)).to.deep.equal({ max: 100, trial: null, againMs: NOW_MS + 1_000 })
  })

  it('waits while the endpoint is paused, then tries one event, and another when the first has no outcome', () => {
    const before = failing(6, NOW_MS)
    expect(stepOfLine(before, NOW_MS - 1)).to.deep.equal({ max: 0, trial: null, againMs: NOW_MS })
    const againMs = NOW_MS + 30_000
    expect(stepOfLine(before, NOW_MS)).to.deep.equal({
      max: 1,
      trial: { ...failing(6, againMs), nextMs: againMs },
      againMs
    })
  })
})
