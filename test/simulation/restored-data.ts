/** Durable data that came back older than what was done, and the care that workers take with it (decision 31). */
import type { Redis } from '../../redis/connection/connections.js'
import type { Writes } from '../../redis/connection/writes.js'
import { acceptedAs, type Vouch } from '../../redis/installation/epochs.js'
import { readPartition, readPartitions, writeVouch } from '../../redis/installation/partition-data.js'
import { partitionNumbers } from '../../redis/keys.js'
import { repeatUnvouchedRounds } from '../../workers/payments/unvouched-rounds.js'
import type { WorkerDeps } from '../../workers/payments/worker-deps.js'
import type { RedisData } from './redis-data.js'

const WENT_BACK: Vouch = {
  standing: 'went_back',
  epochs: [],
  acceptedEpoch: 0,
  unvouchedBeforeMs: 0,
  missing: { commits: 1, fromMs: 0, toMs: 0, epoch: 0 }
}

/** A copy of all that a server has. */
type Copy = Readonly<Pick<RedisData, 'values' | 'expiries'>>

export function copyOf({ values, expiries }: Copy): Copy {
  return structuredClone({ values, expiries })
}

/** The data is again as it was. */
export function putBack({ values, expiries }: Copy, copy: Copy): void {
  const { values: copiedValues, expiries: copiedExpiries } = copyOf(copy)
  values.clear()
  expiries.clear()
  for (const [key, value] of copiedValues) values.set(key, value)
  for (const [key, expiry] of copiedExpiries) expiries.set(key, expiry)
}

/** What `installation accept-restored` does once the loss is known. */
export async function acceptRestored(redis: Redis, partitions: number, nowMs: number): Promise<void> {
  for (const partition of partitionNumbers(partitions)) {
    const data = await readPartition(redis, partition)
    const vouch = acceptedAs(WENT_BACK, { count: data.count, serverId: 'another' }, nowMs)
    await writeVouch(redis, partition, data, vouch, nowMs)
  }
}

/** What a worker that starts on such data knows of it. It looks once: nothing else happens to the data of a world. */
export async function careFor(
  deps: WorkerDeps,
  writes: Writes,
  partitions: number
): Promise<Pick<WorkerDeps, 'unvouchedBeforeMs'>> {
  const numbers = partitionNumbers(partitions)
  const vouches = (await readPartitions(writes.redis, numbers)).map(({ vouch }) => vouch)
  const care = { unvouchedBeforeMs: (partition: number) => vouches[partition]?.unvouchedBeforeMs ?? 0 }
  const open = numbers.filter(partition => vouches[partition]?.standing === 'unvouched')
  if (open.length > 0)
    void repeatUnvouchedRounds({ ...deps, ...care }, writes, () => open, new AbortController().signal)
  return care
}
