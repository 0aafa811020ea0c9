/** Operators write no payment: they send a command, and wait until a worker has done it. */
import { delay } from '../../runtime/delay.js'

const POLL_MS = 50

/** Looks until `look` sees the result. Throws when no worker has `done` it in time: the command stays in its stream. */
export async function untilDone<T>(done: string, waitMs: number, look: () => Promise<T | null>): Promise<T> {
  const deadlineMs = performance.now() + waitMs
  for (;;) {
    const seen = await look()
    if (seen !== null) return seen
    if (performance.now() > deadlineMs) {
      throw new Error(`No worker ${done} within ${waitMs} ms; one will when it runs.`)
    }
    await delay(POLL_MS)
  }
}
