/** When the consumers of the streams are to be looked at: a look costs a read for each partition. */

/** Also while no worker is missing: one may have died before its first heartbeat was seen (ms). */
const LOOK_EVERY_MS = 8_000

export class ConsumerWatch {
  /** Those that were alive at some time since the last look that found nothing to take over. */
  #known = new Set<string>()
  #living: ReadonlySet<string> = new Set()
  #lookedAtMs = Number.NEGATIVE_INFINITY

  /** Takes the workers that are alive now. */
  saw(living: readonly string[]): void {
    this.#living = new Set(living)
    for (const worker of living) this.#known.add(worker)
  }

  /** A worker went silent or has stopped since the last look, or that is long ago. */
  isLookDue(nowMs: number): boolean {
    const isMissing = [...this.#known].some(worker => !this.#living.has(worker))
    return isMissing || nowMs > this.#lookedAtMs + LOOK_EVERY_MS
  }

  /** All consumers were looked at, and nothing was left of those that are not alive. */
  looked(nowMs: number): void {
    this.#known = new Set(this.#living)
    this.#lookedAtMs = nowMs
  }
}
