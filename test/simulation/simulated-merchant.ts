/**
 * A merchant in a world: sends payments and operations on them, and does what a merchant should when an answer does
 * not come: sends the same request with the same key again, until there is a result.
 */
import { ServiceError } from '../../api/http/service-error.js'
import type { CreateRequest, PaymentsPort, RequestScope, Submission } from '../../api/payments/payments-port.js'
import type { CommandResult } from '../../machines/commands.js'
import type { Payment, PaymentStatus } from '../../machines/model.js'
import { shortHash } from '../../redis/keys.js'
import type { PaymentPage } from '../../redis/payments/list-payments.js'
import type { Api, Installation } from './simulated-installation.js'
import type { Process, World } from './world.js'

/** What the merchant records about one request. */
export interface RequestRecord {
  readonly key: string
  readonly kind: 'create' | 'capture' | 'cancel'
  readonly amountCents: number | null
  paymentId: string | null
  /** The result that was told. */
  result: CommandResult | null
  /** Refused before acceptance: nothing may ever have come of it. */
  refusal: string | null
  requests: number
}

export interface Merchant {
  readonly id: string
  readonly records: RequestRecord[]
  /** What the merchant was told that can't be. */
  readonly complaints: string[]
}

type Call = (payments: PaymentsPort, scope: RequestScope) => Promise<Submission>

const CLIENT_TIMEOUT_MS = 15_000
/** PaymentsPort on a page of the list. Few, so that worlds have pages from both stores. */
const PAGE = 2
const PATIENCE_MS = 3_000

export class MerchantClient implements Merchant {
  readonly id: string
  readonly records: RequestRecord[] = []
  readonly complaints: string[] = []
  /** Calls that wait for an answer. */
  openCalls = 0
  /** The longest pause before a request is repeated (ms). */
  patienceMs = PATIENCE_MS
  readonly #world: World
  readonly #installation: Installation
  readonly #process: Process
  /** The newest version of each payment that was read. */
  readonly #seen = new Map<string, number>()

  constructor(world: World, installation: Installation, process: Process, id: string) {
    this.#world = world
    this.#installation = installation
    this.#process = process
    this.id = id
  }

  create(key: string, request: CreateRequest): Promise<RequestRecord> {
    const record = this.#record(key, 'create', request.terms.amountCents, null)
    return this.#untilEnded(record, (payments, scope) => payments.create(scope, request))
  }

  operate(
    kind: 'capture' | 'cancel',
    key: string,
    paymentId: string,
    amountCents: number | null
  ): Promise<RequestRecord> {
    const record = this.#record(key, kind, amountCents, paymentId)
    return this.#untilEnded(record, (payments, scope) => payments[kind](scope, paymentId, amountCents))
  }

  /** Reads a payment that was told to exist. It is there, and not older than it was seen before. */
  async look(paymentId: string): Promise<void> {
    const seen = this.#seen.get(paymentId) ?? 0
    const payment = await this.read(paymentId).catch(() => undefined)
    if (payment === undefined) return
    const version = payment?.version ?? 0
    if (version < seen) this.complaints.push(`${paymentId}: is read in version ${version} after version ${seen}`)
    if (payment === null) this.complaints.push(`${paymentId}: is not found`)
    this.#seen.set(paymentId, Math.max(version, this.#seen.get(paymentId) ?? 0))
  }

  /** Lists all payments. Those that were told to exist are there, and each is there once. */
  async lookAtAll(): Promise<void> {
    const told = this.records.flatMap(({ kind, paymentId }) => (kind === 'create' && paymentId ? [paymentId] : []))
    const listed = await this.list(null).catch(() => null)
    if (listed === null) return
    const ids = listed.map(({ terms }) => terms.id)
    const missing = told.filter(id => !ids.includes(id))
    if (missing.length > 0) this.complaints.push(`${missing.join()}: not in the list`)
    if (ids.some((id, index) => index > 0 && id >= (ids[index - 1] ?? ''))) {
      this.complaints.push(`the list is not in order, or has a payment twice: ${ids.join()}`)
    }
  }

  read(paymentId: string): Promise<Payment | null> {
    return this.#http(payments => payments.read(this.id, paymentId))
  }

  /** All pages of the list, one after the other. */
  async list(status: PaymentStatus | null): Promise<Payment[]> {
    const filter = { status, externalReference: null, createdFromMs: null, createdToMs: null, limit: PAGE }
    const found: Payment[] = []
    let afterId: string | null = null
    do {
      const from: string | null = afterId
      const page: PaymentPage = await this.#http(payments => payments.list(this.id, { ...filter, afterId: from }))
      found.push(...page.payments)
      afterId = page.nextAfterId
    } while (afterId !== null)
    return found
  }

