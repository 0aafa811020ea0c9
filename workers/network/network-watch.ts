/**
 * Watches the calls to the card network for two faults: no answer, and an answer that refuses our credentials.
 *
 * Both are warnings of /readyz and not problems, because a restart repairs neither. A host without recent calls gets a
 * probe that books nothing: the query host a query for an order that does not exist, the transaction host `GET /`, where
 * any answer counts.
 *
 * Enough calls in a row without an answer, or with refused credentials, open a circuit: each new sale would end in doubt, so
 * it is refused before anything is sent (docs/decisions/0026-a-circuit-for-new-sales.md).
 */
import type { Lease } from '../../machines/lease.js'
import type { Environment } from '../../machines/model.js'
import type { Clock } from '../../runtime/clock.js'
import { eachSecond } from '../../runtime/each-second.js'
import type { ProcessContext } from '../../runtime/lifecycle.js'
import type { Logger } from '../../runtime/log.js'
import { leaseUntil } from './lease-until.js'
import type { Exchange, Transport, WireRequest } from './transport.js'

/** A single call may time out because of its issuer. So many in a row without an answer are a fault of the network. */
const FAILURES_MIN = 3
/** A host without calls for so long gets a probe (ms); sooner after a call that failed. */
const IDLE_MS = 30_000
const IDLE_AFTER_FAILURE_MS = 5_000

/** Pauses between the trials of an open circuit: the first, the longest, and the longest by `Retry-After` (ms). */
const TRIAL_PAUSE_MS = 1_000
const TRIAL_PAUSE_MAX_MS = 10_000
const RETRY_AFTER_MAX_MS = 60_000

const REFUSING_HTTP = [401, 403]
const SALES_PATH = '/1/sales'

/** The process that warns, and that ends the probes with itself. */
export type WatchingProcess = Pick<ProcessContext, 'signal' | 'onStop' | 'onWarning' | 'log'>

export interface WatchedOptions {
  readonly baseUrl: string
  /** What to ask for while there are no calls. */
  readonly probePath: string
  readonly timeoutMs: number
  /** Calls in a row without an answer that open the circuit for new sales. Without it, no sale is refused. */
  readonly circuitFailures?: number
  /** In the test environment, where cards of the simulator cut their connections, a cut alone opens no circuit. */
  readonly environment?: Environment
  /** Called when the circuit opens and closes. */
  readonly log?: Pick<Logger, 'warn' | 'info'>
  /** Monotonic time, unless a test has its own. */
  readonly clock?: Clock
}

/** One address of the card network: its transport, watched. */
export class WatchedTransport implements Transport {
  readonly #transport: Transport
  readonly #clock: Clock
  readonly #host: string
  readonly #probe: WireRequest
  #lastMs: number
  #isProbing = false
  /** Calls in a row without an answer, and the fault of the last one. */
  #failures = 0
  #failure = ''
  /** Calls in a row whose credentials were refused. */
  #refusals = 0
  #refusal = 0
  readonly #circuitFailures: number
  readonly #isCutOpening: boolean
  readonly #log: WatchedOptions['log']
  /** Null: the circuit is closed. */
  #openedMs: number | null = null
  /** The next sale at or after this time is a trial. */
  #trialMs = 0
  #trialPauseMs = 0

  constructor(transport: Transport, options: WatchedOptions) {
    this.#transport = transport
    this.#clock = options.clock ?? { now: () => performance.now() }
    this.#circuitFailures = options.circuitFailures ?? Number.POSITIVE_INFINITY
    this.#isCutOpening = options.environment !== 'test'
    this.#log = options.log
    this.#host = new URL(options.baseUrl).host
    this.#probe = { method: 'GET', path: options.probePath, body: null, timeoutMs: options.timeoutMs }
    this.#lastMs = this.#clock.now()
  }

  /** A new sale is not sent while the circuit is open, unless it is a trial. */
  async send(request: WireRequest, lease: Lease): Promise<Exchange> {
    if (request.method === 'POST' && !this.#admitsSale()) {
      return { kind: 'not_sent', reason: `circuit open after ${this.#failure}`, isCircuitOpen: true }
    }
    const exchange = await this.#transport.send(request, lease)
    // A call that its caller gave up says nothing about the network.
    if (!lease.isLost()) this.#note(request.path, exchange)
    return exchange
  }

  close(): Promise<void> {
    return this.#transport.close()
  }

