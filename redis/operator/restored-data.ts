/** What an operator sees and does of data that came back older (decision 31). */
import type { Environment } from '../../machines/model.js'
import type { Redis } from '../connection/connections.js'
import { readClockOffset, serverTimeMs } from '../connection/redis-clock.js'
import { acceptedAs, type Vouch } from '../installation/epochs.js'
import { readPartition, serverIdOf, serverOf, writeVouch } from '../installation/partition-data.js'
import { keys, partitionNumbers } from '../keys.js'

export interface PartitionStanding {
  readonly partition: number
  /** Null: no `payments` process has looked at it yet. */
  readonly vouch: Vouch | null
  /** Payments that are still to be compared. */
  readonly unvouched: number
}

/** Every partition of the data. */
export async function standingsOf(redis: Redis, partitions: number): Promise<PartitionStanding[]> {
  return await Promise.all(
    partitionNumbers(partitions).map(async partition => {
      const [{ vouch }, unvouched] = await Promise.all([
        readPartition(redis, partition),
        redis.scard(keys.unvouched(partition))
      ])
      return { partition, vouch, unvouched }
    })
  )
}

/** Takes the data of a partition that went back as it is: money moves again, with care. Nothing is done to other data. */
export async function acceptRestored(redis: Redis, partition: number, environment: Environment): Promise<void> {
  const server = serverOf(redis, partition)
  for (;;) {
    const data = await readPartition(redis, partition)
    if (data.vouch === null || data.vouch.missing === null) return
    const nowMs = (await readClockOffset(redis, environment)) + (await serverTimeMs(server))
    const accepted = acceptedAs(data.vouch, { count: data.count, serverId: await serverIdOf(server) }, nowMs)
    if (await writeVouch(redis, partition, data, accepted, nowMs)) return
  }
}
