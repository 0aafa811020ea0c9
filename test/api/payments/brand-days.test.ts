import { expect } from 'chai'
import { requireKnownBrands } from '../../../api/payments/brand-days.js'
import { cardBrands } from '../../../machines/card-brands.js'
import { ConfigError } from '../../../runtime/config.js'

describe('the brands of PREAUTH_TTL_DAYS', () => {
  const take = (...brands: readonly string[]): void =>
    requireKnownBrands({ preauthTtlDays: { days: 7, byName: Object.fromEntries(brands.map(brand => [brand, 5])) } })

  it('takes every brand of the card network', () => {
    expect(() => take(...cardBrands)).not.to.throw()
  })

  it('refuses a brand that is misspelt', () => {
    expect(() => take('visa', 'vissa')).to.throw(ConfigError, 'names the brand vissa; there are visa, ')
  })
})