  /** Sends the probe when there was no call for a while. Never rejects. */
  async probeWhenIdle(lease: Lease): Promise<void> {
    const idleMs = this.#failures > 0 ? IDLE_AFTER_FAILURE_MS : IDLE_MS
    if (this.#isProbing || this.#clock.now() - this.#lastMs < idleMs) return
    this.#isProbing = true
    await this.send(this.#probe, lease)
    this.#isProbing = false
  }

  /** The warning about a network that does not answer, or undefined. */
  unreachable(): string | undefined {
    if (this.#failures < FAILURES_MIN) return undefined
    const refusing = this.isCircuitOpen ? ' New payments are refused, but for a trial each few seconds.' : ''
    return `The last ${this.#failures} calls to the card network at ${this.#host} got no answer (${this.#failure}).${refusing}`
  }

  /** Whether new sales are refused. */
  get isCircuitOpen(): boolean {
    return this.#openedMs !== null
  }

  /** The warning about a network that refuses our credentials, or undefined. */
  refused(): string | undefined {
    if (this.#refusals < FAILURES_MIN) return undefined
    return `The card network at ${this.#host} refused the last ${this.#refusals} calls (HTTP ${this.#refusal}).`
  }

  #note(path: string, exchange: Exchange): void {
    this.#lastMs = this.#clock.now()
    const failure = failureOf(exchange)
    if (failure !== null) {
      this.#failures++
      this.#failure = failure
      this.#openOrDelayTrial(exchange)
      return
    }
    // A gateway may answer for the root of the host and still refuse all sales.
    if (this.isCircuitOpen && !path.startsWith(SALES_PATH)) return
    this.#failures = 0
    // The root of a host may refuse every client.
    const status = exchange.kind === 'answered' && path.startsWith(SALES_PATH) ? exchange.status : null
    if (status !== null) this.#refusals = REFUSING_HTTP.includes(status) ? this.#refusals + 1 : 0
    if (status === null || this.#refusals === 0) {
      this.#closeCircuit()
      return
    }
    this.#refusal = status
    this.#failure = `HTTP ${status}`
    if (this.#refusals >= this.#circuitFailures) this.#open()
  }

  /** Trials follow each other after growing pauses, also while the one before is in flight. */
  #admitsSale(): boolean {
    if (!this.isCircuitOpen) return true
    const nowMs = this.#clock.now()
    if (nowMs < this.#trialMs) return false
    this.#trialPauseMs = Math.min(2 * this.#trialPauseMs, TRIAL_PAUSE_MAX_MS)
    this.#trialMs = nowMs + this.#trialPauseMs
    return true
  }

  /** After a failure: opens the circuit at the limit, and delays the next trial by the answer's `Retry-After`. */
  #openOrDelayTrial(exchange: Exchange): void {
    const nowMs = this.#clock.now()
    if (!this.isCircuitOpen) {
      // A call that was not sent is retried, and leaves nothing in doubt.
      if (exchange.kind === 'not_sent' || this.#failures < this.#circuitFailures) return
      if (exchange.kind === 'ambiguous' && exchange.isCut && !this.#isCutOpening) return
      this.#open()
    }
    const askedMs = exchange.kind === 'answered' ? (exchange.retryAfterMs ?? 0) : 0
    this.#trialMs = Math.max(this.#trialMs, nowMs + Math.min(askedMs, RETRY_AFTER_MAX_MS))
  }

  #open(): void {
    if (this.isCircuitOpen) return
    const nowMs = this.#clock.now()
    this.#openedMs = nowMs
    this.#trialPauseMs = TRIAL_PAUSE_MS
    this.#trialMs = nowMs + TRIAL_PAUSE_MS
    const fields = { host: this.#host, failures: Math.max(this.#failures, this.#refusals), reason: this.#failure }
    this.#log?.warn(fields, 'the card network takes no calls, new payments are refused')
  }

  #closeCircuit(): void {
    if (this.#openedMs === null) return
    const fields = { host: this.#host, open_ms: Math.round(this.#clock.now() - this.#openedMs) }
    this.#openedMs = null
    this.#log?.info(fields, 'the card network answers again, new payments are sent')
  }
}

const TOO_MANY_REQUESTS = 429

/**
 * Why an exchange counts as no answer; null for one that counts. A gateway answers 429 or 5xx instead of the acquirer.
 * To the payment such an answer stays ambiguous, because the sale may be booked (answers.ts).
 */
function failureOf(exchange: Exchange): string | null {
  if (exchange.kind !== 'answered') return exchange.reason
  return exchange.status >= 500 || exchange.status === TOO_MANY_REQUESTS ? `HTTP ${exchange.status}` : null
}

/** Makes the card network a warning of /readyz, and probes it while there are no calls. */
export function watchNetwork(hosts: readonly WatchedTransport[], { signal, onStop, onWarning }: WatchingProcess): void {
  const lease = leaseUntil(signal)
  const endLooks = eachSecond(() => hosts.forEach(host => void host.probeWhenIdle(lease)))
  onStop('watch of the card network', endLooks)
  const warn = (part: string, sentenceOf: (host: WatchedTransport) => string | undefined, advice: string): void =>
    onWarning(part, () => {
      const found = hosts.flatMap(host => sentenceOf(host) ?? [])
      return found.length === 0 ? undefined : [...found, advice].join(' ')
    })
  warn('card network', host => host.unreachable(), CHECK_CONNECTION)
  warn('network credentials', host => host.refused(), CHECK_CREDENTIALS)
}

/** Sends one probe. Resolves to a sentence about what is wrong with its answer. Never rejects. */
export async function probeOnce(transport: Transport, options: WatchedOptions): Promise<string | undefined> {
  const { baseUrl, probePath: path, timeoutMs } = options
  const lease = leaseUntil(AbortSignal.timeout(timeoutMs))
  const exchange = await transport.send({ method: 'GET', path, body: null, timeoutMs }, lease)
  const failure = failureOf(exchange)
  if (failure !== null)
    return `The card network at ${new URL(baseUrl).host} gave no answer (${failure}). ${CHECK_CONNECTION}`
  if (exchange.kind !== 'answered' || !path.startsWith(SALES_PATH)) return undefined
  if (!REFUSING_HTTP.includes(exchange.status)) return undefined
  return `The card network at ${new URL(baseUrl).host} refuses these credentials (HTTP ${exchange.status}). ${CHECK_CREDENTIALS}`
}

const CHECK_CONNECTION = 'Call the network, or repair the connection to it.'
const CHECK_CREDENTIALS =
  'Check NETWORK_MERCHANT_ID and NETWORK_MERCHANT_KEY, and whether the network allows the address of this machine.'
