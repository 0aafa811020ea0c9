/** Finds entries that Redis delivered while the connection broke: no other worker takes them over while this one lives. */
import type { StreamEntry } from '../../redis/commands/command-entry.js'
import { lostCommands } from '../../redis/commands/read-commands.js'
import { partitionNumbers } from '../../redis/keys.js'
import { delay } from '../../runtime/delay.js'
import { warnRateLimited } from '../../runtime/log.js'
import type { Intake, IntakeOptions } from './intake.js'

/** The pause between a failed read and the search (ms). */
const AFTER_FAILURE_MS = 3_000
/** The pause while no read fails: a search costs a read per partition (ms). */
const INTERVAL_MS = 30_000
/** Searches after a failed read: Redis may still be working on what the broken connection sent. */
const SEARCHES_AFTER_FAILURE = 2

interface SearchOptions<E extends StreamEntry> extends IntakeOptions<E> {
  readonly partitions: number
  readonly consumer: string
}

export class LostEntriesSearch<E extends StreamEntry> {
  readonly #options: SearchOptions<E>
  readonly #intake: Intake<E>
  #searchesLeft = 0

  constructor(options: SearchOptions<E>, intake: Intake<E>) {
    this.#options = options
    this.#intake = intake
  }

  /** What was delivered with its answer may be lost. */
  readFailed(): void {
    this.#searchesLeft = SEARCHES_AFTER_FAILURE
  }

  /** Ends when `stopping` aborts. */
  async repeatUntil(stopping: AbortSignal): Promise<void> {
    let lookedAtMs = performance.now()
    for (await delay(AFTER_FAILURE_MS, stopping); !stopping.aborted; await delay(AFTER_FAILURE_MS, stopping)) {
      if (this.#searchesLeft === 0 && performance.now() - lookedAtMs < INTERVAL_MS) continue
      lookedAtMs = performance.now()
      this.#searchesLeft = Math.max(0, this.#searchesLeft - 1)
      await this.#look()
    }
  }

  async #look(): Promise<void> {
    const { partitions, log } = this.#options
    const looks = partitionNumbers(partitions).map(partition => this.#lookIn(partition))
    for (const look of await Promise.allSettled(looks)) {
      if (look.status === 'fulfilled') continue
      this.readFailed()
      warnRateLimited(log, { err: look.reason }, 'lost commands could not be looked for')
    }
  }

  async #lookIn(partition: number): Promise<void> {
    const { redis, work, consumer } = this.#options
    const isKnown = (entryId: string): boolean => this.#intake.isKnown(partition, entryId)
    await this.#intake.takeLost(await lostCommands(redis, work, consumer, partition, isKnown))
  }
}
