/** What must be true of the durable Redis before a process may work with it: its partitions and its durability. */
import type { ProcessContext } from '../runtime/lifecycle.js'
import { connect, disconnect, type Redis } from './connections.js'
import { rejectAsUnreachable, requireDurability } from './durability.js'
import { keys } from './keys.js'
import { requirePermissions } from './permissions.js'
import { watchReplicas } from './replicas.js'
import { openWrites, type Writes } from './writes.js'

/**
 * The durable Redis of a process that tells others "it is written down": its connection and its writes, once partitions
 * and durability are proved. Both are closed at its stop.
 */
export async function openDurable(
  context: ProcessContext
): Promise<{ readonly durable: Redis; readonly writes: Writes }> {
  const { config, log, onStop } = context
  const durable = await connect(config.redisUrl, 'commands', log)
  onStop('durable redis', () => disconnect(durable))
  await requirePermissions(durable, 'durable', context)
  const { writes, close } = await openWrites(durable, config, log)
  onStop('durable writes', close)
  await assertPartitions(durable, config.partitions)
  await requireDurability(durable, context)
  if (config.waitReplicas > 0) watchReplicas(durable, context)
  return { durable, writes }
}

/**
 * Fixes the number of partitions when the data is born, and refuses any other number ever after: with another number
 * every merchant would be looked for in the wrong place.
 */
export async function assertPartitions(redis: Redis, partitions: number): Promise<void> {
  await redis.setnx(keys.partitionCount(), partitions)
  const born = Number(await redis.get(keys.partitionCount()))
  if (born !== partitions) {
    throw new Error(
      `This data was born with ${born} partitions, PARTITIONS says ${partitions}. Set PARTITIONS=${born}; the number can't change.`
    )
  }
}

/** The condition of /readyz of a process that needs the durable Redis, and does not promise what it keeps. */
export async function assertReachable(redis: Redis): Promise<undefined> {
  await redis.ping().catch(rejectAsUnreachable)
  return undefined
}
