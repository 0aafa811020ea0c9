/**
 * Compares the durable data with what is remembered of it, before money moves: on each connection before its first write, and
 * every two seconds (decision 31). `payments` also writes the verdict down; `api` waits until it has.
 */
import type { Redis as Single } from 'ioredis'
import type { Environment } from '../../machines/model.js'
import { delay } from '../../runtime/delay.js'
import { type Logger, warnRateLimited } from '../../runtime/log.js'
import { readableTogether, watchConnections } from '../connection/cluster-nodes.js'
import type { Redis } from '../connection/connections.js'
import { readClockOffset, serverTimeMs } from '../connection/redis-clock.js'
import { MoneyWaits, RedisUnavailable } from '../connection/redis-errors.js'
import type { Writes } from '../connection/writes.js'
import { keys, partitionNumbers, partitionOfKey } from '../keys.js'
import {
  afterLook,
  countedOf,
  isCurrent,
  type Look,
  laterOf,
  lossIn,
  type Memory,
  type Missing,
  type Seen,
  type Vouch
} from './epochs.js'
import {
  lastCommandMs,
  type PartitionData,
  readPartitions,
  serverIdOf,
  serverOf,
  writeVouch
} from './partition-data.js'
import type { SeenFile } from './seen-file.js'

/** How often the data is compared (ms). */
const LOOK_EVERY_MS = 2_000
/** The same while requests wait for it (ms). */
const LOOK_AGAIN_MS = 100

export interface VouchingOptions {
  /** Over the connection that money uses, and nothing else decides about. */
  readonly writes: Writes
  /** That connection. */
  readonly connection: Redis
  readonly partitions: number
  readonly environment: Environment
  /** Whether this process writes verdicts down: it may mark what waits. */
  readonly mayDecide: boolean
  readonly file: Pick<SeenFile, 'readAll' | 'write'>
  /** What other processes remember, when given what this one does; null while the memory-only Redis is away. */
  readonly exchange: (own: Seen) => Promise<Seen | null>
  readonly log: Logger
}

/** What the last look found. */
interface View {
  readonly vouch: Vouch | null
  readonly missing: Missing | null
  /** The connection whose data was compared, and is fit for money; null: it is not. */
  readonly provenOn: Single['stream'] | null
}

type Witnesses = readonly Seen[]

/** What was read of a partition, from which server, over which connection. */
interface Read {
  readonly partition: number
  readonly server: Single
  readonly stream: Single['stream']
  readonly serverId: string
  readonly data: PartitionData
}

export class Vouching {
  readonly #options: VouchingOptions
  readonly #views = new Map<number, View>()
  /** What this process knows to be acknowledged. */
  readonly #own = new Map<number, Memory>()
  #watchedMs = 0
  /** When all partitions were proven last, by `performance.now()`. */
  #provenMs = performance.now()
  #pause = new AbortController()
  readonly #stopping = new AbortController()
  #running: Promise<void> = Promise.resolve()

  constructor(options: VouchingOptions) {
    this.#options = options
  }

  /** Resolves after the first comparison, also when it failed. Then it is repeated until `stop`. */
  async start(): Promise<void> {
    const { connection } = this.#options
    watchConnections(
      connection,
      () => void this.#exchange(),
      () => this.#pause.abort()
    )
    await this.#look()
    this.#running = this.#repeat()
  }

  async stop(): Promise<void> {
    this.#stopping.abort()
    await this.#running
  }

