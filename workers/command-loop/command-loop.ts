/** Takes commands from the streams, as many as there are free slots, and writes heartbeats. */
import { setMaxListeners } from 'node:events'
import type { StreamEntry } from '../../redis/commands/command-entry.js'
import { ensureGroups, type ReadResult, readCommands } from '../../redis/commands/read-commands.js'
import { removeHeartbeat, writeHeartbeat } from '../../redis/commands/takeover.js'
import { type BlockingReads, createBlockingReads } from '../../redis/connection/blocking-reads.js'
import { readableTogether } from '../../redis/connection/cluster-nodes.js'
import type { Redis } from '../../redis/connection/connections.js'
import { isWrongType } from '../../redis/connection/redis-errors.js'
import { problemOfTurn } from '../../redis/connection/unreachable.js'
import { partitionNumbers } from '../../redis/keys.js'
import { delay } from '../../runtime/delay.js'
import { warnRateLimited } from '../../runtime/log.js'
import { createIntake, type Intake, type IntakeOptions } from './intake.js'
import { LostEntriesSearch } from './lost-entries-search.js'
import { createSlots, type Slots } from './slots.js'

export interface CommandLoopOptions<E extends StreamEntry> extends IntakeOptions<E> {
  /** Does nothing but read the streams. */
  readonly blocking: Redis
  readonly partitions: number
  readonly consumer: string
  readonly concurrency: number
  readonly heartbeatMs: number
  /** Whether this worker reads only what others leave, because it could not carry out a command now. */
  readonly readsLast?: () => boolean
}

export interface CommandLoop {
  /** Sentence that says why no commands are taken, or undefined. Rejects when Redis can't be asked. */
  problem(): Promise<string | undefined>
  /** Stops reading, waits for the running commands, removes the heartbeat. Safe to call twice. */
  stop(): Promise<void>
}

const RETRY_MS = 250
/** The shortest that Redis takes: 0 would be for ever. */
const WITHOUT_WAITING_MS = 1
/** The pause before each read of a worker that reads last: others, which wait in their reads, get nearly all (ms). */
const OTHERS_FIRST_MS = 250
/** Commands that one read takes from a stream, so that a worker with many free slots does not starve the others. */
const READ_MAX = 64

/** Starts at once; the first heartbeat is out before the first command is in. */
export async function startCommandLoop<E extends StreamEntry>(options: CommandLoopOptions<E>): Promise<CommandLoop> {
  const { redis, consumer, work, log } = options
  await ensureGroups(redis, options.partitions, work)
  await writeHeartbeat(redis, consumer, work.heartbeats)
  const stopping = new AbortController()
  // Every command that waits for its payment listens to it.
  setMaxListeners(0, stopping.signal)
  const heart = setInterval(() => {
    writeHeartbeat(redis, consumer, work.heartbeats).catch((error: unknown) =>
      warnRateLimited(log, { err: error }, 'heartbeat failed')
    )
  }, options.heartbeatMs)

  const slots = createSlots(options.concurrency)
  const intake = createIntake(options, slots, stopping.signal)
  const problems = new Map<number, unknown>()
  const search = new LostEntriesSearch(options, intake)
  const reads = createBlockingReads(options.blocking)
  const reading = readableTogether(options.blocking, partitionNumbers(options.partitions)).map((group, index) =>
    readUntil(stopping.signal, { ...options, reads, group }, intake, slots, problem => {
      if (problem === undefined) problems.delete(index)
      else {
        problems.set(index, problem)
        search.readFailed()
      }
    })
  )
  const searching = search.repeatUntil(stopping.signal)

  return {
    problem: async () => {
      const [error] = problems.values()
      return error === undefined ? undefined : problemOfTurn(redis, "commands can't be read", error)
    },
    async stop() {
      stopping.abort()
      await Promise.all([...reading, searching])
      reads.close()
      await slots.allFree()
      await intake.allLeft()
      clearInterval(heart)
      await removeHeartbeat(redis, consumer, work.heartbeats).catch(() => undefined)
    }
  }
}

/** Pauses a worker that reads last. Resolves to how long its read may wait then (ms); undefined: as always. */
async function othersFirst(stopping: AbortSignal, readsLast: (() => boolean) | undefined): Promise<number | undefined> {
  if (readsLast?.() !== true) return undefined
  await delay(OTHERS_FIRST_MS, stopping)
  return WITHOUT_WAITING_MS
}

async function readUntil<E extends StreamEntry>(
  stopping: AbortSignal,
  options: CommandLoopOptions<E> & { readonly reads: BlockingReads; readonly group: readonly number[] },
  intake: Intake<E>,
  slots: Slots,
  report: (problem: unknown) => void
): Promise<void> {
  const { reads, group, consumer, work } = options
  const stream = work.stream(group[0] ?? 0)
  const readFrom = async (partitions: readonly number[], blockMs?: number): Promise<ReadResult<E>> => {
    const count = Math.min(slots.free(), READ_MAX)
    return await reads.read(stream, redis => readCommands(redis, work, consumer, partitions, count, blockMs))
  }
  while (!stopping.aborted) {
    await slots.someFree()
    const blockMs = await othersFirst(stopping, options.readsLast)
    if (stopping.aborted) return
    try {
      const read = await readFrom(group, blockMs)
      report(undefined)
      await intake.take(read)
    } catch (error) {
      report(error)
      warnRateLimited(options.log, { err: error, partitions: group }, 'commands could not be read')
      // A key of another type stands where one stream was: the others must not wait until an operator has mended it.
      for (const partition of isWrongType(error) ? group : []) {
        await slots.someFree()
        // What was read and could not be taken is found by the search for lost commands.
        await readFrom([partition], WITHOUT_WAITING_MS)
          .then(intake.take)
          .catch(() => undefined)
      }
      await delay(RETRY_MS, stopping)
      // A Redis that restarted without its data has no groups, nor has one whose group was destroyed.
      await ensureGroups(options.redis, options.partitions, work).catch(() => undefined)
    }
  }
}
