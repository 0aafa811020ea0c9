/**
 * Writes down what became of one merchant's events: in order, one script at a time, with all that came together while
 * the script before was running.
 */
import { isRedisUnavailable } from '../../redis/errors.js'
import { type Move, PartitionLost } from '../../redis/webhook-queue.js'
import { delay } from '../../runtime/delay.js'
import { type Logger, warnRateLimited } from '../../runtime/log.js'

const BATCH_MAX = 200
const RETRY_MS = 100

interface Entry {
  readonly move: Move
  readonly done: (hasLine: boolean) => void
  readonly failed: (error: Error) => void
}

export class Settlements {
  readonly #settle: (moves: readonly Move[]) => Promise<boolean[]>
  readonly #log: Logger
  readonly #stopping: AbortSignal
  readonly #entries: Entry[] = []
  readonly #pending = new Map<string, number>()
  #flushing: Promise<void> | null = null
  /**
   * Why nothing is written any more. What was not written is still where it was. A later event that is put off now
   * would overtake it, because Redis may accept the second write after it refused the first.
   */
  #lost: Error | null = null

  /** `settle` is safe to repeat. After `stopping` nothing is written any more. */
  constructor(settle: (moves: readonly Move[]) => Promise<boolean[]>, stopping: AbortSignal, log: Logger) {
    this.#settle = settle
    this.#stopping = stopping
    this.#log = log
  }

  /** Resolves when it is written: does the payment have a waiting line now? Rejects with `PartitionLost`. */
  add(move: Move): Promise<boolean> {
    const { compact } = move.before
    this.#pending.set(compact, (this.#pending.get(compact) ?? 0) + 1)
    const settled = new Promise<boolean>((done, failed) => this.#entries.push({ move, done, failed }))
    this.#flushing ??= this.#flush()
    return settled
  }

  /** Whether something of this payment is still to be written. */
  has(compact: string): boolean {
    return this.#pending.has(compact)
  }

  /** How much is still to be written. */
  get size(): number {
    return this.#entries.length
  }

  get isIdle(): boolean {
    return this.#flushing === null
  }

  /** Resolves when nothing is left to be written. */
  async idle(): Promise<void> {
    while (this.#flushing !== null) await this.#flushing
  }

  async #flush(): Promise<void> {
    // What ends in the same turn of the event loop is written together.
    await new Promise(resolve => setImmediate(resolve))
    while (this.#entries.length > 0) {
      const batch = this.#entries.splice(0, BATCH_MAX)
      const answer = this.#lost ?? (await this.#write(batch.map(entry => entry.move)))
      if (answer instanceof Error) this.#lost = answer
      for (const { move } of batch) this.#forget(move.before.compact)
      // Of several moves of one payment, the last one tells how its line stands.
      const lines = new Map(batch.map(({ move }, index) => [move.before.compact, isTrueAt(answer, index)]))
      for (const { move, done, failed } of batch) {
        if (answer instanceof Error) failed(answer)
        else done(lines.get(move.before.compact) ?? false)
      }
    }
    // In the same turn as the last look at the entries: an entry added after it starts a new flush.
    this.#flushing = null
  }

  async #write(moves: readonly Move[]): Promise<boolean[] | Error> {
    while (!this.#stopping.aborted) {
      try {
        return await this.#settle(moves)
      } catch (error) {
        if (error instanceof PartitionLost) return error
        warnRateLimited(
          this.#log,
          { err: error, moves: moves.length },
          'webhook results could not be written, trying again'
        )
        // Nothing is lost: the events are where they were, and the next owner of the partition delivers them again.
        if (!isRedisUnavailable(error)) return new PartitionLost('The results were not written.', { cause: error })
        await delay(RETRY_MS, this.#stopping)
      }
    }
    return new PartitionLost('The partition is given up.')
  }

  #forget(compact: string): void {
    const left = (this.#pending.get(compact) ?? 1) - 1
    if (left === 0) this.#pending.delete(compact)
    else this.#pending.set(compact, left)
  }
}

function isTrueAt(answer: boolean[] | Error, index: number): boolean {
  return Array.isArray(answer) && answer[index] === true
}
