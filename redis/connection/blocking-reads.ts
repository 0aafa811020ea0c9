/**
 * Reads that wait for streams to get something.
 *
 * On one server one connection reads all streams at once. A Cluster takes the streams of one slot in a read only, and
 * a blocked connection can do nothing else: each stream has a connection of its own there, to the master that has it.
 * Redis serves those who wait for a stream in turn, so that it stays fair among workers; a connection costs a master
 * about 24 KB, and partitions times workers are some hundreds of them.
 */
import { Cluster, type Redis as Single } from 'ioredis'
import { findMastersAgain, isMovedError, masterOf } from './cluster-nodes.js'
import type { Redis } from './connections.js'
import { RedisUnavailable } from './redis-errors.js'
import { cutWhenSilent } from './silent-connections.js'

export interface BlockingReads {
  /**
   * Runs a read of streams that are readable together, `stream` being one of them. Rejects while the server is down; the
   * caller looks for entries whose delivery was lost with an answer.
   */
  read<T>(stream: string, work: (redis: Redis) => Promise<T>): Promise<T>
  /** Cuts the connections that it made itself. */
  close(): void
}

/** On a connection of the role `blocking`, which does nothing else. */
export function createBlockingReads(blocking: Redis): BlockingReads {
  if (blocking instanceof Cluster) return new ClusterReads(blocking)
  return {
    read: (_, work) => work(blocking),
    close: () => undefined
  }
}

class ClusterReads implements BlockingReads {
  readonly #cluster: Cluster
  readonly #connections = new Map<string, Single>()

  constructor(cluster: Cluster) {
    this.#cluster = cluster
  }

  async read<T>(stream: string, work: (redis: Redis) => Promise<T>): Promise<T> {
    const connection = this.#connectionFor(stream)
    try {
      return await work(connection)
    } catch (error) {
      this.#drop(stream, connection)
      if (!isMovedError(error)) throw error
      await findMastersAgain(this.#cluster)
      throw new RedisUnavailable(`The stream ${stream} has moved to another master.`, { cause: error })
    }
  }

  close(): void {
    for (const [stream, connection] of this.#connections) this.#drop(stream, connection)
  }

  #connectionFor(stream: string): Single {
    const known = this.#connections.get(stream)
    if (known !== undefined && known.status !== 'end') return known
    const duplicate = masterOf(this.#cluster, stream).duplicate({
      readOnly: false,
      lazyConnect: false,
      enableOfflineQueue: true,
      // A lost connection is replaced by a new one, to the node that is the master then.
      retryStrategy: () => null
    })
    const connection = cutWhenSilent(duplicate)
    // The read itself is rejected, and says so.
    connection.on('error', () => undefined)
    this.#connections.set(stream, connection)
    return connection
  }

  #drop(stream: string, connection: Single): void {
    connection.disconnect()
    if (this.#connections.get(stream) === connection) this.#connections.delete(stream)
  }
}
