/**
 * How much may be under way to one endpoint: more after each success, half after each failure, and after a row of
 * failures nothing but one probe now and then. So a dead endpoint costs one request per pause, however much it has
 * waiting, and a slow one never holds more than its window.
 */

/** Failures in a row, without a success between them, that open the circuit. */
const FAILURES_MAX = 5
const WINDOW_START = 16
const PAUSE_MIN_MS = 1_000
const PAUSE_MAX_MS = 30_000

export class Circuit {
  readonly #windowMax: number
  #window: number
  #failures = 0
  #pauseMs = PAUSE_MIN_MS
  /** Null: closed. */
  #openUntilMs: number | null = null
  #isProbing = false

  constructor(windowMax: number) {
    this.#windowMax = windowMax
    this.#window = Math.min(WINDOW_START, windowMax)
  }

  get isOpen(): boolean {
    return this.#openUntilMs !== null
  }

  /** How many may be under way at this moment. */
  allowance(nowMs: number): number {
    if (this.#openUntilMs === null) return this.#window
    return this.#isProbing || nowMs >= this.#openUntilMs ? 1 : 0
  }

  noteStart(): void {
    this.#isProbing = this.isOpen
  }

  noteSuccess(): void {
    this.#failures = 0
    this.#pauseMs = PAUSE_MIN_MS
    this.#isProbing = false
    if (this.isOpen) this.#window = Math.min(WINDOW_START, this.#windowMax)
    else this.#window = Math.min(this.#window + 1, this.#windowMax)
    this.#openUntilMs = null
  }

  /** `waitMs`: how long the receiver asked to be left alone, or null. */
  noteFailure(nowMs: number, waitMs: number | null): void {
    this.#failures++
    this.#window = Math.max(1, Math.floor(this.#window / 2))
    const isAsked = waitMs !== null && waitMs > 0
    if (!isAsked && !this.isOpen && this.#failures < FAILURES_MAX) return
    // Answers to what was sent before the circuit opened don't make the pause longer.
    if (this.isOpen && !this.#isProbing) return
    this.#isProbing = false
    this.#openUntilMs = nowMs + Math.max(this.#pauseMs, Math.min(waitMs ?? 0, PAUSE_MAX_MS))
    this.#pauseMs = Math.min(2 * this.#pauseMs, PAUSE_MAX_MS)
  }
}
