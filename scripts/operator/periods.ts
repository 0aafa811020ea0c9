/** Days, months and spans of time as operators write them. */
import { InvalidArgumentError } from 'commander'
import type { Month } from '../../archive/months.js'
import { UsageError } from '../command-line/usage-error.js'

export const ZONE_OPTION = [
  '--zone <name>',
  'time zone of the days, such as America/Sao_Paulo',
  parseZone,
  'UTC'
] as const

/** A day such as 2026-01-31, as its midnight in UTC (ms). Throws `InvalidArgumentError`. */
export function parseDay(text: string): number {
  const ms = /^\d{4}-\d\d-\d\d$/.test(text) ? Date.parse(text) : Number.NaN
  if (!Number.isNaN(ms) && new Date(ms).toISOString().startsWith(text)) return ms
  throw new InvalidArgumentError('Give a day such as 2026-01-31.')
}

/** The moments from the beginning of `firstDay` to the end of `lastDay` in a zone (ms). Throws `UsageError`. */
export function rangeOf(firstDay: number, lastDay: number, zone: string): { fromMs: number; toMs: number } {
  if (lastDay < firstDay) throw new UsageError('The last day is before the first one.')
  return { fromMs: startOf(firstDay, zone), toMs: startOf(lastDay + 86_400_000, zone) }
}

/** When a day begins in a zone. `day`: its midnight in UTC. */
function startOf(day: number, zone: string): number {
  // The offset may be another one at the moment that the first guess leads to.
  const guess = day - offsetMs(day, zone)
  return day - offsetMs(guess, zone)
}

/** How far the clocks of a zone are ahead of UTC at a moment. */
function offsetMs(atMs: number, zone: string): number {
  const parts = new Intl.DateTimeFormat('en-US', { timeZone: zone, timeZoneName: 'longOffset' }).formatToParts(atMs)
  const name = parts.find(({ type }) => type === 'timeZoneName')?.value ?? ''
  const [, sign, hours, minutes] = /^GMT([+-])(\d\d):(\d\d)$/.exec(name) ?? []
  const ms = (Number(hours ?? 0) * 60 + Number(minutes ?? 0)) * 60_000
  return sign === '-' ? -ms : ms
}

function parseZone(text: string): string {
  try {
    return new Intl.DateTimeFormat('en-US', { timeZone: text }).resolvedOptions().timeZone
  } catch {
    throw new InvalidArgumentError('There is no such time zone. Give one such as UTC or America/Sao_Paulo.')
  }
}

/** Throws `UsageError` for what is no month such as 2024-03. */
export function parseMonth(text: string): Month {
  if (/^20\d\d-(0[1-9]|1[0-2])$/.test(text)) return text
  throw new UsageError(`"${text}" is not a month such as 2024-03`)
}

/** When all payments of a month (UTC) are older than that many years (ms). Null: 0 years keep them for ever. */
export function droppableFromMs(month: Month, years: number): number | null {
  const [year = 0, number = 0] = month.split('-').map(Number)
  return years === 0 ? null : Date.UTC(year + years, number, 1)
}

const unitMs: Readonly<Record<string, number>> = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 }
const SPAN_MS_MAX = 366 * 86_400_000

/** Such as 30s, 90m, 12h or 7d, in ms. Throws `UsageError`. */
export function parseSpan(text: string): number {
  const [, digits, unit = ''] = /^(\d{1,9})([smhd])$/.exec(text) ?? []
  const ms = Number(digits) * (unitMs[unit] ?? Number.NaN)
  if (!(ms > 0 && ms <= SPAN_MS_MAX)) {
    throw new UsageError(`"${text}" is not a span of time. Write 30s, 90m, 12h or 7d, at most 366d.`)
  }
  return ms
}
