/** What verbs print: tables, fields, CSV, times, and the progress of a long command. */

/** A column of a table: the name of a field of the printed record, or a function of the item. */
type Column<Item, Printed> = (keyof Printed & string) | ((item: Item) => string | number | null)

/**
 * The same items for `--json` and as a table. `print` makes the JSON of an item. `columns`: by heading. A value of null
 * is a dash in the table.
 */
export function listing<Item, Printed extends object>(
  items: readonly Item[],
  print: (item: Item) => Printed,
  columns: Readonly<Record<string, Column<Item, Printed>>>,
  whenEmpty: string
): { readonly json: Printed[]; readonly text: string } {
  const json = items.map(print)
  const rows = items.map((item, index) =>
    Object.values(columns).map(column => {
      const value = typeof column === 'string' ? json[index]?.[column] : column(item)
      return String(value ?? '-')
    })
  )
  return { json, text: table(Object.keys(columns), rows, whenEmpty) }
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
  const rows = Object.entries(fields).map(([name, value]) => [name, String(value ?? '-')])
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

/** One line of CSV (RFC 4180) with its end; values with commas, quotes or line breaks are quoted. */
export function csvLine(values: readonly (string | number | null)[]): string {
  return `${values.map(quoted).join(',')}\n`
}

function quoted(value: string | number | null): string {
  const text = String(value ?? '')
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}

const BAR_WIDTH = 30

/** A line for the terminal. `share`: the part that is done, from 0 to 1. */
export function progressBar(share: number, text: string): string {
  const done = Math.round(share * BAR_WIDTH)
  return `[${'#'.repeat(done)}${'.'.repeat(BAR_WIDTH - done)}] ${Math.floor(share * 100)} %, ${text}`
}
