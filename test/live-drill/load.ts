/** The merchant of the drill: new payments all the time, and after each step the audit of the final state. */
import type { Payment } from '../../client/index.js'
import { orderIdOf } from '../../machines/network.js'
import { auditChaos } from '../chaos/audit.js'
import { ChaosClient, NOTHING_SENT, type Target } from '../chaos/client.js'
import { readFinalState } from '../chaos/final-state.js'
import { openLoop } from '../chaos/open-loop.js'
import type { ChaosReceiver } from '../chaos/receiver.js'

/** Ends of the cards that the simulator approves. */
const APPROVED = '0060'
const LONGEST_S = 86_400
/** Far beyond the horizon, the gaps between queries, and the first retries of webhooks. */
const PATIENCE_MS = 180_000

export interface LoadOptions {
  readonly target: Target
  /** New payments per second. */
  readonly rate: number
  readonly receiver: ChaosReceiver
  readonly random: () => number
}

export interface StepAudit {
  readonly payments: number
  /** One line for each thing that is lost, charged twice, wrong, stuck or undelivered. Empty: nothing. */
  readonly findings: readonly string[]
  /** Payments with an approved card that were sent and failed, each with the code of its failure. */
  readonly refused: readonly { readonly id: string; readonly code: string }[]
}

export class Load {
  readonly #options: LoadOptions
  readonly #clients: ChaosClient[] = []
  #running: { readonly ending: AbortController; readonly done: Promise<unknown> } | undefined
  /** Refused payments that were told already. */
  readonly #told = new Set<string>()
  /** Payments that a restored backup does not have: what becomes of them is decided by people. */
  readonly #forgotten = new Set<string>()

  constructor(options: LoadOptions) {
    this.#options = options
  }

  /** Begins to send; while it sends, nothing. */
  begin(rate = this.#options.rate, seconds = LONGEST_S): void {
    if (this.#running !== undefined) return
    const client = this.newClient()
    const ending = new AbortController()
    const name = `drill-${this.#clients.length}`
    const done = openLoop({ rate, seconds }, index => client.begin(`${name}-${index}`), ending.signal)
    this.#running = { ending, done }
  }

  /** Sends so many payments, at most `rate` a second, and waits until they are begun. */
  async fill(payments: number, rate: number): Promise<void> {
    await this.#stopSending()
    this.begin(rate, payments / rate)
    await this.#running?.done
  }

  /** A client of the same merchant for requests by hand; `isCounted`: its payments are audited. */
  newClient(isCounted = true): ChaosClient {
    const client = new ChaosClient(this.#options.target, this.#options.random)
    if (isCounted) this.#clients.push(client)
    return client
  }

  /** Leaves payments out of the audit. */
  forget(paymentIds: Iterable<string>): void {
    for (const id of paymentIds) this.#forgotten.add(id)
  }

  /** Stops sending, waits until all accepted payments have ended, and audits them. */
  async audit(): Promise<StepAudit> {
    await this.#stopSending()
    const { receiver, target } = this.#options
    const { records, payments, sales } = await readFinalState(this.#clients, receiver, target.networkUrl, PATIENCE_MS)
    const findings = auditChaos(records, payments, sales, receiver.events)
    const forgotten = [...this.#forgotten].flatMap(id => [id, orderIdOf(id)])
    const refused = [...payments.values()].flatMap(payment =>
      payment?.status === 'failed' &&
      payment.card.last4 === APPROVED &&
      !isUnsent(payment) &&
      !this.#told.has(payment.id)
        ? { id: payment.id, code: payment.error?.code ?? 'no code' }
        : []
    )
    for (const { id } of refused) this.#told.add(id)
    return {
      payments: payments.size,
      findings: Object.entries(findings).flatMap(([kind, lines]: [string, readonly string[]]) =>
        lines.filter(line => !forgotten.some(id => line.includes(id))).map(line => `${kind}: ${line}`)
      ),
      refused
    }
  }

  async #stopSending(): Promise<void> {
    this.#running?.ending.abort()
    await this.#running?.done
    this.#running = undefined
  }
}

/** A machine that is busy may keep a call from the network for longer than it is tried. */
function isUnsent({ error }: Payment): boolean {
  return NOTHING_SENT.includes(error?.code)
}
