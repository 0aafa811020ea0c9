/** Waiting in tests: for a condition, with a bound, never for a fixed time. */
import { delay } from '../../runtime/delay.js'

const POLL_MS = 20

/** Resolves to the first value that is neither undefined nor false. Rejects with `what` after `deadlineMs`. */
export async function until<T>(
  what: string,
  probe: () => Promise<T | undefined | false> | T | undefined | false,
  deadlineMs = 30_000
): Promise<T> {
  const end = Date.now() + deadlineMs
  while (true) {
    const value = await probe()
    if (value !== undefined && value !== false) return value
    if (Date.now() > end) throw new Error(`Waited ${deadlineMs} ms in vain: ${what}`)
    await delay(POLL_MS)
  }
}
