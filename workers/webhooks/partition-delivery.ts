/** The delivery of one partition's events, for as long as this process has the partition: one lane per merchant. */
import { setMaxListeners } from 'node:events'
import type { Lease } from '../../redis/partition-leases.js'
import { type FreshEvent, PartitionLost } from '../../redis/webhook-queue.js'
import { delay } from '../../runtime/delay.js'
import type { DeliveryDeps } from './deps.js'
import { Lane } from './lane.js'

/** A merchant without events is forgotten after this time (ms). */
const IDLE_MAX_MS = 60_000

export class PartitionDelivery {
  readonly #lease: Lease
  readonly #deps: DeliveryDeps
  readonly #onLost: (error: Error) => void
  readonly #stopping = new AbortController()
  readonly #lanes = new Map<string, Promise<Lane>>()
  readonly #opened = new Set<Lane>()

  /** `onLost`: something made it impossible to go on; take the partition anew. */
  constructor(lease: Lease, deps: DeliveryDeps, onLost: (error: Error) => void) {
    this.#lease = lease
    this.#deps = deps
    // Every event under way listens to it.
    setMaxListeners(0, this.#stopping.signal)
    this.#onLost = error => {
      if (!this.#stopping.signal.aborted) onLost(error)
    }
  }

  /**
   * Takes charge of a fresh event; call it in the order of the outbox. Never rejects: when it can't be taken, the
   * partition is given up and read anew, because the outbox is not read a second time for one event.
   */
  async offer({ merchantId, event }: FreshEvent): Promise<void> {
    try {
      const lane = await this.#laneOf(merchantId)
      await lane.hasRoom()
      lane.offer(event)
    } catch (error) {
      this.#onLost(error instanceof Error ? error : new Error(String(error)))
    }
  }

  /** Wakes the merchants that have something due, and forgets idle ones. */
  async poll(): Promise<void> {
    const nowMs = this.#deps.clock.now()
    const merchants = await this.#deps.queue.dueMerchants(this.#lease.partition, nowMs)
    await Promise.all(merchants.map(merchantId => this.#wake(merchantId)))
    for (const [merchantId, opening] of this.#lanes) {
      const lane = await opening
      if (!lane.isForgettable(nowMs - IDLE_MAX_MS)) continue
      this.#lanes.delete(merchantId)
      this.#opened.delete(lane)
    }
  }

  /** Payments that wait, and endpoints that are only probed. */
  figures(): { waiting: number; openCircuits: number } {
    const lanes = [...this.#opened]
    return {
      waiting: lanes.reduce((sum, lane) => sum + lane.waitingCount, 0),
      openCircuits: lanes.filter(lane => lane.isCircuitOpen).length
    }
  }

  /** Sends nothing new, lets what is under way end within `patienceMs`, then cuts it. */
  async drain(patienceMs: number): Promise<void> {
    const ended = Promise.all([...this.#opened].map(lane => lane.drain()))
    await Promise.race([ended, delay(patienceMs, this.#stopping.signal)])
    this.abort()
  }

  /** Ends at once; nothing is written any more. */
  abort(): void {
    this.#stopping.abort()
  }

  /** Who hears here that the partition is another's must not send what comes next: it would overtake what waits. */
  async #wake(merchantId: string): Promise<void> {
    try {
      await (await this.#laneOf(merchantId)).wake()
    } catch (error) {
      if (!(error instanceof PartitionLost)) throw error
      this.#onLost(error)
    }
  }

  #laneOf(merchantId: string): Promise<Lane> {
    const known = this.#lanes.get(merchantId)
    if (known !== undefined) return known
    const opening = this.#open(merchantId)
    this.#lanes.set(merchantId, opening)
    // A failed lane is not kept: the next caller opens a new one.
    opening.catch(() => this.#lanes.delete(merchantId))
    return opening
  }

  async #open(merchantId: string): Promise<Lane> {
    const waiting = await this.#deps.queue.waitingPayments(this.#lease.partition, merchantId)
    const options = { lease: this.#lease, merchantId, stopping: this.#stopping.signal, onLost: this.#onLost }
    const lane = new Lane(this.#deps, options, waiting)
    this.#opened.add(lane)
    return lane
  }
}
