/** The brands of PREAUTH_TTL_DAYS against the brands of the card network, which the configuration does not know. */
import { cardBrands } from '../../machines/card-brands.js'
import { type Config, ConfigError } from '../../runtime/config.js'

/** Throws `ConfigError` for a brand that does not exist: its exception would apply to no card. */
export function requireKnownBrands({ preauthTtlDays }: Pick<Config, 'preauthTtlDays'>): void {
  const known: readonly string[] = cardBrands
  const unknown = Object.keys(preauthTtlDays.byName).find(brand => !known.includes(brand))
  if (unknown === undefined) return
  const problem = `PREAUTH_TTL_DAYS: names the brand ${unknown}; there are ${cardBrands.join(', ')}`
  throw new ConfigError([problem])
}
