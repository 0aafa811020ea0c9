/**
 * Many tests share one service and do what concerns all of it together: when each of them has come to such a point, the
 * one with the lowest order happens, once for all that wait for it.
 */
export interface Round {
  /** Rounds of the same order are one. */
  readonly order: number
  readonly act: () => Promise<void>
}

interface Waiting {
  readonly round: Round
  readonly resolve: () => void
  readonly reject: (reason: unknown) => void
}

export class Rounds {
  #running = 0
  #waiting: Waiting[] = []

  /** Runs all at the same time; resolves to what went wrong with each, or null. */
  async run(works: readonly (() => Promise<void>)[]): Promise<(Error | null)[]> {
    this.#running = works.length
    return await Promise.all(
      works.map(async work => {
        try {
          await work()
          return null
        } catch (error) {
          return error instanceof Error ? error : new Error(String(error))
        } finally {
          this.#running--
          this.#actWhenAllWait()
        }
      })
    )
  }

  /** Waits until it is the turn of this round, and has happened. */
  join(round: Round): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ round, resolve, reject })
      this.#actWhenAllWait()
    })
  }

  #actWhenAllWait(): void {
    const order = Math.min(...this.#waiting.map(({ round }) => round.order))
    const now = this.#waiting.filter(({ round }) => round.order === order)
    const [first] = now
    if (first === undefined || this.#waiting.length < this.#running) return
    this.#waiting = this.#waiting.filter(waiting => !now.includes(waiting))
    first.round.act().then(
      () => {
        for (const { resolve } of now) resolve()
      },
      (error: unknown) => {
        for (const { reject } of now) reject(error)
      }
    )
  }
}
