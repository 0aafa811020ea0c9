/** Days as operators write them, in a time zone. */
import { InvalidArgumentError } from 'commander'
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
