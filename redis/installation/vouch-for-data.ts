/** The comparison of a process (vouching.ts) with its places of memory, and what /readyz says of it. */
import type { ProcessContext } from '../../runtime/lifecycle.js'
import type { Redis } from '../connection/connections.js'
import { fieldsOf } from '../connection/reply-fields.js'
import { askMasters } from '../connection/unreachable.js'
import type { Writes } from '../connection/writes.js'
import { keys } from '../keys.js'
import { required, storedValue } from '../stored-fields.js'
import { DATA_PART, UNVOUCHED, wentBackSentence } from './data-sentences.js'
import { countedOf, counterOf, laterOf, type Memory, type Seen } from './epochs.js'
import { assertUnchanged, type Installation } from './installation.js'
import { SeenFile } from './seen-file.js'
import { Vouching } from './vouching.js'

/** A process whose data has waited for so long to be compared says so (ms). */
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
  const wentBack = (): string | undefined => {
    const missing = vouching.missing()
    return missing.length > 0 ? wentBackSentence(missing) : undefined
  }
  const waits = async (): Promise<string | undefined> => {
    if (vouching.waitedMs() <= WAITS_LONG_MS) return undefined
    // Rejects as all checks do while the server can't be asked, which says enough.
    await askMasters(durable.connection, master => master.ping())
    return WAITING[name]
  }
  const unvouched = (): string | undefined => (vouching.unvouched().length > 0 ? UNVOUCHED : undefined)
  // An `api` stays ready: it answers reads, and says why it takes nothing else.
  if (name === 'payments') onReadyCheck(DATA_PART, async () => wentBack() ?? (await waits()))
  onWarning(DATA_PART, name === 'payments' ? unvouched : async () => wentBack() ?? (await waits()) ?? unvouched())
  const assertWhole = async (partition: number): Promise<void> => {
    vouching.assertWhole(partition)
    // Emptied since the last look.
    await assertUnchanged(durable.connection, durable.installation.id)
  }
  return { writes: vouching.guarded(), vouching, assertWhole }
}

const WAITING = {
  api: 'The data of REDIS_URL waits to be compared by `payments`, and takes no changes: start one, or read in its log why it waits.',
  payments:
    "The data of REDIS_URL can't be compared with what is remembered of it, so money waits. The log says why; without a reason there, restart this process."
} as const

/** Gives the memory-only Redis what this process has seen, and gets what all have. Rejects while that server is away. */
async function exchangeSeen(secrets: Redis, { atMs, memories }: Seen): Promise<Seen> {
  const own = [...memories].flatMap(([partition, { serverId, ...counted }]) => [
    counterOf(counted),
    storedServer.encode({ partition, serverId })
  ])
  const [, , kept] = await Promise.all([
    secrets.zadd(keys.seen(), 'GT', atMs, WATCHED, ...own),
    secrets.zremrangebyrank(keys.seen(), 0, -1 - KEPT_MAX),
    secrets.zrange(keys.seen(), '0', '-1', 'WITHSCORES')
  ])
  const all = fieldsOf(kept)
  const read = new Map<number, Memory>()
  for (const [member, score] of all) {
    if (member === WATCHED) continue
    const { partition, serverId } = storedServer.decode(member)
    read.set(partition, laterOf(read.get(partition), { ...countedOf(Number(score)), serverId }))
  }
  return { atMs: Number(all.get(WATCHED) ?? 0), memories: read }
}

/** A member of the list of what all processes have seen: its score is the counter that a partition had under this server. */
const storedServer = storedValue<{ partition: number; serverId: string }>('memory of the data', {
  partition: [0],
  serverId: [required]
})
/** The member whose score is until when they watched. */
const WATCHED = 'watched'
/** Each partition has a member for each server that was its master; the oldest go. */
const KEPT_MAX = 4_096
