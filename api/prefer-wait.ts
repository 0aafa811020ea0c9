/** `Prefer: wait=N` (RFC 7240): how long the client wants to wait for the result. */

/** Seconds; RFC 7240 leaves the bound to the server. */
const WAIT_S_MAX = 30

/** The wish in seconds, 0 to 30; null when there is none, or none that can be understood: preferences never fail. */
export function preferredWaitS(header: string): number | null {
  for (const preference of header.split(',')) {
    const text = /^\s*wait\s*=\s*"?(\d{1,3})"?\s*(;|$)/i.exec(preference)?.[1]
    if (text !== undefined) return Number(text) <= WAIT_S_MAX ? Number(text) : null
  }
  return null
}
