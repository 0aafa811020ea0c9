/** How a text of the environment, or of a file that it names, becomes a value. A parser throws what is expected. */

import { readFileSync } from 'node:fs'
import { createEgressPolicy } from './egress-policy.js'
import { parsedUrl } from './parsed-url.js'
import { parseAddress } from './redis-address.js'

/** The processes of the Procfile. */
export const everyProcess = [
  'api',
  'tokens',
  'notifications',
  'payments',
  'timers',
  'webhooks',
  'archive',
  'network'
] as const
/**
 * `operator`: the operator's command line. `doctor`: its check of the card network. `tools`: the other commands beside
 * `npm start`, such as `npm run shop`.
 */
export type ProcessName = (typeof everyProcess)[number] | 'operator' | 'doctor' | 'tools'

/** How one environment variable becomes a value. `parse` throws a message that says what is expected. */
export interface Setting<T> {
  variable: string
  /** Only these processes read the variable; `npm start` passes it to no other. */
  usedBy: readonly ProcessName[]
  /** A text like those of the environment, and parsed like them. */
  fallback: string
  /** For docs/CONFIGURATION.md. */
  doc: string
  parse: (text: string) => T
  /** `secret`: the value is never shown. Without a readable key file a process of the Procfile does not start. */
  kind: 'plain' | 'secret' | 'publicKeyFile' | 'secretKeyFile'
  isUndocumented?: true
}

/**
 * A value that no installation needs to change: it is not documented. Tests and drills shorten times with it, so it is read
 * as a setting is.
 */
export function undocumented<T>(row: Setting<T>): Setting<T> {
  return { ...row, isUndocumented: true }
}

export function setting<T>(
  variable: string,
  usedBy: readonly ProcessName[],
  fallback: string,
  doc: string,
  parse: (text: string) => T,
  kind: Setting<T>['kind'] = 'plain'
): Setting<T> {
  return { variable, usedBy, fallback, doc, parse, kind }
}

/** What the declaration of a text begins with. */
type TextRow = [variable: string, usedBy: readonly ProcessName[], fallback: string, doc: string]

/** Any text. */
export function anyText(...row: TextRow): Setting<string> {
  return setting(...row, value => value)
}

/** Any text. No message shows it. */
export function secret(...row: TextRow): Setting<string> {
  return setting(...row, value => value, 'secret')
}

/** The path of a file with keys. */
export function keyFile(
  variable: string,
  usedBy: readonly ProcessName[],
  kind: 'publicKeyFile' | 'secretKeyFile',
  doc: string
): Setting<string> {
  return setting(variable, usedBy, '', doc, value => value, kind)
}

/** The base URL of a server that speaks HTTP. It may be empty only where the default is. */
export function httpUrl(...row: TextRow): Setting<string> {
  const [, , fallback] = row
  return setting(...row, value => {
    const url = parsedUrl(value)
    const isBase = url !== null && /^https?:$/.test(url.protocol) && url.search + url.hash + url.username === ''
    if (!isBase && value !== fallback) throw new RangeError('must be a URL such as https://host.example:8443/path')
    return value
  })
}

/** The address of one Redis, or of several that act as one. It may hold a password. */
export function redisUrl(...row: TextRow): Setting<string> {
  return setting(...row, redisAddress, 'secret')
}

/** Addresses of Redis, with commas between them. */
export function redisUrls(value: string): readonly string[] {
  return partsOf(value).map(redisAddress)
}

function redisAddress(value: string): string {
  parseAddress(value)
  return value
}

/** One of a few words. With the empty word as default, it is required. */
export function oneOf<const T extends string>(
  variable: string,
  usedBy: readonly ProcessName[],
  allowed: readonly T[],
  fallback: NoInfer<T> | '',
  doc: string
): Setting<T> {
  return setting(variable, usedBy, fallback, doc, value => {
    const found = allowed.find(candidate => candidate === value)
    if (found === undefined) throw new RangeError(`must be one of ${allowed.join(', ')}`)
    return found
  })
}

/** A whole number from `min` to `max`. */
export function integer(
  variable: string,
  usedBy: readonly ProcessName[],
  fallback: number,
  [min, max]: readonly [min: number, max: number],
  doc: string
): Setting<number> {
  return setting(variable, usedBy, String(fallback), doc, value => {
    const parsed = /^-?\d+$/.test(value) ? Number(value) : Number.NaN
    if (!(parsed >= min && parsed <= max)) throw new RangeError(`must be a whole number from ${min} to ${max}`)
    return parsed
  })
}

/** Networks such as 10.0.0.0/8, with commas between them. */
export function networks(value: string): readonly string[] {
  const parsed = partsOf(value)
  createEgressPolicy(parsed)
  return parsed
}

/** Gaps in ms, with commas between them; at least one. */
export function delays(value: string): readonly number[] {
  const parsed = value.split(',').map(part => (/^\d+$/.test(part.trim()) ? Number(part) : Number.NaN))
  if (parsed.some(gap => !(gap >= 1))) throw new RangeError('must be gaps in ms, separated by commas')
  return parsed
}

const DAYS_MAX = 30

/** Days of all, and of some by name. */
export interface DaysByName {
  readonly days: number
  readonly byName: Readonly<Record<string, number>>
}

/** Such as `7,visa=5,elo=15`. */
export function daysByName(value: string): DaysByName {
  const [first = '', ...others] = partsOf(value)
  const byName: Record<string, number> = {}
  for (const part of others) {
    const [, name = '', days = ''] = /^([a-z]+)=(\d+)$/.exec(part) ?? []
    byName[name] = daysIn(days)
  }
  return { days: daysIn(first), byName }
}

function daysIn(text: string): number {
  const days = /^\d{1,2}$/.test(text) ? Number(text) : 0
  if (days >= 1 && days <= DAYS_MAX) return days
  throw new RangeError(`must look like 7,visa=5,elo=15, with 1 to ${DAYS_MAX} days`)
}

function partsOf(value: string): readonly string[] {
  return value.split(',').flatMap(part => part.trim() || [])
}

/**
 * The text of a setting, and how to name its source to an operator. `REDIS_URL_FILE=/run/secrets/redis` instead of
 * `REDIS_URL` keeps a password out of the environment, which others can read. Secrets and contents are not shown.
 */
export function sourceOf(
  { variable, fallback, kind }: Setting<unknown>,
  env: NodeJS.ProcessEnv
): { text: string | undefined; shown: string } {
  const [given, file] = [env[variable], env[`${variable}_FILE`]]
  if (given) return { text: given, shown: kind === 'secret' ? variable : `${variable}=${quoted(given)}` }
  if (file) return { text: contentOf(file), shown: `${variable}_FILE=${JSON.stringify(file)}` }
  return { text: fallback, shown: `${variable} is not set` }
}

/** A value in quotes, without the login that a URL may hold. */
function quoted(value: string): string {
  return JSON.stringify(value.replace(/\/\/[^@/]*@/, '//…@'))
}

function contentOf(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8').trim()
  } catch {
    return undefined
  }
}
