/** How texts of the environment, or of files that it names, become values; a parser throws what is expected. */
import { readFileSync } from 'node:fs'
import { type CrashPoint, isCrashPoint } from './crash-points.js'
import { createNetworkPolicy } from './network-policy.js'

/** How one environment variable becomes a value. `parse` throws a message that says what is expected. */
export interface Setting<T> {
  variable: string
  fallback: string
  doc: string
  parse: (text: string) => T
}

/** `fallback` is a text like those of the environment, and is parsed like them; `doc` is for docs/CONFIGURATION.md. */
export function setting<T>(variable: string, fallback: string, doc: string, parse: (text: string) => T): Setting<T> {
  return { variable, fallback, doc, parse }
}

/** Any text. */
export function text(variable: string, fallback: string, doc: string): Setting<string> {
  return setting(variable, fallback, doc, value => value)
}

/** Texts with commas between them; none when it is empty. */
export function list(variable: string, fallback: string, doc: string): Setting<readonly string[]> {
  return setting(variable, fallback, doc, partsOf)
}

/** One of a few words. */
export function oneOf<const T extends string>(
  variable: string,
  allowed: readonly T[],
  fallback: NoInfer<T>,
  doc: string
): Setting<T> {
  return setting(variable, fallback, doc, value => {
    const found = allowed.find(candidate => candidate === value)
    if (found === undefined) throw new RangeError(`must be one of ${allowed.join(', ')}`)
    return found
  })
}

/** A whole number of a range, whose ends belong to it. */
export function integer(
  variable: string,
  fallback: number,
  [min, max]: readonly [min: number, max: number],
  doc: string
): Setting<number> {
  return setting(variable, String(fallback), doc, value => {
    const parsed = /^-?\d+$/.test(value) ? Number(value) : Number.NaN
    if (!(parsed >= min && parsed <= max)) throw new RangeError(`must be a whole number from ${min} to ${max}`)
    return parsed
  })
}

/** Networks such as 10.0.0.0/8, with commas between them. */
export function networks(value: string): readonly string[] {
  const parsed = partsOf(value)
  createNetworkPolicy(parsed)
  return parsed
}

/** Gaps in ms, with commas between them; at least one. */
export function delays(value: string): readonly number[] {
  const parsed = value.split(',').map(part => (/^\d+$/.test(part.trim()) ? Number(part) : Number.NaN))
  if (parsed.some(gap => !(gap >= 1))) throw new RangeError('must be gaps in ms, separated by commas')
  return parsed
}

/** Those of machines/card-brands.ts, which this folder does not know. */
const BRANDS = ['visa', 'mastercard', 'elo', 'amex', 'hipercard', 'diners', 'discover', 'jcb']
const BRAND_DAYS_MAX = 30

/** Days by brand, such as `visa=5,elo=15`. */
export function brandDays(value: string): Readonly<Record<string, number>> {
  const days: Record<string, number> = {}
  for (const part of value.split(',').filter(Boolean)) {
    const [, brand = '', count] = /^([a-z]+)=(\d{1,2})$/.exec(part.trim()) ?? []
    if (!(Number(count) >= 1 && Number(count) <= BRAND_DAYS_MAX)) {
      throw new RangeError(`must look like visa=5,elo=15, with 1 to ${BRAND_DAYS_MAX} days`)
    }
    if (!BRANDS.includes(brand)) throw new RangeError(`names the brand ${brand}; there are ${BRANDS.join(', ')}`)
    days[brand] = Number(count)
  }
  return days
}

/** Points at which processes are to die, with commas between them. */
export function crashPointNames(value: string): readonly CrashPoint[] {
  return partsOf(value).map(name => {
    if (!isCrashPoint(name)) throw new RangeError(`${name} is no point of runtime/crash-points.ts`)
    return name
  })
}

function partsOf(value: string): readonly string[] {
  return value.split(',').flatMap(part => part.trim() || [])
}

/**
 * Where a value stands, and how to show that to an operator. `REDIS_URL_FILE=/run/secrets/redis` in the place of
 * `REDIS_URL` keeps a password out of the environment, which others can see; its content is never shown.
 */
export function sourceOf(
  { variable, fallback }: Setting<unknown>,
  env: NodeJS.ProcessEnv
): { text: string | undefined; shown: string } {
  const [given, file] = [env[variable], env[`${variable}_FILE`]]
  if (given || !file) return { text: given || fallback, shown: `${variable}=${JSON.stringify(given || fallback)}` }
  return { text: contentOf(file), shown: `${variable}_FILE=${JSON.stringify(file)}` }
}

function contentOf(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8').trim()
  } catch {
    return undefined
  }
}