  /** The writes of the process: those about a partition are rejected while its data is not proven. */
  guarded(): Writes {
    const { writes } = this.#options
    return {
      ...writes,
      run: async (key, work) => {
        this.#assertProven(key)
        return await writes.run(key, work)
      },
      saw: (partition, counter) => {
        const newest = this.#views.get(partition)?.vouch?.epochs.at(-1)
        const counted = countedOf(counter)
        if (counted.epoch < (this.#own.get(partition)?.epoch ?? 0)) this.#refuse(partition)
        // Of an epoch that began since the last look, the next one knows the server.
        if (counted.epoch === newest?.number) this.#remember(partition, { ...counted, serverId: newest.serverId })
      }
    }
  }

  /** What is missing in each partition whose data went back. */
  missing(): readonly Missing[] {
    return [...this.#views.values()].flatMap(({ missing }) => missing ?? [])
  }

  /** The partitions whose open payments are being compared. */
  unvouched(): readonly number[] {
    return [...this.#views].flatMap(([partition, { vouch }]) => (vouch?.standing === 'unvouched' ? [partition] : []))
  }

  /** How many partitions wait to be compared, also because the connection of the last comparison was lost. */
  unproven(): number {
    const proven = [...this.#views.values()].filter(({ provenOn }) => provenOn !== null && !provenOn.destroyed)
    return this.#options.partitions - proven.length
  }

  /** For how long some have waited (ms); 0: none does. */
  waitedMs(): number {
    return this.unproven() === 0 ? 0 : performance.now() - this.#provenMs
  }

  /** Payments last changed before this may be older than what was done (ms); 0: none. */
  unvouchedBeforeMs(partition: number): number {
    return this.#views.get(partition)?.vouch?.unvouchedBeforeMs ?? 0
  }

  /** A server that was emptied, or got the data of another database, counts from the beginning: known before the next look. */
  #refuse(partition: number): never {
    const view = this.#views.get(partition)
    if (view !== undefined) this.#views.set(partition, { ...view, provenOn: null })
    this.#pause.abort()
    throw new MoneyWaits('The data of the durable Redis is not that of a moment ago; money waits.')
  }

  #assertProven(key: string): void {
    const partition = partitionOfKey(key)
    if (partition === undefined) return
    const view = this.#views.get(partition)
    if (view?.missing) throw new MoneyWaits('The data of the durable Redis went back; money waits for an operator.')
    if (!this.#isProven(partition)) {
      throw new RedisUnavailable('The data of the durable Redis is not compared yet with what is remembered of it.')
    }
  }

  #isProven(partition: number): boolean {
    const stream = this.#views.get(partition)?.provenOn
    return stream !== undefined && stream !== null && serverOf(this.#options.connection, partition).stream === stream
  }

  /** Throws while something of a partition may be missing: what is not found in it may exist. */
  assertWhole(partition: number): void {
    if (this.#isProven(partition)) return
    throw new RedisUnavailable('The data of the durable Redis may lack what was asked for.')
  }

  #remember(partition: number, memory: Memory): void {
    this.#own.set(partition, laterOf(this.#own.get(partition), memory))
  }

  async #repeat(): Promise<void> {
    const { signal } = this.#stopping
    signal.addEventListener('abort', () => this.#pause.abort())
    while (!signal.aborted) {
      const isSoon = this.unproven() > 0 && this.missing().length === 0
      await delay(isSoon ? LOOK_AGAIN_MS : LOOK_EVERY_MS, this.#pause.signal)
      // A connection that comes back from here on is looked at once more.
      this.#pause = new AbortController()
      if (!signal.aborted) await this.#look()
    }
  }

  async #look(): Promise<void> {
    const { log, connection, partitions } = this.#options
    try {
      // First what is remembered, then the data: nothing that is acknowledged in between can seem to be missing.
      const witnesses = await this.#witnesses()
      const atMs = await serverTimeMs(serverOf(connection, 0))
      const ids = new Map<Single, Promise<string>>()
      const groups = readableTogether(connection, partitionNumbers(partitions))
      const looks = groups.map(group => this.#lookAt(group, witnesses, ids))
      const failed = (await Promise.allSettled(looks)).find(({ status }) => status === 'rejected')
      this.#watchedMs = atMs
      if (this.unproven() === 0) this.#provenMs = performance.now()
      if (failed?.status === 'rejected') throw failed.reason
      this.#options.file.write(this.#seen())
    } catch (error) {
      warnRateLimited(log, { err: error }, 'the data could not be compared with what is remembered of it')
    }
  }

  /** The memory of this process first. Files of the host are read as long as something is not proven. */
  async #witnesses(): Promise<Witnesses> {
    const own = this.#seen()
    const shared = await this.#exchange()
    const files = this.unproven() > 0 ? await this.#options.file.readAll() : []
    return [own, ...(shared === null ? [] : [shared]), ...files]
  }

  #exchange(): Promise<Seen | null> {
    return this.#options.exchange(this.#seen()).catch(() => null)
  }

  #seen(): Seen {
    return { atMs: this.#watchedMs, memories: new Map(this.#own) }
  }

  async #lookAt(partitions: readonly number[], witnesses: Witnesses, ids: Map<Single, Promise<string>>): Promise<void> {
    const { writes, connection } = this.#options
    const first = partitions[0] ?? 0
    const server = serverOf(connection, first)
    const { stream } = server
    const id = ids.get(server) ?? serverIdOf(server)
    ids.set(server, id)
    // What is read is confirmed by the replicas that writes wait for: a failover can't take it back. A lost connection fails
    // both, and a failure that is not awaited ends the process.
    const reading = writes.run(keys.vouch(first), () => readPartitions(server, partitions))
    const [serverId, read] = await Promise.all([id, reading])
    const compared = read.map(async (data, index) => {
      const partition = partitions[index] ?? 0
      const isAgain = await this.#compare({ partition, server, stream, serverId, data }, witnesses)
      if (isAgain) await this.#lookAt([partition], witnesses, ids)
    })
    const failed = (await Promise.allSettled(compared)).find(({ status }) => status === 'rejected')
    if (failed?.status === 'rejected') throw failed.reason
  }

  /** True when the partition is to be looked at again: its verdict was written down. */
  async #compare({ partition, server, stream, serverId, data }: Read, witnesses: Witnesses): Promise<boolean> {
    const seen = witnesses.flatMap(({ atMs, memories }) => {
      const memory = memories.get(partition)
      return memory === undefined ? [] : [{ atMs, memory }]
    })
    const look: Look = { vouch: data.vouch, count: data.count, serverId, seen }
    const loss = lossIn(look)
    const isUndecided = loss !== null || !isCurrent(look)
    if (this.#options.mayDecide && isUndecided && (await this.#decide(partition, server, data, look))) return true
    const missing = data.vouch?.missing ?? (loss === null ? null : { ...loss, fromMs: 0 })
    // What no process has vouched for yet has nothing to be compared with.
    const isProven = missing === null && (data.vouch === null || isCurrent(look)) && server.stream === stream
    this.#views.set(partition, { vouch: data.vouch, missing, provenOn: isProven ? stream : null })
    const epoch = data.vouch?.epochs.at(-1)
    if (isProven && epoch !== undefined) {
      this.#remember(partition, { epoch: epoch.number, serverId: epoch.serverId, count: data.count })
    }
    return false
  }

  /** Writes a verdict down. True when the partition is to be looked at again: it has changed, here or by another process. */
  async #decide(partition: number, server: Single, data: PartitionData, look: Look): Promise<boolean> {
    const { writes, connection, environment, log } = this.#options
    const nowMs = (await readClockOffset(connection, environment)) + (await serverTimeMs(server))
    const after = afterLook(look, { lastCommandMs: await lastCommandMs(server, partition), nowMs })
    if (after === null) return false
    const { vouch, isMarked } = after
    await writes.run(keys.vouch(partition), () => writeVouch(server, partition, data, vouch, isMarked ? nowMs : null))
    if (vouch.missing !== null) log.error({ partition, ...vouch.missing }, 'the durable data went back, money waits')
    else if (isMarked) log.warn({ partition }, 'nothing vouches for the durable data, open payments are compared')
    return true
  }
}
