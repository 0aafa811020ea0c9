/** Months as operators write them, and when the archive may drop one. */
import type { Month } from '../../archive/months.js'
import { UsageError } from '../command-line/usage-error.js'

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
