/**
 * A running service whose card network is in the hands of the test: it can be told to misbehave, be stopped, and its
 * ledger is readable. All files of test/system/payments share one service, and one ledger that outlives the simulator.
 */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pino } from 'pino'
import { orderIdOf } from '../../machines/network.js'
import { type Faults, NO_FAULTS } from '../../scripts/simulator/faults.js'
import type { LedgerSale } from '../../scripts/simulator/ledger.js'
import { type Moment, type Simulator, startSimulator } from '../../scripts/simulator/simulator.js'
import { freePort } from '../../scripts/start/ports.js'
import { noteKnownSale } from './known-sale.js'
import { Merchant, withRedis } from './merchant.js'
import { type ServiceOptions, type ServiceUnderTest, useService } from './service.js'
import { chargeBack } from './simulator.js'

const networkPort = await freePort()
const notificationsPort = await freePort()
const ledgerFolder = mkdtempSync(join(tmpdir(), 'payments-ledger-'))
process.once('exit', () => rmSync(ledgerFolder, { recursive: true, force: true }))

const credentials = { merchantId: '00000000-0000-4000-8000-00000000000b', merchantKey: 'key-of-the-system-tests' }
const notificationsSecret = 'secret-of-the-system-tests'

/** How long the service waits for an answer of the network (ms): no pause of the machine is taken for a network that does not answer. */
const NETWORK_TIMEOUT_MS = 10_000

/** For tests in which every sale must be sent, also after calls without an answer. */
const ALWAYS_SENT = 1_000_000

const OPTIONS: ServiceOptions = {
  procfile: readFileSync('Procfile', 'utf8').replace(/^network:.*\n/m, ''),
  scale: ['payments=2'],
  env: {
    LOG_LEVEL: 'warn',
    NETWORK_TRANSACTION_URL: `http://127.0.0.1:${networkPort}`,
    NETWORK_QUERY_URL: `http://127.0.0.1:${networkPort}`,
    SIMULATOR_URL: `http://127.0.0.1:${networkPort}`,
    NETWORK_MERCHANT_ID: credentials.merchantId,
    NETWORK_MERCHANT_KEY: credentials.merchantKey,
    NETWORK_CONNECT_TIMEOUT_MS: '1000',
    NETWORK_AUTHORISE_TIMEOUT_MS: String(NETWORK_TIMEOUT_MS),
    NETWORK_TIMEOUT_MS: String(NETWORK_TIMEOUT_MS),
    NETWORK_RETRY_MS: '300',
    NETWORK_CIRCUIT_FAILURES: String(ALWAYS_SENT),
    RECONCILE_DELAYS_MS: '150,250,400',
    HEARTBEAT_MS: '200',
    TAKEOVER_AFTER_MS: '1000',
    TIMERS_INTERVAL_MS: '50',
    NOTIFICATIONS_PORT: String(notificationsPort),
    NOTIFICATIONS_SECRET: notificationsSecret
  }
}

/** The card network of the tests. */
export class TestNetwork {
  #simulator: Simulator | undefined
  #held: { answer: () => void; cut: (reason: Error) => void }[] = []
  #allowed = { perSecond: Number.POSITIVE_INFINITY, atMs: [] as number[], throttled: 0 }

  /** Begins to listen, with the ledger of before. */
  async start(): Promise<void> {
    this.#simulator = await startSimulator({
      host: '127.0.0.1',
      port: networkPort,
      ledgerFile: join(ledgerFolder, 'ledger.jsonl'),
      ...credentials,
      notificationsUrl: `http://127.0.0.1:${notificationsPort}/notifications`,
      notificationsSecret,
      notificationRetryDelaysMs: [100, 200, 400],
      random: () => (this.#mayCall() ? Math.random() : 0),
      log: pino({ level: 'silent' })
    })
  }

  /** Connections are refused from now on. */
  async stop(): Promise<void> {
    const running = this.#simulator
    this.#simulator = undefined
    this.#letGo(({ cut }) => cut(new Error('the network of the test is stopped')))
    await running?.stop()
  }

  /** Replaces the whole fault set; no argument: no faults. */
  faults(faults: Partial<Faults> = {}): void {
    this.#running.faults = { ...NO_FAULTS, ...faults }
  }

  /** From now on it answers at most so many calls in any second, and 429 to all others. Answers how many those were so far. */
  allow(perSecond: number): () => number {
    const allowed = { perSecond, atMs: [] as number[], throttled: 0 }
    this.#allowed = allowed
    // A chance that only a draw of 0 meets.
    this.faults({ throttle: Number.isFinite(perSecond) ? Number.MIN_VALUE : 0 })
    return () => allowed.throttled
  }

  #mayCall(): boolean {
    const { perSecond, atMs } = this.#allowed
    if (!Number.isFinite(perSecond)) return true
    const nowMs = performance.now()
    while ((atMs[0] ?? nowMs) < nowMs - 1_000) atMs.shift()
    const mayCall = atMs.length < perSecond
    if (mayCall) atMs.push(nowMs)
    else this.#allowed.throttled++
    return mayCall
  }

  /** The sales of one payment, oldest first. */
  sales(paymentId: string): readonly LedgerSale[] {
    return this.#running.ledger.ofOrder(orderIdOf(paymentId))
  }

  /** From now on calls stay at that moment until they are answered; with `part`, those whose path contains it. */
  hold(moment: Moment, part = ''): void {
    this.#running.pause = (reached, path) => {
      if (reached !== moment || !path.includes(part)) return undefined
      return new Promise((answer, cut) => this.#held.push({ answer, cut }))
    }
  }

  /** How many calls are held. */
  get held(): number {
    return this.#held.length
  }

  /** Lets all that is held go its way, and holds nothing more. */
  answerHeld(): void {
    this.#running.pause = () => undefined
    this.#letGo(({ answer }) => answer())
  }

  /** The buyer disputes; the network sends its notification. */
  async chargeBack(paymentId: string): Promise<void> {
    const status = await chargeBack(this.#running.url, paymentId)
    if (status !== 201) throw new Error(`chargeback: ${status}`)
  }

  /** Sends a notification as the network would, or as an impostor. Answers the status. */
  async notify(body: unknown, secret = notificationsSecret): Promise<number> {
    const response = await fetch(`http://127.0.0.1:${notificationsPort}/notifications`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', 'X-Notification-Secret': secret },
      body: JSON.stringify(body)
    })
    return response.status
  }

  #letGo(how: (held: { answer: () => void; cut: (reason: Error) => void }) => void): void {
    const held = this.#held
    this.#held = []
    for (const call of held) how(call)
  }

  get #running(): Simulator {
    if (this.#simulator === undefined) throw new Error('the network of the test is stopped')
    return this.#simulator
  }
}

export interface PayingService {
  readonly service: () => ServiceUnderTest
  readonly merchant: Merchant
  readonly network: TestNetwork
}

/** Call it inside a `describe`. The network behaves at the start of each test. */
export function usePayingService(): PayingService {
  const network = new TestNetwork()
  before(() => network.start())
  const service = useService(OPTIONS)
  const merchant = new Merchant(service)
  beforeEach(() => {
    network.faults()
    network.answerHeld()
  })
  // Without any sale that the network has surely booked, no absence would be believed.
  before(async () => {
    network.faults()
    const { id } = (await merchant.create()).payment
    const known = { account: credentials.merchantId, orderId: orderIdOf(id) }
    await withRedis(service(), redis => noteKnownSale(redis, known))
  })
  after(() => network.stop())
  return { service, merchant, network }
}
