/**
 * Refuses new sales before anything is sent, while each of them would end in doubt
 * (docs/decisions/0026-a-circuit-for-new-sales.md).
 *
 * It opens after enough calls in a row without an answer, or with refused credentials. While it is open, one sale goes out as a
 * trial after each pause; the first answer about a sale closes it.
 */
import type { Environment } from '../../machines/model.js'
import type { Clock } from '../../runtime/clock.js'
import type { Logger } from '../../runtime/log.js'
import type { Exchange } from './transport.js'

/** Pauses between the trials of an open circuit: the first, the longest, and the longest by `Retry-After` (ms). */
const TRIAL_PAUSE_MS = 1_000
const TRIAL_PAUSE_MAX_MS = 10_000
const RETRY_AFTER_MAX_MS = 60_000

export interface CircuitOptions {
  /** Calls in a row without an answer, or with refused credentials, that open the circuit. */
  readonly failuresMax: number
  /** In the test environment, where cards of the simulator cut their connections, a cut alone opens no circuit. */
  readonly environment: Environment
  /** Called when the circuit opens and closes. */
  readonly log?: Pick<Logger, 'warn' | 'info'> | undefined
}

export class CircuitBreaker {
  readonly #host: string
  readonly #clock: Clock
  readonly #options: CircuitOptions
  /** Null: the circuit is closed. */
  #openedMs: number | null = null
  /** Why the last call failed. */
  #reason = ''
  /** The next sale at or after this time is a trial. */
  #trialMs = 0
  #trialPauseMs = 0

  constructor(host: string, clock: Clock, options: CircuitOptions) {
    this.#host = host
    this.#clock = clock
    this.#options = options
  }

  get isOpen(): boolean {
    return this.#openedMs !== null
  }

  /**
   * Why a sale is not sent; null: it is sent. Trials follow each other after growing pauses, also while the one before is in
   * flight.
   */
  refusalOfSale(): string | null {
    if (!this.isOpen) return null
    const nowMs = this.#clock.now()
    if (nowMs < this.#trialMs) return `circuit open after ${this.#reason}`
    this.#trialPauseMs = Math.min(2 * this.#trialPauseMs, TRIAL_PAUSE_MAX_MS)
    this.#trialMs = nowMs + this.#trialPauseMs
    return null
  }

  /**
   * After a call without an answer; `failures`: such calls in a row. Opens at the limit, and delays the next trial by
   * `Retry-After`.
   */
  noteFailure(exchange: Exchange, reason: string, failures: number): void {
    this.#reason = reason
    const isCutInTest = exchange.kind === 'ambiguous' && exchange.isCut && this.#options.environment === 'test'
    // A call that was not sent is retried, and leaves nothing in doubt.
    if (exchange.kind !== 'not_sent' && !isCutInTest) this.#openAt(failures)
    if (!this.isOpen || exchange.kind !== 'answered') return
    const askedMs = Math.min(exchange.retryAfterMs ?? 0, RETRY_AFTER_MAX_MS)
    this.#trialMs = Math.max(this.#trialMs, this.#clock.now() + askedMs)
  }

  /** After an answer that refuses our credentials; `refusals`: such answers in a row. */
  noteRefusal(reason: string, refusals: number): void {
    this.#reason = reason
    this.#openAt(refusals)
  }

  close(): void {
    if (this.#openedMs === null) return
    const fields = { host: this.#host, open_ms: Math.round(this.#clock.now() - this.#openedMs) }
    this.#openedMs = null
    this.#options.log?.info(fields, 'the circuit to the card network closed, new payments are sent')
  }

  #openAt(failures: number): void {
    if (this.isOpen || failures < this.#options.failuresMax) return
    const nowMs = this.#clock.now()
    this.#openedMs = nowMs
    this.#trialPauseMs = TRIAL_PAUSE_MS
    this.#trialMs = nowMs + TRIAL_PAUSE_MS
    const fields = { host: this.#host, failures, reason: this.#reason }
    this.#options.log?.warn(fields, 'the circuit to the card network opened, new payments are refused')
  }
}
