/** Which absences of a sale at the network prove nothing. */
import { expect } from 'chai'
import { mayBeInEarlierAccount } from '../../../machines/payment/record.js'

const HOUR_MS = 3_600_000
const CHANGED_MS = Date.UTC(2026, 0, 2, 12)

describe('an absence after a change of our account at the network', () => {
  for (const [what, createdAtMs, accountSinceMs, expected] of [
    ['proves nothing about a payment from before the change', CHANGED_MS - 1, CHANGED_MS, true],
    ['proves nothing about a payment of the hour after it', CHANGED_MS + HOUR_MS - 1, CHANGED_MS, true],
    ['counts for a payment that is an hour younger than the change', CHANGED_MS + HOUR_MS, CHANGED_MS, false],
    ['counts for every payment when there never was another account', CHANGED_MS, 0, false]
  ] as const) {
    it(what, () => expect(mayBeInEarlierAccount(createdAtMs, accountSinceMs)).to.equal(expected))
  }
})
