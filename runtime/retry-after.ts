/** `Retry-After` as seconds or as a date, from now (ms); null when it is absent or unreadable. */
export function retryAfterMs(header: string | string[] | undefined, nowMs: number): number | null {
  const text = (Array.isArray(header) ? header[0] : header)?.trim() ?? ''
  if (/^\d{1,15}$/.test(text)) return Number(text) * 1_000
  // RFC 9110, section 5.6.7: a date begins with the name of its day.
  const atMs = /^(mon|tue|wed|thu|fri|sat|sun)/i.test(text) ? Date.parse(text) : Number.NaN
  return Number.isNaN(atMs) ? null : Math.max(0, atMs - nowMs)
}
