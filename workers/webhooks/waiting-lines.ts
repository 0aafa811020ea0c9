/** The payments of one merchant whose events wait in Redis, and how many, as far as this process knows: one at least. */

/**
 * Events of one payment that may wait, in Redis as in memory: each one more rewrites its whole line. Bounds memory for
 * a dead endpoint. No real payment reaches 100 events.
 */
export const LINE_LENGTH_MAX = 100

export class WaitingLines {
  readonly #lengths: Map<string, number>

  constructor(payments: readonly string[]) {
    this.#lengths = new Map(payments.map(compact => [compact, 1]))
  }

  get size(): number {
    return this.#lengths.size
  }

  has(compact: string): boolean {
    return this.#lengths.has(compact)
  }

  isFull(compact: string): boolean {
    return this.#lengthOf(compact) >= LINE_LENGTH_MAX
  }

  lengthen(compact: string): void {
    this.#lengths.set(compact, this.#lengthOf(compact) + 1)
  }

  shorten(compact: string): void {
    this.#lengths.set(compact, Math.max(1, this.#lengthOf(compact) - 1))
  }

  /** There is a line, as long as it was. */
  keep(compact: string): void {
    this.#lengths.set(compact, Math.max(1, this.#lengthOf(compact)))
  }

  delete(compact: string): void {
    this.#lengths.delete(compact)
  }

  #lengthOf(compact: string): number {
    return this.#lengths.get(compact) ?? 0
  }
}
