import { expect } from 'chai'
import { retryAfterMs } from '../../runtime/retry-after.js'

describe('Retry-After', () => {
  it('is read as seconds or as a date', () => {
    const nowMs = Date.UTC(2026, 0, 2)
    expect(retryAfterMs('120', nowMs)).to.equal(120_000)
    expect(retryAfterMs('99999999999', nowMs)).to.equal(99_999_999_999_000)
    expect(retryAfterMs('Fri, 02 Jan 2026 00:05:00 GMT', nowMs)).to.equal(300_000)
    expect(retryAfterMs('Thu, 01 Jan 2026 00:00:00 GMT', nowMs)).to.equal(0)
    for (const text of [undefined, '', '-5', '1.5', 'soon', 'soon 2099'])
      expect(retryAfterMs(text, nowMs), `${text}`).to.equal(null)
  })
})
