/** PREAUTH_TTL_DAYS_BY_BRAND against the brands of the card network, which the configuration does not know. */
import { cardBrands } from '../../machines/card-brands.js'
import { type Config, ConfigError } from '../../runtime/config.js'

/** Throws `ConfigError` for a brand that does not exist: its exception would apply to no card. */
export function requireKnownBrands({ preauthTtlDaysByBrand }: Pick<Config, 'preauthTtlDaysByBrand'>): void {
  const known: readonly string[] = cardBrands
  const unknown = Object.keys(preauthTtlDaysByBrand).find(brand => !known.includes(brand))
  if (unknown === undefined) return
  const problem = `PREAUTH_TTL_DAYS_BY_BRAND: names the brand ${unknown}; there are ${cardBrands.join(', ')}`
  throw new ConfigError([problem])
}
