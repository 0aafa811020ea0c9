/** Spans of time as an operator writes them. */
import { UsageError } from '../command-line/usage-error.js'

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
