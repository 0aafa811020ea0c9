/**
 * Which partitions this process delivers: its share of all of them, by leases.
 *
 * Each process says regularly that it is alive; all of them agree on the order of the living, and the partition p
 * belongs to the living number p mod n. A lease keeps two from delivering one partition while they don't agree yet.
 */
import { reasonOf } from '../../redis/errors.js'
import { partitionNumbers } from '../../redis/keys.js'
import type { Lease, PartitionLeases } from '../../redis/partition-leases.js'
import { delay } from '../../runtime/delay.js'
import { type Logger, warnRateLimited } from '../../runtime/log.js'

/** What has a partition while this process has it. */
export interface Holding {
  /** Ends in order within `patienceMs`. */
  drain(patienceMs: number): Promise<void>
  /** Ends at once: the partition may be another's already. */
  abort(): void
}

export interface OwnershipOptions<T extends Holding> {
  readonly leases: PartitionLeases
  readonly owner: string
  readonly partitions: number
  readonly heartbeatMs: number
  /** Life of a lease. */
  readonly leaseMs: number
  readonly patienceMs: number
  readonly open: (lease: Lease, onLost: (error: Error) => void) => T
  readonly onClosed: (partition: number) => void
  readonly log: Logger
}

interface Held<T> {
  readonly lease: Lease
  readonly holding: T
}

export class Ownership<T extends Holding> {
  readonly #options: OwnershipOptions<T>
  readonly #held = new Map<number, Held<T>>()
  readonly #draining = new Set<number>()
  readonly #stopping = new AbortController()
  #confirmedMs = performance.now()
  #running: Promise<void> = Promise.resolve()
  #problem: string | undefined

  constructor(options: OwnershipOptions<T>) {
    this.#options = options
  }

  get(partition: number): T | undefined {
    return this.#draining.has(partition) ? undefined : this.#held.get(partition)?.holding
  }

  get partitions(): readonly number[] {
    return [...this.#held.keys()].filter(partition => !this.#draining.has(partition))
  }

  /** Sentence that says why the share is not confirmed, or undefined. */
  problem(): string | undefined {
    return this.#problem
  }

  /** Takes the first share before it resolves. */
  async start(): Promise<void> {
    await this.#attend()
    this.#running = this.#attendForEver()
  }

  /** Ends everything within the patience, and lets the others know. */
  async stop(): Promise<void> {
    this.#stopping.abort()
    await this.#running
    await Promise.all([...this.#held.values()].map(held => this.#close(held)))
    await this.#options.leases.leave().catch(() => undefined)
  }

  async #attendForEver(): Promise<void> {
    const { heartbeatMs, leaseMs, log } = this.#options
    while (!this.#stopping.signal.aborted) {
      await delay(heartbeatMs, this.#stopping.signal)
      if (this.#stopping.signal.aborted) return
      try {
        await this.#attend()
        this.#problem = undefined
      } catch (error) {
        this.#problem = `the partitions can't be confirmed: ${reasonOf(error)}`
        warnRateLimited(log, { err: error }, 'the leases of the partitions were not renewed')
        if (performance.now() - this.#confirmedMs > leaseMs) this.#loseAll()
      }
    }
  }

  async #attend(): Promise<void> {
    const { leases, owner, partitions, log } = this.#options
    const startedMs = performance.now()
    const living = await leases.attend()
    const share = (partition: number): boolean => living[partition % living.length] === owner
    const taken: number[] = []
    const lost: number[] = []
    const ends = await Promise.allSettled(
      partitionNumbers(partitions).map(async partition => {
        const held = this.#held.get(partition)
        if (held === undefined) {
          const lease = share(partition) ? await leases.take(partition) : null
          if (lease === null) return
          this.#open(lease)
          taken.push(partition)
          return
        }
        const isKept = await leases.keep(held.lease)
        // What was lost while the lease was asked for is taken anew in the next round.
        if (this.#held.get(partition) !== held) return
        if (!isKept) {
          this.#lose(partition)
          lost.push(partition)
        } else if (!share(partition) && !this.#draining.has(partition)) void this.#close(held)
      })
    )
    if (taken.length > 0) log.info({ partitions: taken }, 'partitions of webhooks are taken')
    this.#tellLost(lost, new Error('the leases have run out, or another process has them'))
    for (const end of ends) if (end.status === 'rejected') throw end.reason
    this.#confirmedMs = startedMs
  }

  #open(lease: Lease): void {
    const { partition } = lease
    const holding = this.#options.open(lease, error => {
      if (this.#held.get(partition) !== held) return
      this.#lose(partition)
      this.#tellLost([partition], error)
    })
    const held = { lease, holding }
    this.#held.set(partition, held)
  }

  async #close(held: Held<T>): Promise<void> {
    const { partition } = held.lease
    this.#draining.add(partition)
    await held.holding.drain(this.#options.patienceMs)
    if (this.#held.get(partition) !== held) return
    this.#forget(partition)
    // A lease that can't be given back runs out by itself.
    await this.#options.leases.release(held.lease).catch(() => undefined)
  }

  #loseAll(): void {
    const lost = [...this.#held.keys()]
    for (const partition of lost) this.#lose(partition)
    this.#tellLost(lost, new Error('the leases could not be renewed'))
  }

  #lose(partition: number): void {
    this.#held.get(partition)?.holding.abort()
    this.#forget(partition)
  }

  /** In one line: one trouble takes all of them at once. */
  #tellLost(partitions: readonly number[], error: Error): void {
    if (partitions.length === 0) return
    this.#options.log.warn({ err: error, partitions }, 'partitions of webhooks are given up until they are taken anew')
  }

  #forget(partition: number): void {
    this.#held.delete(partition)
    this.#draining.delete(partition)
    this.#options.onClosed(partition)
  }
}
