import { expect } from 'chai'
import type { CardBrand } from '../../machines/card-brands.js'
import { ConfigError, readConfig } from '../../runtime/config.js'

/** By name, so that the compiler asks for a new one. */
const brands: Record<CardBrand, true> = {
  visa: true,
  mastercard: true,
  elo: true,
  amex: true,
  hipercard: true,
  hiper: true,
  aura: true,
  diners: true,
  discover: true,
  jcb: true
}

describe('PREAUTH_TTL_DAYS_BY_BRAND', () => {
  const read = (text: string) =>
    readConfig({ SERVICE_ENV: 'test', PREAUTH_TTL_DAYS_BY_BRAND: text }).preauthTtlDaysByBrand

  it('knows every brand of the card network', () => {
    for (const brand of Object.keys(brands)) expect(read(`${brand}=30`)).to.deep.equal({ [brand]: 30 })
    expect(read('visa=5, elo=15')).to.deep.equal({ visa: 5, elo: 15 })
  })

  for (const [text, problem] of [
    ['vissa=5', /names the brand vissa; there are visa, /],
    ['visa=0', /must look like visa=5,elo=15, with 1 to 30 days/],
    ['visa=31', /with 1 to 30 days/],
    ['visa', /must look like/]
  ] as const) {
    it(`refuses ${text}`, () => {
      expect(() => read(text)).to.throw(ConfigError, problem)
    })
  }
})
