/**
 * Watches the calls to the card network for two faults: no answer, and an answer that refuses our credentials.
 *
 * Both are warnings of /readyz and not problems, because a restart repairs neither. A host without recent calls gets a
 * probe that books nothing: the query host a query for an order that does not exist, the transaction host `GET /`, where
 * any answer counts.
 */
import type { Lease } from '../../machines/lease.js'
import type { Clock } from '../../runtime/clock.js'
import { eachSecond } from '../../runtime/each-second.js'
import type { ProcessContext } from '../../runtime/lifecycle.js'
import { CircuitBreaker, type CircuitOptions } from './circuit-breaker.js'
import { leaseUntil } from './leases.js'
import type { Exchange, Transport, WireRequest } from './transport.js'

/** A single call may time out because of its issuer. So many in a row without an answer are a fault of the network. */
const FAILURES_MIN = 3
/** A host without calls for so long gets a probe (ms); sooner after a call that failed. */
const IDLE_MS = 30_000
const IDLE_AFTER_FAILURE_MS = 5_000
/** After so long without another fault, a process takes its share of calls again (ms). */
const UNUSABLE_MS = 10_000

const REFUSING_HTTP = [401, 403]
const TOO_MANY_REQUESTS = 429
const SALES_PATH = '/1/sales'

/** The process that warns, and that ends the probes with itself. */
export type WatchingProcess = Pick<ProcessContext, 'signal' | 'onStop' | 'onWarning' | 'log'>

export interface WatchedOptions {
  readonly baseUrl: string
  /** What to ask for while there are no calls. */
  readonly probePath: string
  readonly timeoutMs: number
  /** Of the host that gets new sales. Without it, no sale is refused. */
  readonly circuit?: CircuitOptions | undefined
  /** Monotonic time, unless a test has its own. */
  readonly clock?: Clock
}

/** One address of the card network: its transport, watched. */
export class WatchedTransport implements Transport {
  readonly #transport: Transport
  readonly #clock: Clock
  readonly #host: string
  readonly #probe: WireRequest
  readonly #circuit: CircuitBreaker | null
  #lastMs: number
  /** When a call last got no answer, or was refused. */
  #faultMs = 0
  #isProbing = false
  /** Calls in a row without an answer, and the fault of the last one. */
  #failures = 0
  #failure = ''
  /** Answers in a row that refused our credentials, and the status of the last one. */
  #refusals = 0
  #refusal = 0

  constructor(transport: Transport, { baseUrl, probePath, timeoutMs, circuit, clock }: WatchedOptions) {
    this.#transport = transport
    this.#clock = clock ?? { now: () => performance.now() }
    this.#host = new URL(baseUrl).host
    this.#probe = { method: 'GET', path: probePath, body: null, timeoutMs }
    this.#circuit = circuit === undefined ? null : new CircuitBreaker(this.#host, this.#clock, circuit)
    this.#lastMs = this.#clock.now()
  }

  /** A new sale is not sent while the circuit is open, unless it is a trial. */
  async send(request: WireRequest, lease: Lease): Promise<Exchange> {
    const refusal = request.method === 'POST' ? (this.#circuit?.refusalOfSale() ?? null) : null
    if (refusal !== null) return { kind: 'not_sent', reason: refusal, isCircuitOpen: true }
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

  /**
   * Whether this process can't use the network now, as far as it knows: another one may. It ends some time after the last fault,
   * because only a call about a sale shows that it is over.
   */
  get isUnusable(): boolean {
    const isFaulty = this.unreachable() !== undefined || this.refused() !== undefined
    return isFaulty && this.#clock.now() - this.#faultMs < UNUSABLE_MS
  }

  /** Whether new sales are refused. */
  get isCircuitOpen(): boolean {
    return this.#circuit?.isOpen ?? false
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
      this.#faultMs = this.#lastMs
      this.#failures++
      this.#failure = failure
      this.#circuit?.noteFailure(exchange, failure, this.#failures)
      return
    }
    const isAboutSale = path.startsWith(SALES_PATH)
    // A gateway may answer for the root of the host and still refuse all sales.
    if (isAboutSale || !this.isCircuitOpen) this.#failures = 0
    // The root of a host may refuse every client.
    if (!isAboutSale) return
    const status = refusingStatusOf(exchange)
    if (status === null) {
      this.#refusals = 0
      this.#circuit?.close()
      return
    }
    this.#faultMs = this.#lastMs
    this.#refusals++
    this.#refusal = status
    this.#circuit?.noteRefusal(`HTTP ${status}`, this.#refusals)
  }
}

/**
 * Why an exchange counts as no answer; null for one that counts. A gateway answers 429 or 5xx instead of the acquirer.
 * To the payment such an answer stays ambiguous, because the sale may be booked (call-answers.ts).
 */
function failureOf(exchange: Exchange): string | null {
  if (exchange.kind !== 'answered') return exchange.reason
  return exchange.status >= 500 || exchange.status === TOO_MANY_REQUESTS ? `HTTP ${exchange.status}` : null
}

/** The status of an answer about a sale that refuses our credentials; null: it does not. */
function refusingStatusOf(exchange: Exchange): number | null {
  return exchange.kind === 'answered' && REFUSING_HTTP.includes(exchange.status) ? exchange.status : null
}

/** Makes the card network a warning of /readyz, and probes it while there are no calls. */
export function watchNetwork(hosts: readonly WatchedTransport[], { signal, onStop, onWarning }: WatchingProcess): void {
  const lease = leaseUntil(signal)
  const endProbes = eachSecond(() => hosts.forEach(host => void host.probeWhenIdle(lease)))
  onStop('watch of the card network', endProbes)
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
  const refusing = path.startsWith(SALES_PATH) ? refusingStatusOf(exchange) : null
  if (refusing === null) return undefined
  return `The card network at ${new URL(baseUrl).host} refuses these credentials (HTTP ${refusing}). ${CHECK_CREDENTIALS}`
}

const CHECK_CONNECTION = 'Call the network, or repair the connection to it.'
const CHECK_CREDENTIALS =
  'Check NETWORK_MERCHANT_ID and NETWORK_MERCHANT_KEY, and whether the network allows the address of this machine.'
