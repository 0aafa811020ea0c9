/** What verbs print: tables, fields, CSV, times, and the progress of a long command. */

/** One value of an item: its name, and how it is read. `json`: not in the table, which has no room for it. */
export type Field<Item> = readonly [name: string, value: (item: Item) => unknown, where?: 'json']

/** An item for `--json`. */
export function jsonOf<Item>(fields: readonly Field<Item>[], item: Item): Record<string, unknown> {
  return Object.fromEntries(fields.map(([name, value]) => [name, value(item)]))
}

/** The same items for `--json` and as a table. */
export function listing<Item>(
  items: readonly Item[],
  fields: readonly Field<Item>[],
  whenEmpty: string
): { readonly json: Record<string, unknown>[]; readonly text: string } {
  const columns = fields.filter(([, , where]) => where === undefined)
  const rows = items.map(item => columns.map(([, value]) => cellText(value(item))))
  const header = columns.map(([name]) => name.toUpperCase().replaceAll('_', ' '))
  return { json: items.map(item => jsonOf(fields, item)), text: table(header, rows, whenEmpty) }
}

/** Null is a dash. */
function cellText(value: unknown): string {
  const isObject = typeof value === 'object' && value !== null && !Array.isArray(value)
  return isObject ? JSON.stringify(value) : String(value ?? '-')
}

/** Rows under a header, columns as wide as their longest cell; `whenEmpty` in place of a table without rows. */
export function table(header: readonly string[], rows: readonly (readonly string[])[], whenEmpty: string): string {
  if (rows.length === 0) return whenEmpty
  const lines = [header, ...rows]
  const widths = header.map((_, column) => Math.max(...lines.map(line => line[column]?.length ?? 0)))
  return lines
    .map(line =>
      line
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join('  ')
        .trimEnd()
    )
    .join('\n')
}

/** One line for each field: its name, then its value, or a dash for null. */
export function fieldLines(fields: object): string {
  const rows = Object.entries(fields).map(([name, value]) => [name, cellText(value)])
  const width = 2 + Math.max(...rows.map(([name = '']) => name.length))
  return rows.map(([name = '', value]) => `${name.padEnd(width)}${value}`).join('\n')
}

/** A time in ms as ISO 8601. */
export function isoTime(ms: number): string
export function isoTime(ms: number | null): string | null
export function isoTime(ms: number | null): string | null {
  return ms === null ? null : new Date(ms).toISOString()
}

/** An age as it stands in tables. */
export function secondsText(ms: number): string {
  return `${(ms / 1_000).toFixed(1)} s`
}

/** The first line of a CSV file (RFC 4180): the names of the fields. */
export function csvHeader<Item>(fields: readonly Field<Item>[]): string {
  return `${fields.map(([name]) => name).join(',')}\n`
}

/** The line of an item; values with commas, quotes or line breaks are quoted. */
export function csvLine<Item>(fields: readonly Field<Item>[], item: Item): string {
  return `${fields.map(([, value]) => quoted(value(item))).join(',')}\n`
}

/** A spreadsheet runs a text that begins like a formula; the apostrophe makes it a text. Merchants write some of them. */
const FORMULA = /^[=+\-@\t\r]/

function quoted(value: unknown): string {
  const text = typeof value === 'string' && FORMULA.test(value) ? `'${value}` : String(value ?? '')
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}

const BAR_WIDTH = 30

/** A line for the terminal. `share`: the part that is done, from 0 to 1. */
export function progressBar(share: number, text: string): string {
  const done = Math.round(share * BAR_WIDTH)
  return `[${'#'.repeat(done)}${'.'.repeat(BAR_WIDTH - done)}] ${Math.floor(share * 100)} %, ${text}`
}
