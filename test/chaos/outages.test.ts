import { expect } from 'chai'
import { longestOutageStory, outagesOf } from './outages.js'
import type { RequestRecord } from './record.js'

function aRecord(key: string, beganMs: number, outageMs: number, failures: RequestRecord['failures'] = []) {
  const record: RequestRecord = {
    key,
    kind: 'create',
    amountCents: 1,
    paymentIds: new Set(),
    status: 201,
    answer: null,
    tries: 1 + failures.length,
    beganMs,
    outageMs,
    failures
  }
  return record
}

describe('the outages of a chaos run', () => {
  const failure = { atMs: 20_000, tookMs: 40, what: 'no answer' }
  const records = [
    aRecord('a', 1_000, 30),
    aRecord('b', 10_000, 6_000),
    aRecord('c', 20_000, 900, [failure]),
    aRecord('d', 41_000, 5_500)
  ]
  const strikes = [
    { atMs: 9_500, kind: 'stopped', victim: 'api.1', suspendedMs: 5_000 },
    { atMs: 19_900, kind: 'killed', victim: 'redis', suspendedMs: 0 },
    { atMs: 40_000, kind: 'silenced', victim: 'redis', suspendedMs: 0 },
    { atMs: 42_000, kind: 'stopped', victim: 'api.1', suspendedMs: 500 },
    { atMs: 42_200, kind: 'stopped', victim: 'api.2', suspendedMs: 800 },
    { atMs: 43_000, kind: 'killed', victim: 'tokens.1', suspendedMs: 0 }
  ] as const

  it('are counted separately for kills and for silent connections, without the time in which processes were away', () => {
    expect(outagesOf(records, strikes)).to.deep.equal({
      longestOutageMs: 6_000,
      outageP99Ms: 6_000,
      longestKillOutageMs: 900,
      longestSilenceOutageMs: 1_500
    })
  })

  it('list tries and strikes in their order', () => {
    expect(longestOutageStory(records, strikes)).to.deep.equal([
      '-0.50 s: stopped api.1 for 5000 ms',
      '6.00 s: b was answered'
    ])
    expect(longestOutageStory(records.slice(2, 3), strikes)).to.deep.equal([
      '-0.10 s: killed redis',
      '0.00 s: no answer, after 40 ms',
      '0.90 s: c was answered'
    ])
  })
})
