/**
 * Writes that count only when enough replicas have them (`WAIT_REPLICAS`).
 *
 * WAIT covers the writes of its own connection, so replicated writes have a connection of their own, and reads never wait
 * behind it. One WAIT at a time confirms all that was written before it (group commit): what arrives
 * meanwhile shares the next one. A small write goes before each WAIT, so that the answer covers everything that the
 * server holds by then, also what an earlier connection wrote and a repeated request only finds.
 *
 * The write and its WAIT go to one server over one connection. A master that dies or is demoted between the
 * two confirms nothing, regardless of its successor.
 */
import { Cluster, type Redis as Single } from 'ioredis'
import type { Logger } from '../../runtime/log.js'
import { keys } from '../keys.js'
import { findMastersAgain, isMovedError, masterOf, mastersOf } from './cluster-nodes.js'
import { connect, disconnect, type Redis } from './connections.js'
import { RedisUnavailable } from './redis-errors.js'

export interface Writes {
  /** The connection for reads, and for writes that nothing waits for. */
  readonly redis: Redis
  /** Whether writes wait for replicas: then a reply about a write must follow the WAIT, so it is not part of the script. */
  readonly isReplicated: boolean
  /**
   * Runs `work`, which is one command or script about `key`, and resolves when what it wrote, or found, is on enough
   * replicas. Rejects with `RedisUnavailable` when they are too few: it is written then, and may be lost. `work` is run
   * again when the key has moved to another master, because nothing was done then.
   */
  run<T>(key: string, work: (redis: Redis) => Promise<T>): Promise<T>
  /**
   * Takes note of the commit counter of a partition, once `run` has resolved. Throws `MoneyWaits` when it counts in other data
   * than before: what was written is not to be acted upon.
   */
  saw(partition: number, counter: number): void
}

/** How long replicas may take (ms). Less than a command may, so that the two timeouts differ. */
const WAIT_MS = 1_000
const FENCE_LIFE_MS = 60_000
const MOVES_MAX = 3

/** Writes that count as soon as the master has them: for tools, and for an installation without `WAIT_REPLICAS`. */
export function unreplicated(redis: Redis): Writes {
  return { redis, isReplicated: false, run: (_, work) => work(redis), saw: () => undefined }
}

/** Writes over `connection`, which is used for nothing else, that wait for `replicas` (1 or more); `redis` is for reads. */
export function createWrites(redis: Redis, connection: Redis, replicas: number): Writes {
  const confirmations = new WeakMap<Redis, Confirmation>()
  const confirmationOf = (node: Redis): Confirmation => {
    const known = confirmations.get(node)
    if (known !== undefined) return known
    const made = new Confirmation(node, replicas)
    confirmations.set(node, made)
    return made
  }
  const runOn = async <T>(node: Redis, key: string, work: (redis: Redis) => Promise<T>): Promise<T> => {
    const result = await work(node)
    await confirmationOf(node).confirm(key)
    return result
  }
  const run: Writes['run'] =
    connection instanceof Cluster
      ? (key, work) => following(connection, key, node => runOn(node, key, work))
      : (key, work) => runOn(connection, key, work)
  return { redis, isReplicated: true, run, saw: () => undefined }
}

/** Goes to the master of a key; when it is another by now, to that one. */
async function following<T>(cluster: Cluster, key: string, work: (node: Single) => Promise<T>): Promise<T> {
  for (let moves = 0; ; moves++) {
    try {
      return await work(masterOf(cluster, key))
    } catch (error) {
      if (!isMovedError(error) || moves === MOVES_MAX) throw error
      await findMastersAgain(cluster)
    }
  }
}

/** The WAITs of one connection. */
class Confirmation {
  readonly #redis: Redis
  readonly #replicas: number
  #running: Promise<void> = Promise.resolve()
  #next: Promise<void> | null = null

  constructor(redis: Redis, replicas: number) {
    this.#redis = redis
    this.#replicas = replicas
  }

  /** Everything that was answered on this connection before the call is on enough replicas when it resolves. */
  confirm(key: string): Promise<void> {
    this.#next ??= this.#after(this.#running, key)
    return this.#next
  }

  async #after(running: Promise<void>, key: string): Promise<void> {
    await running.catch(() => undefined)
    const wait = this.#wait(key)
    this.#running = wait
    this.#next = null
    await wait
  }

  async #wait(key: string): Promise<void> {
    // Sent together: nothing else of this connection comes between them.
    const [, count] = await Promise.all([
      this.#redis.set(keys.fence(key), '', 'PX', FENCE_LIFE_MS),
      this.#redis.wait(this.#replicas, WAIT_MS)
    ])
    if (count >= this.#replicas) return
    throw new RedisUnavailable(`${count} replicas have a write within ${WAIT_MS} ms, ${this.#replicas} must.`)
  }
}

/**
 * For callers without a `Writes`: how many replicas have everything that `redis` has written so far; of several masters,
 * the least. Waits for `replicas` of them, and not longer than a write would.
 */
export async function confirmedReplicas(redis: Redis, replicas: number): Promise<number> {
  return Math.min(...(await Promise.all(mastersOf(redis).map(master => master.wait(replicas, WAIT_MS)))))
}

/** The writes of a process, and their connection: over `redis` itself where no replicas are waited for, else over a connection of their own. */
export async function openWrites(
  redis: Redis,
  config: { readonly redisUrl: string; readonly waitReplicas: number },
  log: Logger
): Promise<{ readonly writes: Writes; readonly connection: Redis; close(): Promise<void> }> {
  const { redisUrl, waitReplicas } = config
  if (waitReplicas === 0) return { writes: unreplicated(redis), connection: redis, close: async () => undefined }
  const connection = await connect(redisUrl, 'commands', log)
  return { writes: createWrites(redis, connection, waitReplicas), connection, close: () => disconnect(connection) }
}
