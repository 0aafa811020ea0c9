/** Waits until processes say on their ops port that they can work. */
import { delay } from '../../runtime/delay.js'

const POLL_MS = 50
/** Loading a big append-only file is over by now; what is left are connections and checks. */
const READY_DEADLINE_MS = 60_000

/**
 * Resolves when every process answers /readyz with 200. `opsPort` is asked each time, because a process that is
 * started anew has another one; `failure` may end the wait early with a sentence.
 * Rejects with what the processes that are not ready say about themselves.
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
    const states = await Promise.all(waiting.map(async name => ({ name, problem: await problemOf(opsPort(name)) })))
    const unready = states.filter(state => state.problem !== undefined)
    if (unready.length > 0 && Date.now() > deadline) {
      const lines = unready.map(({ name, problem }) => `  - ${name}: ${problem}`)
      throw new Error(`Not ready after ${READY_DEADLINE_MS / 1000} s:\n${lines.join('\n')}`)
    }
    waiting = unready.map(state => state.name)
    if (waiting.length > 0) await delay(POLL_MS)
  }
}

async function problemOf(port: number | undefined): Promise<string | undefined> {
  try {
    const response = await fetch(`http://127.0.0.1:${port}/readyz`, { signal: AbortSignal.timeout(2_000) })
    return response.status === 200 ? undefined : await response.text()
  } catch {
    return 'does not answer on its ops port'
  }
}