  #record(
    key: string,
    kind: RequestRecord['kind'],
    amountCents: number | null,
    paymentId: string | null
  ): RequestRecord {
    const record: RequestRecord = { key, kind, amountCents, paymentId, result: null, refusal: null, requests: 0 }
    this.records.push(record)
    return record
  }

  async #untilEnded(record: RequestRecord, call: Call): Promise<RequestRecord> {
    const { random } = this.#world
    const isDoubled = random.chance(0.15)
    if (isDoubled) this.#world.note('doubled request')
    const tries = isDoubled ? [this.#try(record, call), this.#try(record, call)] : [this.#try(record, call)]
    await Promise.all(tries)
    for (let longestMs = PATIENCE_MS; record.result === null && record.refusal === null; longestMs *= 2) {
      await this.#world.pause(random.between(100, Math.min(longestMs, this.patienceMs)))
      await this.#try(record, call)
    }
    if (record.result !== null && random.chance(0.2)) {
      await this.#world.pause(random.between(0, 5_000))
      await this.#try(record, call)
    }
    return record
  }

  /** One request. A lost answer is no error: it says nothing. */
  async #try(record: RequestRecord, call: Call): Promise<void> {
    const scope: RequestScope = {
      merchantId: this.id,
      idempotencyKey: record.key,
      fingerprint: shortHash(record.key),
      waitMs: this.#world.random.pick([0, 2_000, 8_000]),
      correlationId: null,
      traceparent: null
    }
    record.requests++
    try {
      this.#hear(record, await this.#http(payments => call(payments, scope)))
    } catch (error) {
      if (!(error instanceof ServiceError)) return
      if (record.result !== null || record.paymentId !== null) {
        this.complaints.push(`${record.key}: refused with ${error.code} although it was accepted before`)
      }
      if (record.kind === 'create') record.refusal = error.code
    }
  }

  #hear(record: RequestRecord, answer: Submission): void {
    this.#world.trace('answer', () => `${record.key} ${JSON.stringify(answer).slice(0, 200)}`)
    switch (answer.kind) {
      case 'conflict':
      case 'not_found':
        this.complaints.push(`${record.key}: answered ${answer.kind}`)
        return
      case 'create_in_progress':
        this.#samePayment(record, answer.paymentId)
        return
      case 'in_progress':
        this.#samePayment(record, answer.terms.id)
        return
      case 'finished':
        this.#samePayment(record, answer.terms.id)
        this.#sameResult(record, answer.result)
    }
  }

  #samePayment(record: RequestRecord, paymentId: string): void {
    if (record.paymentId !== null && record.paymentId !== paymentId) {
      this.complaints.push(`${record.key}: two payments, ${record.paymentId} and ${paymentId}`)
    }
    record.paymentId = paymentId
  }

  #sameResult(record: RequestRecord, result: CommandResult): void {
    // A copy that was stalled in a process may be accepted later. Nothing is charged: what refused the other stops it, too.
    if (record.refusal !== null && result.kind !== 'failed') {
      this.complaints.push(`${record.key}: ${result.kind} after it was refused`)
    }
    if (record.result !== null && JSON.stringify(record.result) !== JSON.stringify(result)) {
      this.complaints.push(`${record.key}: two results, ${JSON.stringify(record.result)} and ${JSON.stringify(result)}`)
    }
    record.result = result
  }

  /** A call over a wire to any API process; it rejects when the process dies or the wire breaks. */
  #http<T>(call: (payments: PaymentsPort) => Promise<T>): Promise<T> {
    const world = this.#world
    const { apis } = this.#installation
    const api: Api | undefined = apis[world.random.between(0, apis.length - 1)]
    const wireMs = (): number => world.random.exponential(5)
    this.openCalls++
    const answered = new Promise<T>((resolve, reject) => {
      const lost = (): void => void world.after(wireMs(), this.#process, () => reject(new Error('ECONNRESET')))
      const payments = api?.payments
      if (api === undefined || payments === undefined || api.process.isDead) return lost()
      api.process.onDeath(lost)
      const patience = world.after(CLIENT_TIMEOUT_MS, this.#process, () => reject(new Error('ETIMEDOUT')))
      world.after(wireMs(), api.process, () => {
        const hear = (settle: () => void): void => {
          patience.isCancelled = true
          world.after(wireMs(), this.#process, settle)
        }
        call(payments).then(
          value => hear(() => resolve(value)),
          error => hear(() => reject(error))
        )
      })
    })
    return answered.finally(() => this.openCalls--)
  }
}
