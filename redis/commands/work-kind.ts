/**
 * The kinds of work that have command streams: one stream per partition and kind, one consumer group; any worker with a free
 * slot gets the next entry. `payments` has its kind here, `webhooks` in redis/webhooks/webhook-queue.ts.
 *
 * An entry leaves its stream only in the script that stores its result. Until then it belongs to the worker that read
 * it; a worker that is silent for too long loses its entries to the others (takeover.ts).
 */
import type { Redis } from '../connection/connections.js'
import { keys, PAYMENTS_GROUP } from '../keys.js'
import { defineNamedScript } from '../scripts.js'
import { type CommandEntry, decodeEntry, encodeEntry, ownerOf, type StreamEntry } from './command-entry.js'

const releaseScript = defineNamedScript<{
  keys: 'commands' | 'begun'
  given: ReturnType<typeof ownerOf> & { fields: readonly string[]; member: string; delivery: string | undefined }
}>('release_command')

/** A kind of work: where its commands are, who takes them, and how they are read. */
export interface WorkKind<E extends StreamEntry> {
  /** Name of the consumer group. */
  readonly group: string
  /** Key of the heartbeats of its workers. */
  readonly heartbeats: string
  /** Key of the stream of a partition. */
  stream(partition: number): string
  /** Throws `WrittenByOtherVersion` for what is left to a worker of that version; for any other error it is a dead letter. */
  decode(entry: StreamEntry): E
  /** The fields of a command that was begun in vain. */
  encodeRedelivered(entry: E): string[]
  /** Whether a worker that died may have begun it. */
  isBegun(redis: Redis, entry: E): Promise<boolean>
  /** Gives a command back for which this worker has sent nothing. */
  release(redis: Redis, entry: E): Promise<void>
}

/** What `payments` does. */
export const paymentWork: WorkKind<CommandEntry> = {
  group: PAYMENTS_GROUP,
  heartbeats: keys.heartbeats(),
  stream: keys.commands,
  decode: decodeEntry,
  encodeRedelivered: entry => encodeEntry({ ...entry, deliveryCount: entry.deliveryCount + 1 }),
  isBegun: async (redis, { command, partition, paymentKey }) =>
    command.kind !== 'create' || (await redis.hget(keys.begun(partition), paymentKey)) !== null,
  /** What this delivery has begun is taken back, too. */
  async release(redis, entry) {
    const { partition, fields, paymentKey, delivery } = entry
    const named = { commands: keys.commands(partition), begun: keys.begun(partition) }
    const owner = ownerOf(PAYMENTS_GROUP, entry)
    await releaseScript(redis, named, { ...owner, fields, member: paymentKey, delivery: delivery ?? undefined })
  }
}
