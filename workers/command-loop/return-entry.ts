/** Returns an entry that this worker does not end to its stream. */
import { delay } from '../../runtime/delay.js'
import { type Logger, warnRateLimited } from '../../runtime/log.js'

const RETRY_MS = 200

/**
 * Repeats `move`, a requeue or a release, until it succeeds: no other worker takes over the entries of a live one. A worker
 * that stops tries once, because its entries are taken over soon. Never rejects.
 */
export async function returnEntry(
  move: () => Promise<unknown>,
  { log, ids, stopping }: { log: Logger; ids: Readonly<Record<string, string>>; stopping: AbortSignal }
): Promise<void> {
  do {
    try {
      await move()
      return
    } catch (error) {
      warnRateLimited(log, { ...ids, err: error }, 'a command could not be returned to its stream yet')
      await delay(RETRY_MS, stopping)
    }
  } while (!stopping.aborted)
}
