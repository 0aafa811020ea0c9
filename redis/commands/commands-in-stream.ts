/** The commands of a partition that have no result yet, for those who look for one of them. */
import type { Redis } from '../connection/connections.js'
import { keys } from '../keys.js'
import { type CommandEntry, entryIn } from './command-entry.js'

const PAGE = 1_000

/**
 * All that are readable, oldest first. One that is requeued meanwhile has its new place behind all others: it may come
 * twice, and is never left out.
 */
export async function* commandsIn(redis: Redis, partition: number): AsyncGenerator<CommandEntry> {
  for (let from = '-', isLast = false; !isLast; ) {
    const page = await redis.xrange(keys.commands(partition), from, '+', 'COUNT', PAGE)
    for (const [entryId, fields] of page) {
      const entry = entryIn(partition, entryId, fields)
      if (entry !== null) yield entry
    }
    from = `(${page.at(-1)?.[0]}`
    isLast = page.length < PAGE
  }
}

/** Those of one payment. */
export async function commandsOf(
  redis: Redis,
  { partition, paymentKey }: Pick<CommandEntry, 'partition' | 'paymentKey'>
): Promise<CommandEntry[]> {
  const found: CommandEntry[] = []
  for await (const entry of commandsIn(redis, partition)) if (entry.paymentKey === paymentKey) found.push(entry)
  return found
}
