/** Reads and writes what the data of a partition says of itself (epochs.ts). */
import { Cluster, type Redis as Single } from 'ioredis'
import { masterOf } from '../connection/cluster-nodes.js'
import type { Redis } from '../connection/connections.js'
import { fieldsOf } from '../connection/reply-fields.js'
import { keys } from '../keys.js'
import { defineScript } from '../scripts.js'
import { storedVouch, type Vouch } from './epochs.js'

const setVouch = defineScript('set_vouch')

/** What one read of a partition finds. `text`: the vouch as it is stored. */
export interface PartitionData {
  readonly text: string
  readonly vouch: Vouch | null
  readonly count: number
}

export async function readPartition(redis: Redis, partition: number): Promise<PartitionData> {
  const [text, count] = await redis.mget([keys.vouch(partition), keys.commitCounter(partition)])
  return { text: text ?? '', vouch: text ? storedVouch.decode(text) : null, count: Number(count ?? 0) }
}

/**
 * Replaces what `data` was read as. `markAtMs`: all that waits counts as begun, and open payments are to be compared, from
 * this time of the service on. False when another process was first.
 */
export async function writeVouch(
  redis: Redis,
  partition: number,
  data: Pick<PartitionData, 'text'>,
  vouch: Vouch,
  markAtMs: number | null
): Promise<boolean> {
  const places = [keys.vouch, keys.begun, keys.reconcile, keys.due, keys.unvouched].map(key => key(partition))
  return (await setVouch(redis, places, [data.text, storedVouch.encode(vouch), markAtMs ?? ''])) === 1
}

/** The id under which a server is master: another one after each start and promotion. '' while it is a replica. */
export async function serverIdOf(server: Redis): Promise<string> {
  const info = await server.info('replication')
  return /^role:master/m.test(info) ? (/^master_replid:(\w{12})/m.exec(info)?.[1] ?? '') : ''
}

/** When the last command of a partition was written (ms, by the clock of Redis); 0: none ever was. */
export async function lastCommandMs(redis: Redis, partition: number): Promise<number> {
  const answer = (await redis.xinfo('STREAM', keys.commands(partition)).catch((error: unknown) => {
    if (error instanceof Error && error.message.includes('no such key')) return []
    throw error
  })) as unknown[]
  return Number(String(fieldsOf(answer).get('last-generated-id') ?? '0').split('-')[0])
}

/** The server that has a partition, as far as this client knows. Throws while a Cluster has none. */
export function serverOf(redis: Redis, partition: number): Single {
  if (redis instanceof Cluster) return masterOf(redis, keys.vouch(partition))
  return redis as Single
}

/** Calls `onLost` when a connection is lost, and `onBack` when one is usable again. */
export function watchConnections(redis: Redis, onLost: () => void, onBack: () => void): void {
  const watch = (server: Single): void => {
    server.on('close', onLost)
    server.on('ready', onBack)
  }
  if (redis instanceof Cluster) {
    for (const node of redis.nodes()) watch(node)
    redis.on('+node', watch)
  } else watch(redis as Single)
}
