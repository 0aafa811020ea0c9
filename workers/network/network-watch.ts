/**
 * Whether the card network can be used, as the calls to it tell: no answer, or an answer that refuses our credentials.
 *
 * Both are warnings of /readyz and no problems: reconciliation, expiry and captures of other sales go on, and a restart
 * mends nothing. Where no call was made for a while, a probe is sent that books nothing: to the query host a query for
 * an order that does not exist, to the transaction host `GET /`, of which only the fact of an answer counts.
 */
import { type Clock, systemClock } from '../../runtime/clock.js'
import type { ProcessContext } from '../../runtime/lifecycle.js'
import type { Exchange, Transport, WireRequest } from './transport.js'

/** A single call may time out because of its issuer; so many in a row, without any answer between, are the network. */
const FAILURES_MIN = 3
/** Without a call for so long, a probe is sent (ms); sooner after a call that failed, to learn which it was. */
const IDLE_MS = 30_000
const IDLE_AFTER_FAILURE_MS = 5_000
const TICK_MS = 1_000

const REFUSING_HTTP = [401, 403]
const SALES_PATH = '/1/sales'

/** The process that warns, and that ends the probes with itself. */
export type WatchingProcess = Pick<ProcessContext, 'signal' | 'onStop' | 'onWarning'>

/** One address of the card network: its transport, watched. */
export class WatchedTransport implements Transport {
  readonly #transport: Transport
  readonly #clock: Clock
  readonly #host: string
  readonly #probe: WireRequest
  #lastMs: number
  #isProbing = false
  /** Calls in a row without an answer, and what became of the last one. */
  #failures = 0
  #failure = ''
  /** Calls in a row whose credentials were refused. */
  #refusals = 0
  #refusal = 0

  /** `probePath`: what to ask for while there are no calls. */
  constructor(transport: Transport, options: { baseUrl: string; probePath: string; timeoutMs: number; clock?: Clock }) {
    this.#transport = transport
    this.#clock = options.clock ?? systemClock
    this.#host = new URL(options.baseUrl).host
    this.#probe = { method: 'GET', path: options.probePath, body: null, timeoutMs: options.timeoutMs }
    this.#lastMs = this.#clock.now()
  }

  async send(request: WireRequest, signal: AbortSignal): Promise<Exchange> {
    const exchange = await this.#transport.send(request, signal)
    // A call that its caller gave up tells nothing about the network.
    if (!signal.aborted) this.#note(request.path, exchange)
    return exchange
  }

  close(): Promise<void> {
    return this.#transport.close()
  }

  /** Sends the probe when there was no call for a while. Never rejects. */
  async probeWhenIdle(signal: AbortSignal): Promise<void> {
    const idleMs = this.#failures > 0 ? IDLE_AFTER_FAILURE_MS : IDLE_MS
    if (this.#isProbing || this.#clock.now() - this.#lastMs < idleMs) return
    this.#isProbing = true
    await this.send(this.#probe, signal)
    this.#isProbing = false
  }

  /** The sentence about a network that does not answer, or undefined. */
  unreachable(): string | undefined {
    if (this.#failures < FAILURES_MIN) return undefined
    return `The last ${this.#failures} calls to the card network at ${this.#host} got no answer (${this.#failure}).`
  }

  /** The sentence about a network that refuses our credentials, or undefined. */
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
      return
    }
    this.#failures = 0
    // The root of a host may refuse everybody.
    if (exchange.kind !== 'answered' || !path.startsWith(SALES_PATH)) return
    this.#refusals = REFUSING_HTTP.includes(exchange.status) ? this.#refusals + 1 : 0
    this.#refusal = exchange.status
  }
}

/** Why an exchange counts as no answer; null for one that counts. A gateway answers 5xx for a network that is away. */
function failureOf(exchange: Exchange): string | null {
  if (exchange.kind !== 'answered') return exchange.reason
  return exchange.status >= 500 ? `HTTP ${exchange.status}` : null
}

/** Makes the card network a warning of /readyz, and probes it while there are no calls. */
export function watchNetwork(hosts: readonly WatchedTransport[], { signal, onStop, onWarning }: WatchingProcess): void {
  const timer = setInterval(() => hosts.forEach(host => void host.probeWhenIdle(signal)), TICK_MS)
  onStop('watch of the card network', () => clearInterval(timer))
  onWarning('card network', () =>
    joined(
      hosts.map(host => host.unreachable()),
      'Call the network, or mend the way to it.'
    )
  )
  onWarning('network credentials', () =>
    joined(
      hosts.map(host => host.refused()),
      'Check NETWORK_MERCHANT_ID and NETWORK_MERCHANT_KEY, and whether the network allows the address of this machine.'
    )
  )
}

function joined(sentences: readonly (string | undefined)[], advice: string): string | undefined {
  const found = sentences.filter(sentence => sentence !== undefined)
  return found.length === 0 ? undefined : [...found, advice].join(' ')
}
