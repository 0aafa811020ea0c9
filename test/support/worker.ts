/** A payments worker in this process: the real stores and scripts on a real Redis, a network that obeys the test. */
import type { Command, CommandResult } from '../../machines/commands.js'
import type { Payment } from '../../machines/model.js'
import { createCardDeclineStore } from '../../redis/cards/card-declines.js'
import { type CommandEntry, decodeEntry } from '../../redis/commands/command-entry.js'
import { createCommandQueue } from '../../redis/commands/command-queue.js'
import { fireWakeUps, reconciliations } from '../../redis/commands/fire-wake-ups.js'
import { ensureGroups } from '../../redis/commands/read-commands.js'
import { paymentWork } from '../../redis/commands/work-kind.js'
import { unreplicated } from '../../redis/connection/writes.js'
import { keys, PAYMENTS_GROUP, paymentKeyOf } from '../../redis/keys.js'
import { createPaymentLock } from '../../redis/locks/payment-lock.js'
import { createCommitStore } from '../../redis/payments/commits.js'
import { createPaymentStore, type PaymentStore } from '../../redis/payments/payments.js'
import { createLogger } from '../../runtime/log.js'
import type { HandlingOutcome } from '../../workers/command-loop/intake.js'
import { handleCommand } from '../../workers/payments/handle-command.js'
import type { WorkerDeps } from '../../workers/payments/worker-deps.js'
import { until } from './conditions.js'
import { FakeNetwork } from './fake-network.js'
import { anAcceptance, aPayment, aWake, CREATED_MS, createCommand, PARTITION, policy, recordIdOf } from './payments.js'
import type { TestRedis } from './redis.js'
import { unreadMetrics } from './worker-metrics.js'

const PARTITIONS = PARTITION + 1
const DELIVERIES_MAX = 3
const KEY_LIFE_MS = 60_000
const AUTHORISE_WITHIN_MS = 900_000
const CONSUMER = 'worker-of-the-test'

/** Makes a worker; `changes` replaces parts of it. */
export function aWorker(
  test: TestRedis,
  changes: (deps: WorkerDeps) => Partial<WorkerDeps> = () => ({}),
  consumer = CONSUMER
): TestWorker {
  const log = createLogger('test', 'silent')
  const network = new FakeNetwork()
  const clock = { atMs: CREATED_MS + 1_000, now: () => clock.atMs, isApart: () => false }
  const [forgotten, released]: [string[], string[]] = [[], []]
  const deps: WorkerDeps = {
    payments: createPaymentStore(unreplicated(test.redis)),
    commits: createCommitStore(unreplicated(test.redis)),
    queue: createCommandQueue(test.redis),
    lock: createPaymentLock([test.secrets], 2_000, log),
    network,
    cardData: {
      open: async () => ({
        number: '4024007153760060',
        holderName: 'Ada Lovelace',
        expirationMonth: '12',
        expirationYear: '2031',
        cvv: '123'
      }),
      forget: async terms => void forgotten.push(terms.id),
      release: async terms => void released.push(terms.id)
    },
    cardDeclines: createCardDeclineStore(test.redis, PARTITIONS),
    policy,
    unvouchedBeforeMs: () => 0,
    networkRetryMs: 0,
    deliveriesMax: DELIVERIES_MAX,
    inspection: { decided: () => undefined },
    clock,
    metrics: unreadMetrics,
    log
  }
  return new TestWorker(test, { ...deps, ...changes(deps) }, network, clock, { forgotten, released, consumer })
}

export class TestWorker {
  readonly deps: WorkerDeps
  readonly network: FakeNetwork
  readonly clock: { atMs: number }
  /** Payments whose card data was given up. */
  readonly forgotten: readonly string[]
  /** Payments whose token another request may use. */
  readonly released: readonly string[]
  /** Its name in the consumer group. */
  readonly consumer: string
  readonly #test: TestRedis

  constructor(
    test: TestRedis,
    deps: WorkerDeps,
    network: FakeNetwork,
    clock: { atMs: number },
    told: { forgotten: readonly string[]; released: readonly string[]; consumer: string }
  ) {
    this.#test = test
    this.deps = deps
    this.network = network
    this.clock = clock
    this.forgotten = told.forgotten
    this.released = told.released
    this.consumer = told.consumer
  }

