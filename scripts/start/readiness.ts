/** Waits until processes report on their ops port that they are ready. */
import { DATA_PART } from '../../redis/installation/data-sentences.js'
import { delay } from '../../runtime/delay.js'

const POLL_MS = 50
/** For connections and checks. A big append-only file is loaded before. */
const READY_DEADLINE_MS = 60_000

/**
 * Resolves when every process answers /readyz with 200. Calls `opsPort` each time, because a restarted process has
 * another port. `failure` may end the wait with a sentence. Rejects with the answers of the processes that are not ready.
 */
export async function waitUntilReady(
  names: readonly string[],
  opsPort: (name: string) => number | undefined,
  failure: () => string | undefined
): Promise<void> {
  const deadline = Date.now() + READY_DEADLINE_MS
  let waiting = names
  while (waiting.length > 0) {
    const failed = failure()
    if (failed !== undefined) throw new Error(failed)
    const states = await Promise.all(
      waiting.map(async name => ({ name, reason: await unreadyReason(`http://127.0.0.1:${opsPort(name)}`) }))
    )
    const unready = states.filter(({ reason }) => reason !== undefined)
    if (unready.length > 0 && Date.now() > deadline) {
      const lines = unready.map(({ name, reason }) => `  - ${name}: ${reason}`)
      throw new Error(`Not ready after ${READY_DEADLINE_MS / 1000} s:\n${lines.join('\n')}`)
    }
    waiting = unready.map(state => state.name)
    if (waiting.length > 0) await delay(POLL_MS)
  }
}

/** Why the process with this ops server is not ready. One that waits for an operator to accept its data has started. */
export async function unreadyReason(opsUrl: string): Promise<string | undefined> {
  try {
    const response = await fetch(`${opsUrl}/readyz`, { signal: AbortSignal.timeout(2_000) })
    if (response.status === 200) return undefined
    const text = await response.text()
    const { problems } = JSON.parse(text) as { problems: Readonly<Record<string, string>> }
    return Object.keys(problems).every(part => part === DATA_PART) ? undefined : text
  } catch {
    return 'does not answer on its ops port'
  }
}
