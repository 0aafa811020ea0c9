/** The payments of a partition that are to be compared with the acquirer's records before its data is vouched for again. */
import type { Writes } from '../connection/writes.js'
import { keys } from '../keys.js'
import { comparedAs } from './epochs.js'
import { readPartition, writeVouch } from './partition-data.js'

/** Looked at in one round of a partition. */
const ROUND_MAX = 200

/** Some of them; none are left when it is empty. */
export async function someUnvouched({ redis }: Writes, partition: number): Promise<readonly string[]> {
  const some = (await redis.call('SRANDMEMBER', keys.unvouched(partition), ROUND_MAX)) as string[]
  return some
}

/** Gives those a wake-up that have none: their list was deleted or moved away by hand. */
export async function wakeUnvouched(
  { redis }: Writes,
  partition: number,
  paymentKeys: readonly string[],
  nowMs: number
): Promise<void> {
  if (paymentKeys.length === 0) return
  await redis.zadd(keys.reconcile(partition), 'NX', ...paymentKeys.flatMap(paymentKey => [String(nowMs), paymentKey]))
}

/** Takes payments out that have been compared. They were marked as begun, which is no use to one that has its outcome. */
export async function forgetCompared(
  { redis }: Writes,
  partition: number,
  paymentKeys: readonly string[]
): Promise<void> {
  if (paymentKeys.length === 0) return
  await redis.hdel(keys.begun(partition), ...paymentKeys)
  await redis.srem(keys.unvouched(partition), ...paymentKeys)
}

/** The data is vouched for from now on. */
export async function endUnvouched(writes: Writes, partition: number): Promise<void> {
  const key = keys.vouch(partition)
  await writes.run(key, async node => {
    const data = await readPartition(node, partition)
    if (data.vouch?.standing !== 'unvouched' || (await node.scard(keys.unvouched(partition))) > 0) return
    await writeVouch(node, partition, data, comparedAs(data.vouch), null)
  })
}
