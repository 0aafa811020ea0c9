/** Takes commands from the streams, as many as there are free slots, and keeps saying that it is alive. */
import { setMaxListeners } from 'node:events'
import { type BlockingReads, createBlockingReads } from '../../redis/blocking-reads.js'
import type { CommandEntry } from '../../redis/command-entry.js'
import { buryEntry, ensureGroups, lostCommands, type ReadResult, readCommands } from '../../redis/command-stream.js'
import type { Redis } from '../../redis/connections.js'
import { reasonOf } from '../../redis/errors.js'
import { keys, partitionNumbers } from '../../redis/keys.js'
import { removeHeartbeat, writeHeartbeat } from '../../redis/takeover.js'
import { delay } from '../../runtime/delay.js'
import { type Logger, warnRateLimited } from '../../runtime/log.js'

/**
 * What became of a command that was handled. `left`: nothing was done, it will be handed out again as new. `ended`: any
 * other end, to be given back included; if this entry comes again, it may have been sent.
 */
export type HandlingOutcome = 'ended' | 'left'

export interface CommandLoopOptions {
  /** Does nothing but read the streams. */
  readonly blocking: Redis
  readonly redis: Redis
  readonly partitions: number
  readonly consumer: string
  readonly concurrency: number
  readonly heartbeatMs: number
  readonly handle: (entry: CommandEntry, stopping: AbortSignal) => Promise<HandlingOutcome>
  readonly log: Logger
}

export interface CommandLoop {
  /** Sentence that says why no commands are taken, or undefined. */
  problem(): string | undefined
  /** Reads no more, waits for the running commands, removes the heartbeat. Safe to call twice. */
  stop(): Promise<void>
}

const RETRY_MS = 250
/** Commands that one read takes from a stream: a worker with many free slots must not starve the others. */
const READ_MAX = 64
/** Commands that a worker remembers after their end: those of many seconds, longer than a failover takes. */
const ENDED_MAX = 20_000
/** How often a worker looks for entries that were handed to it and never arrived (ms). */
const LOST_INTERVAL_MS = 1_000

/** Starts at once; the first heartbeat is out before the first command is in. */
export async function startCommandLoop(options: CommandLoopOptions): Promise<CommandLoop> {
  const { redis, consumer, log } = options
  await ensureGroups(redis, options.partitions)
  await writeHeartbeat(redis, consumer)
  const stopping = new AbortController()
  // Every command that waits for its payment listens to it.
  setMaxListeners(0, stopping.signal)
  const heart = setInterval(() => {
    writeHeartbeat(redis, consumer).catch((error: unknown) => warnRateLimited(log, { err: error }, 'heartbeat failed'))
  }, options.heartbeatMs)

  const slots = createSlots(options.concurrency)
  const intake = createIntake(options, slots, stopping.signal)
  const problems = new Map<number, string>()
  const reads = createBlockingReads(options.blocking)
  const reading = reads.groups(partitionNumbers(options.partitions)).map((group, index) =>
    readUntil(stopping.signal, { ...options, reads, group }, intake, slots, problem => {
      if (problem === undefined) problems.delete(index)
      else problems.set(index, problem)
    })
  )
  const searching = searchUntil(stopping.signal, options, intake)

  return {
    problem: () => [...problems.values()][0],
    async stop() {
      stopping.abort()
      await Promise.all([...reading, searching])
      reads.close()
      await slots.allFree()
      clearInterval(heart)
      await removeHeartbeat(redis, consumer).catch(() => undefined)
    }
  }
}

async function readUntil(
  stopping: AbortSignal,
  options: CommandLoopOptions & { readonly reads: BlockingReads; readonly group: readonly number[] },
  intake: Intake,
  slots: Slots,
  report: (problem: string | undefined) => void
): Promise<void> {
  const { reads, group, consumer } = options
  const stream = keys.commands(group[0] ?? 0)
  let isReported = false
  while (!stopping.aborted) {
    await slots.someFree()
    try {
      const count = Math.min(slots.free(), READ_MAX)
      const read = await reads.read(stream, redis => readCommands(redis, consumer, group, count))
      report(undefined)
      isReported = false
      await intake.take(read)
    } catch (error) {
      report(`commands can't be read: ${reasonOf(error)}`)
      // Said once: a master may be away for a while, and every stream of it says so.
      if (!isReported) options.log.warn({ err: error, partitions: group }, 'commands could not be read')
      isReported = true
      await delay(RETRY_MS, stopping)
      // A Redis that came back without its data has no groups either.
      await ensureGroups(options.redis, options.partitions).catch(() => undefined)
    }
  }
}

