/** The comparison of a process (vouching.ts) with its places of memory, and what /readyz says of it. */
import type { ProcessContext } from '../../runtime/lifecycle.js'
import type { Redis } from '../connection/connections.js'
import { RedisUnavailable } from '../connection/redis-errors.js'
import { fieldsOf } from '../connection/reply-fields.js'
import type { Writes } from '../connection/writes.js'
import { keys } from '../keys.js'
import { defineScript } from '../scripts.js'
import { required, storedValue } from '../stored-fields.js'
import { DATA_PART, UNVOUCHED, wentBackSentence } from './data-sentences.js'
import type { Memory, Seen } from './epochs.js'
import { changeOf, type Installation } from './installation.js'
import { SeenFile } from './seen-file.js'
import { Vouching } from './vouching.js'

const remember = defineScript('remember')

/** A process that waits for so long for the comparison of another one says so (ms). */
const WAITS_LONG_MS = 5_000

/**
 * Compares the durable data from now on, until the process stops. Answers the writes that wait for it. `name`: that of the
 * process, of which `payments` decides.
 */
export async function vouchForData(
  context: ProcessContext,
  name: 'api' | 'payments',
  durable: { readonly writes: Writes; readonly connection: Redis; readonly installation: Installation },
  secrets: Redis
): Promise<{
  readonly writes: Writes
  readonly vouching: Vouching
  /** Rejects while something of a partition may be missing: what was not found in it may exist. */
  assertWhole(partition: number): Promise<void>
}> {
  const { config, log, onStop, onReadyCheck, onWarning } = context
  const vouching = new Vouching({
    writes: durable.writes,
    connection: durable.connection,
    partitions: config.partitions,
    environment: config.environment,
    mayDecide: name === 'payments',
    file: new SeenFile(config.dataDir, name, durable.installation.id),
    exchange: own => exchangeSeen(secrets, own),
    log
  })
  onStop('comparison of the data', () => vouching.stop())
  await vouching.start()
  const startedMs = performance.now()
  const wentBack = (): string | undefined => {
    const missing = vouching.missing()
    return missing.length > 0 ? wentBackSentence(missing) : undefined
  }
  const waits = (): string | undefined =>
    vouching.unproven() > 0 && performance.now() > startedMs + WAITS_LONG_MS
      ? 'The data of REDIS_URL waits to be compared by `payments`: start one.'
      : undefined
  const unvouched = (): string | undefined => (vouching.unvouched().length > 0 ? UNVOUCHED : undefined)
  // An `api` stays ready: it answers reads, and says why it takes nothing else.
  if (name === 'payments') onReadyCheck(DATA_PART, wentBack)
  onWarning(DATA_PART, name === 'payments' ? unvouched : () => wentBack() ?? waits() ?? unvouched())
  const assertWhole = async (partition: number): Promise<void> => {
    vouching.assertWhole(partition)
    // Emptied since the last look.
    const problem = await changeOf(durable.connection, durable.installation.id)
    if (problem !== undefined) throw new RedisUnavailable(problem)
  }
  return { writes: vouching.guarded(), vouching, assertWhole }
}

/** Gives the memory-only Redis what this process has seen, and gets what all have. Rejects while that server is away. */
async function exchangeSeen(secrets: Redis, { atMs, memories }: Seen): Promise<Seen> {
  const each = [...memories].flatMap(([partition, memory]) => [partition, storedMemory.encode(memory)])
  const kept = fieldsOf((await remember(secrets, [keys.seen()], [atMs, ...each])) as string[])
  const read = [...kept].flatMap(([field, text]): [number, Memory][] =>
    field === 'at' ? [] : [[Number(field), storedMemory.decode(text)]]
  )
  return { atMs: Number(kept.get('at') ?? 0), memories: new Map(read) }
}

/** What the memory-only Redis keeps of a partition; remember.lua compares the first two. */
const storedMemory = storedValue<Memory>('memory of the data', {
  epoch: [required],
  count: [required],
  serverId: [required]
})
