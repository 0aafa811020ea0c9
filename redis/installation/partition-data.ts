/** Reads and writes what the data of a partition says of itself (epochs.ts). */
import type { Redis as Single } from 'ioredis'
import { masterOf } from '../connection/cluster-nodes.js'
import type { Redis } from '../connection/connections.js'
import { fieldsOf, infoField } from '../connection/reply-fields.js'
import { keys } from '../keys.js'
import { defineNamedScript } from '../scripts.js'
import { entryTimeMs, nothingIfMissing } from '../streams.js'
import { type Counted, countedOf, counterOf, storedVouch, type Vouch } from './epochs.js'

const setVouch = defineNamedScript<{
  keys: 'vouch' | 'counter' | 'begun' | 'reconcile' | 'due' | 'unvouched'
  given: {
    before: string | undefined
    after: string
    counter: string | undefined
    newCounter: string | undefined
    markAtMs: number | undefined
  }
}>('set_vouch')

/** What one read of a partition finds. `text` and `counter`: as they are stored. */
export interface PartitionData extends Counted {
  readonly text: string
  readonly counter: string
  readonly vouch: Vouch | null
}

/** What each of these partitions says of itself. They must be readable together. */
export async function readPartitions(redis: Redis, partitions: readonly number[]): Promise<PartitionData[]> {
  const texts = await redis.mget(
    partitions.flatMap(partition => [keys.vouch(partition), keys.commitCounter(partition)])
  )
  return partitions.map((_, index) => dataOf(texts[2 * index] ?? '', texts[2 * index + 1] ?? ''))
}

export async function readPartition(redis: Redis, partition: number): Promise<PartitionData> {
  const [data] = await readPartitions(redis, [partition])
  if (data === undefined) throw new Error('unreachable: one was read')
  return data
}

function dataOf(text: string, counter: string): PartitionData {
  const vouch = text === '' ? null : storedVouch.decode(text)
  return { text, counter, vouch, ...countedOf(Number(counter)) }
}

/**
 * Replaces what `data` was read as; a new epoch goes into the counter, too. `markAtMs`: all that waits counts as begun, and
 * open payments are to be compared, from this time of the service on. False when another process was first, or counted.
 */
export async function writeVouch(
  redis: Redis,
  partition: number,
  data: PartitionData,
  vouch: Vouch,
  markAtMs: number | null
): Promise<boolean> {
  const named = {
    vouch: keys.vouch(partition),
    counter: keys.commitCounter(partition),
    begun: keys.begun(partition),
    reconcile: keys.reconcile(partition),
    due: keys.due(partition),
    unvouched: keys.unvouched(partition)
  }
  const epoch = vouch.epochs.at(-1)?.number ?? 0
  const answer = await setVouch(redis, named, {
    before: data.text || undefined,
    after: storedVouch.encode(vouch),
    counter: data.counter || undefined,
    // As a text: it has more digits than a number of Lua keeps when it becomes a text.
    newCounter: epoch > data.epoch ? String(counterOf({ epoch, count: data.count })) : undefined,
    markAtMs: markAtMs ?? undefined
  })
  return answer === 1
}

/** Enough of its 40 digits to tell servers apart. */
const SERVER_ID_LENGTH = 12

/** The id under which a server is master: another one after each start and promotion. */
export async function serverIdOf(server: Redis): Promise<string> {
  return infoField(await server.info('replication'), 'master_replid')?.slice(0, SERVER_ID_LENGTH) ?? ''
}

/** When the last command of a partition was written (ms, by the clock of Redis); 0: none ever was. */
export async function lastCommandMs(redis: Redis, partition: number): Promise<number> {
  const answer = (await redis.xinfo('STREAM', keys.commands(partition)).catch(nothingIfMissing)) as unknown[]
  return entryTimeMs(String(fieldsOf(answer).get('last-generated-id') ?? '0-0'))
}

/** The server that has a partition, as far as this client knows. Throws while a Cluster has none. */
export function serverOf(redis: Redis, partition: number): Single {
  return masterOf(redis, keys.vouch(partition))
}