/** Takes what was handed out while the connection broke, and would wait for this worker's death otherwise. */
async function searchUntil(stopping: AbortSignal, options: CommandLoopOptions, intake: Intake): Promise<void> {
  while (!stopping.aborted) {
    await delay(LOST_INTERVAL_MS, stopping)
    for (let partition = 0; partition < options.partitions && !stopping.aborted; partition++) {
      try {
        const isKnown = (entryId: string): boolean => intake.isKnown(partition, entryId)
        await intake.takeLost(await lostCommands(options.redis, options.consumer, partition, isKnown))
      } catch (error) {
        warnRateLimited(options.log, { err: error }, 'lost commands could not be looked for')
        break
      }
    }
  }
}

/** Every entry is handled once, whichever way it came. */
interface Intake {
  take(read: ReadResult): Promise<void>
  takeLost(read: ReadResult): Promise<void>
  isKnown(partition: number, entryId: string): boolean
}

function createIntake(options: CommandLoopOptions, slots: Slots, stopping: AbortSignal): Intake {
  const running = new Set<string>()
  // The answer that was believed lost may come after all, when the entry has ended long since.
  const found = new Set<string>()
  const ended = createMemory(ENDED_MAX)
  const nameOf = (partition: number, entryId: string): string => `${partition} ${entryId}`
  const isKnown = (partition: number, entryId: string): boolean => {
    const name = nameOf(partition, entryId)
    return running.has(name) || found.has(name)
  }
  const handle = (entry: CommandEntry): void => {
    const name = nameOf(entry.partition, entry.entryId)
    running.add(name)
    // A master that fails over without its last writes hands out again what was ended here: that is to be asked about.
    const known = ended.has(name) ? { ...entry, handedOut: Math.max(entry.handedOut, 1) } : entry
    slots.run(async () => {
      const outcome = await options.handle(known, stopping).finally(() => running.delete(name))
      if (outcome === 'ended') ended.add(name)
    })
  }
  const take = async ({ entries, unreadable }: ReadResult): Promise<void> => {
    for (const entry of entries) if (!isKnown(entry.partition, entry.entryId)) handle(entry)
    for (const entry of unreadable) {
      const { partition, entryId, reason } = entry
      options.log.error(
        { partition, entry_id: entryId, reason },
        'an unreadable command is buried: see dead-letter list'
      )
      await buryEntry(options.redis, entry, Date.now())
    }
  }
  return {
    isKnown,
    take,
    takeLost: async read => {
      const entries = read.entries.filter(entry => !isKnown(entry.partition, entry.entryId))
      if (entries.length > 0) options.log.warn({ entries: entries.length }, 'commands had got lost on their way here')
      const taking = take({ ...read, entries })
      for (const entry of entries) found.add(nameOf(entry.partition, entry.entryId))
      await taking
    }
  }
}

/** The last names of many. */
function createMemory(size: number): { has(name: string): boolean; add(name: string): void } {
  const names = new Set<string>()
  return {
    has: name => names.has(name),
    add: name => {
      names.add(name)
      if (names.size <= size) return
      const [oldest = name] = names
      names.delete(oldest)
    }
  }
}

interface Slots {
  free(): number
  run(work: () => Promise<void>): void
  someFree(): Promise<void>
  allFree(): Promise<void>
}

function createSlots(size: number): Slots {
  let used = 0
  const waiting: { until: () => boolean; resolve: () => void }[] = []
  const wake = (): void => {
    for (let i = waiting.length - 1; i >= 0; i--) {
      const waiter = waiting[i]
      if (waiter?.until()) {
        waiting.splice(i, 1)
        waiter.resolve()
      }
    }
  }
  const when = (until: () => boolean): Promise<void> =>
    until() ? Promise.resolve() : new Promise(resolve => waiting.push({ until, resolve }))
  return {
    free: () => Math.max(size - used, 1),
    run: work => {
      used++
      void work().finally(() => {
        used--
        wake()
      })
    },
    someFree: () => when(() => used < size),
    allFree: () => when(() => used === 0)
  }
}
