/**
 * Waiting in tests: for a condition, never for a fixed time.
 *
 * No wait has a bound of its own. A bound that is near the usual time fails on a machine that is busy, and says nothing
 * about the product.
 */
import { delay } from '../../runtime/delay.js'

const POLL_MS = 20
/** Far above what any condition takes; below the time of a test (`.mocharc.json`), which could not say what it waited for. */
const DEADLINE_MS = 180_000

/**
 * Resolves to what `work` gave when it took less than `withinMs`, and repeats it until it does. So a bound holds although a busy
 * machine exceeds it now and then; what always takes longer is found.
 */
export async function untilFast<T>(what: string, withinMs: number, work: () => Promise<T>): Promise<T> {
  const { value } = await until(`${what} within ${withinMs} ms`, async () => {
    const sinceMs = performance.now()
    const value = await work()
    return performance.now() - sinceMs < withinMs && { value }
  })
  return value
}

/**
 * Resolves to the first value that is neither undefined nor false. Rejects with `what` when there is none. `deadlineMs` is for
 * callers who go on without it.
 */
export async function until<T>(
  what: string,
  probe: () => Promise<T | undefined | false> | T | undefined | false,
  deadlineMs = DEADLINE_MS
): Promise<T> {
  const end = Date.now() + deadlineMs
  while (true) {
    const value = await probe()
    if (value !== undefined && value !== false) return value
    if (Date.now() > end) throw new Error(`Waited ${deadlineMs} ms in vain: ${what}`)
    await delay(POLL_MS)
  }
}
