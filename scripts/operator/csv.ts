/** Lines of CSV (RFC 4180). */

/** One line with its end; values with commas, quotes or line breaks are quoted. */
export function csvLine(values: readonly (string | number | null)[]): string {
  return `${values.map(quoted).join(',')}\n`
}

function quoted(value: string | number | null): string {
  const text = String(value ?? '')
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}