  /** Accepts a payment as the API does. */
  async accept(mode: 'auto' | 'manual' = 'auto'): Promise<Payment> {
    await ensureGroups(this.#test.redis, PARTITIONS, paymentWork)
    const payment = aPayment({ terms: { captureMode: mode }, idempotencyKey: `key-${Math.random()}` })
    const { idempotencyKey } = payment.progress.operation
    const command = { ...createCommand, authoriseByMs: this.clock.atMs + AUTHORISE_WITHIN_MS }
    await this.#store.acceptPayment(payment, command, anAcceptance({ idempotencyKey }))
    return payment
  }

  /** A new payment, worked off while the network answers its calls so. */
  async created(mode: 'auto' | 'manual', ...outcomes: Parameters<FakeNetwork['willAnswer']>): Promise<Payment> {
    const payment = await this.accept(mode)
    this.network.willAnswer(...outcomes)
    await this.work()
    return payment
  }

  /** Accepts a capture or cancel as the API does, but without asking the chart. Answers its key. */
  async acceptOperation(payment: Payment, command: Command & { kind: 'capture' | 'cancel' }): Promise<string> {
    const idempotencyKey = `key-${Math.random()}`
    const request = { payment: await this.load(payment), command, refusal: null, isKnown: false }
    await this.#store.acceptOperation(request, anAcceptance({ idempotencyKey }), KEY_LIFE_MS)
    return idempotencyKey
  }

  /** Reads what waits in the stream, as a worker that may then die. */
  async take(): Promise<CommandEntry[]> {
    const group = ['GROUP', PAYMENTS_GROUP, this.consumer] as const
    const reply = await this.#test.redis.xreadgroup(...group, 'COUNT', 100, 'STREAMS', keys.commands(PARTITION), '>')
    const [[, entries] = ['', []]] = reply ?? []
    return entries.map(([entryId, fields]) => this.#decode(entryId, fields ?? []))
  }

  #decode(entryId: string, fields: readonly string[]): CommandEntry {
    const delivery = `${CONSUMER} ${Math.random()}` as const
    return decodeEntry({ partition: PARTITION, entryId, fields, consumer: this.consumer, delivery })
  }

  async takeOne(): Promise<CommandEntry> {
    const [entry] = await this.take()
    if (entry === undefined) throw new Error('no command waits')
    return entry
  }

  /** Reads a new payment, and begins it as a worker that dies before its call. */
  async beginOne(): Promise<CommandEntry> {
    const entry = await this.takeOne()
    const begun = await this.deps.commits.begin(entry, 1)
    if (begun !== 'begun') throw new Error(begun)
    return entry
  }

  /** Does everything that waits, also what comes back meanwhile. */
  async work(): Promise<void> {
    for (let entries = await this.take(); entries.length > 0; entries = await this.take()) {
      for (const entry of entries) await this.handle(entry)
    }
  }

  async handle(entry: CommandEntry, stopping: AbortSignal = new AbortController().signal): Promise<HandlingOutcome> {
    const outcome = await handleCommand(entry, this.deps, stopping)
    if (outcome === 'left') await paymentWork.release(this.#test.redis, entry)
    return outcome
  }

  /** What is due now becomes a command, and is done. */
  async wake(payment: Payment, atMs: number): Promise<void> {
    this.clock.atMs = atMs
    const paymentKey = paymentKeyOf(payment.terms.id)
    const lists = [keys.due(PARTITION), keys.reconcile(PARTITION)]
    const removed = await Promise.all(lists.map(list => this.#test.redis.zrem(list, paymentKey)))
    if (removed.every(count => count === 0)) throw new Error('the payment has no wake-up')
    await this.#test.redis.xadd(keys.commands(PARTITION), '*', ...aWake(paymentKey))
    await this.work()
  }

  /** Lets its wake-up in the list come, as `timers` does, and does everything that waits. */
  async fire(payment: Payment): Promise<void> {
    const atMs = await this.wakeUpOf(payment)
    if (atMs === null) throw new Error('the payment has no wake-up')
    this.clock.atMs = atMs
    await fireWakeUps(this.#test.redis, reconciliations, { partition: PARTITION, nowMs: atMs, max: 1 })
    await this.work()
  }

  /** Resolves when the network was asked this. */
  async untilAsked(what: string): Promise<void> {
    await until(`the network is asked: ${what}`, () => this.network.asked.includes(what))
  }

  async load(payment: Payment): Promise<Payment> {
    const stored = await this.#store.load(PARTITION, paymentKeyOf(payment.terms.id))
    if (stored === null) throw new Error('the payment is gone')
    return stored
  }

  async resultOf(idempotencyKey: string): Promise<CommandResult | null> {
    return (await this.#store.readIdempotency(PARTITION, recordIdOf(idempotencyKey)))?.result ?? null
  }

  /** When the payment is looked at again (ms); null: never. */
  async wakeUpOf(payment: Payment): Promise<number | null> {
    const lists = [keys.due(PARTITION), keys.reconcile(PARTITION)]
    const scores = await Promise.all(lists.map(list => this.#test.redis.zscore(list, paymentKeyOf(payment.terms.id))))
    const times = scores.flatMap(score => (score === null ? [] : [Number(score)]))
    return times.length === 0 ? null : Math.min(...times)
  }

  /** Commands that are not finished, and letters of those that were given up. */
  async left(): Promise<{ commands: number; letters: number }> {
    const [commands, letters] = await Promise.all([
      this.#test.redis.xlen(keys.commands(PARTITION)),
      this.#test.redis.xlen(keys.deadLetters(PARTITION))
    ])
    return { commands, letters }
  }

  get #store(): PaymentStore {
    return createPaymentStore(unreplicated(this.#test.redis))
  }
}
