/**
 * The service in a world: the real code of `api`, `payments`, `timers` and `webhooks` over simulated servers, and a
 * supervisor that starts anew what dies.
 */
import type { PaymentsPort } from '../../api/payments/payments-port.js'
import { createPayments } from '../../api/payments/submit.js'
import type { PaymentArchive } from '../../archive/archive.js'
import { withArchive } from '../../archive/payment-store.js'
import { createCardDeclineStore } from '../../redis/cards/card-declines.js'
import { createCardStore } from '../../redis/cards/cards.js'
import { createCommandQueue } from '../../redis/commands/command-queue.js'
import { listenForReplies } from '../../redis/commands/replies.js'
import { paymentWork } from '../../redis/commands/work-kind.js'
import type { Redis } from '../../redis/connection/connections.js'
import { followClock } from '../../redis/connection/redis-clock.js'
import { createWrites, unreplicated, type Writes } from '../../redis/connection/writes.js'
import { createPaymentLock, type PaymentLock } from '../../redis/locks/payment-lock.js'
import { createNotificationStore } from '../../redis/notifications/notifications.js'
import { createCommitStore } from '../../redis/payments/commits.js'
import { createPaymentStore, type PaymentStore } from '../../redis/payments/payments.js'
import { createReconcilePace } from '../../redis/reconciliation/reconcile-pace.js'
import { createTokenStore } from '../../redis/tokens/tokens.js'
import { createWebhookQueue, deliveryWork } from '../../redis/webhooks/webhook-queue.js'
import { systemClock } from '../../runtime/clock.js'
import { type Config, lockTtlMs } from '../../runtime/config.js'
import { createLogger } from '../../runtime/log.js'
import { startCommandLoop } from '../../workers/command-loop/command-loop.js'
import { createCardData } from '../../workers/payments/card-data.js'
import { isLastDelivery } from '../../workers/payments/dead-letter-command.js'
import { handleCommand } from '../../workers/payments/handle-command.js'
import { repeatNotificationRounds } from '../../workers/payments/notification-rounds.js'
import type { WorkerDeps } from '../../workers/payments/worker-deps.js'
import { createDeliveryHandler, type DeliveryDeps } from '../../workers/webhooks/deliver.js'
import { silentMetrics, unreadMetrics } from '../support/worker-metrics.js'
import { WrittenEvents } from './audit-webhooks.js'
import type { Exchange } from './exchange.js'
import type { Faults } from './faults.js'
import { bookKnownSale, reconcilingNetwork } from './known-sale.js'
import { Receivers } from './receivers.js'
import { asRedis, type ClientRole, RedisClient } from './redis-client.js'
import { RedisServer } from './redis-server.js'
import { careFor } from './restored-data.js'
import { SimulatedArchive } from './simulated-archive.js'
import { runMover } from './simulated-mover.js'
import { SimulatedNetwork } from './simulated-network.js'
import { type InstallationOptions, noLock, openerOfTexts, simulatedConfig } from './simulated-settings.js'
import { runTimers } from './simulated-timers.js'
import { watchedLog } from './watched-log.js'
import { Process, type World } from './world.js'

/** Longer than any trouble of the network, as 72 h are. */
const GIVE_NOTIFICATION_UP_AFTER_MS = 700_000
const WORKER = 'payments.'
/** Has no moved clock: in the test environment each process would read that clock five times a second. */
const ENVIRONMENT = 'live'

export interface Api {
  readonly process: Process
  /** Undefined until it is ready. */
  payments: PaymentsPort | undefined
}

export class Installation {
  readonly config: Config
  readonly durable: RedisServer
  readonly secrets: RedisServer
  readonly network: SimulatedNetwork
  readonly receivers: Receivers
  /** The webhook events that commits have written. */
  readonly written = new WrittenEvents()
  readonly apis: Api[] = []
  /** What workers said at level error: none of it is expected. */
  readonly errors: string[] = []
  readonly #world: World
  readonly faults: Faults
  readonly #mutant: Exchange | null
  readonly isLockless: boolean
  readonly #isReplicated: boolean
  readonly #isTampered: boolean
  /** Null: all payments stay in Redis. */
  readonly archive: SimulatedArchive | null
  /** The durable data came back older (restored-world.ts). */
  hasComeBack = false
  readonly #log = createLogger('simulation', 'silent')
  readonly #living = new Set<Process>()
  #generation = 0
  #workersAwayUntilMs = 0

  constructor(world: World, faults: Faults, mutant: Exchange | null, options: InstallationOptions = {}) {
    const { isLockless = false, hasArchive = false, isReplicated = false, acquirer, settings = {} } = options
    this.#world = world
    this.isLockless = isLockless
    this.#isReplicated = isReplicated
    this.#isTampered = options.isTampered ?? false
    this.config = { ...simulatedConfig(hasArchive), ...settings }
    this.archive = hasArchive ? new SimulatedArchive(world, faults) : null
    this.faults = faults
    this.#mutant = mutant
    const mutate = mutant?.script
    this.durable = new RedisServer(world, {
      name: 'redis',
      isDurable: true,
      hasReplica: faults.failoverLoses > 0,
      ...(mutate === undefined ? {} : { mutate })
    })
    this.secrets = new RedisServer(world, { name: 'secrets', isDurable: false })
    this.network = new SimulatedNetwork(world, faults, acquirer)
    this.receivers = new Receivers(world, faults)
    bookKnownSale(this.network.acquirer, this.durable, this.config.networkMerchantId)
  }

  /** Starts so many processes of each kind; each is started again when it dies, for as long as the world turns. */
  start(counts: { payments: number; api: number; timers: number; webhooks: number; archive?: number }): void {
    for (let i = 0; i < counts.payments; i++) this.#keep(`${WORKER}${i + 1}`, process => this.#runWorker(process))
    for (let i = 0; i < counts.timers; i++)
      this.#keep(`timers.${i + 1}`, process => runTimers(process, this, { environment: ENVIRONMENT, log: this.#log }))
    for (let i = 0; i < counts.webhooks; i++) this.#keep(`webhooks.${i + 1}`, process => this.#runWebhooks(process))
    for (let i = 0; i < counts.api; i++) this.#keep(`api.${i + 1}`, process => this.#runApi(process, i))
    for (let i = 0; i < (counts.archive ?? 0); i++) {
      this.#keep(`archive.${i + 1}`, process =>
        runMover(process, this, {
          world: this.#world,
          log: watchedLog(this.#world, this.errors, this.#isTampered),
          environment: ENVIRONMENT
        })
      )
    }
  }

  /** All workers die, and none is started for so long. */
  sendWorkersAway(forMs: number): void {
    this.#workersAwayUntilMs = this.#world.nowMs + forMs
    for (const process of [...this.#living]) if (process.name.startsWith(WORKER)) process.kill()
  }

  /** Every process that lives. */
  living(): readonly Process[] {
    return [...this.#living]
  }

  connect(process: Process, server: RedisServer, role: ClientRole = 'commands'): Redis {
    return asRedis(new RedisClient(this.#world, this.faults, server, process, role))
  }

  /** The archive as a process uses it. */
  connectArchive(process: Process): PaymentArchive | null {
    const archive = this.archive?.connect(process) ?? null
    return archive === null ? null : (this.#mutant?.archive?.(archive) ?? archive)
  }

  /** The writes of a process over `redis`, as `WAIT_REPLICAS` makes them. */
  writesOf(process: Process, redis: Redis): Writes {
    return this.#isReplicated ? createWrites(redis, this.connect(process, this.durable), 1) : unreplicated(redis)
  }

  #openPayments(process: Process, writes: Writes): PaymentStore {
    const onBroughtBack = (): void => this.#world.note('brought back')
    const parts = { writes, onBroughtBack }
    return withArchive(createPaymentStore(parts.writes), this.connectArchive(process), parts)
  }

  #keep(name: string, run: (process: Process) => Promise<void>): void {
    const process = new Process(`${name}#${++this.#generation}`)
    if (this.faults.clockErrorMaxMs > 0) {
      this.#world.note('clock differs')
      process.clockAheadMs = Math.round((2 * this.#world.random.next() - 1) * this.faults.clockErrorMaxMs)
    }
    this.#living.add(process)
    process.onDeath(() => {
      this.#living.delete(process)
      const awayMs = name.startsWith(WORKER) ? Math.max(0, this.#workersAwayUntilMs - this.#world.nowMs) : 0
      this.#world.after(awayMs + this.#world.random.between(50, 1_500), null, () => this.#keep(name, run))
    })
    this.#world.spawn(process, () => {
      // A process that can't start ends and is started again, as under the supervisor.
      run(process).catch((error: unknown) => {
        this.#world.trace('start failed', String(error))
        process.kill()
      })
    })
  }

  async #runWorker(process: Process): Promise<void> {
    const { config } = this
    const redis = this.connect(process, this.durable)
    const clock = await followClock(redis, ENVIRONMENT)
    const tokens = createTokenStore(this.connect(process, this.secrets))
    const queue = createCommandQueue(redis)
    const writes = this.writesOf(process, redis)
    const network = this.network.connect(process, config)
    const deps: WorkerDeps = {
      payments: this.#openPayments(process, writes),
      commits: createCommitStore(writes),
      queue: {
        ...queue,
        deadLetter: (entry, details) => {
          this.#world.note('dead_lettered', details.reason)
          return queue.deadLetter(entry, details)
        }
      },
      lock: this.#lockOf(process),
      network: reconcilingNetwork(network, redis, { config, clock, log: this.#log, world: this.#world }),
      cardDeclines: createCardDeclineStore(redis, config.partitions),
      cardData: createCardData(tokens, createCardStore(unreplicated(redis), config.partitions), openerOfTexts),
      policy: config,
      unvouchedBeforeMs: () => 0,
      networkRetryMs: config.networkRetryMs,
      deliveriesMax: config.deliveriesMax,
      inspection: { decided: () => undefined },
      clock,
      metrics: unreadMetrics,
      log: watchedLog(this.#world, this.errors, this.#isTampered)
    }
    if (this.hasComeBack) Object.assign(deps, await careFor(deps, writes, config.partitions))
    const used = this.#mutant?.worker?.(deps, network) ?? deps
    await startCommandLoop({
      blocking: this.connect(process, this.durable, 'blocking'),
      redis,
      work: paymentWork,
      partitions: config.partitions,
      consumer: process.name,
      concurrency: config.workerConcurrency,
      heartbeatMs: config.heartbeatMs,
      handle: (entry, stopping) => {
        this.#world.trace('command', () => JSON.stringify(entry))
        return handleCommand(entry, used, stopping)
      },
      isSuspect: entry => isLastDelivery(entry, config.deliveriesMax),
      log: this.#log
    })
    const notifications = createNotificationStore(writes, config.partitions)
    const metrics = { ...unreadMetrics, notificationGivenUp: () => this.#world.note('notification given up') }
    const times = { giveUpAfterMs: GIVE_NOTIFICATION_UP_AFTER_MS, leaseMs: 8_000 }
    const [archive, pace] = [this.connectArchive(process), createReconcilePace(redis, config.reconcilePerSecond)]
    const rounds = { notifications, archive, network, pace, clock, log: this.#log, metrics, ...times }
    void repeatNotificationRounds(rounds, new AbortController().signal)
  }

  async #runWebhooks(process: Process): Promise<void> {
    const { config } = this
    const redis = this.connect(process, this.durable)
    const delaysMs = config.webhookRetryDelaysMs
    const deps: DeliveryDeps = {
      queue: createWebhookQueue(redis, {
        delaysMs,
        undeliverableMax: config.webhookUndeliverableMax,
        onDropped: (merchantId, count) => this.errors.push(`${count} events of ${merchantId} were dropped`),
        now: systemClock.now
      }),
      lock: this.#lockOf(process),
      secrets: { secretOf: ({ salt }) => `whsec_${salt}` },
      sender: this.receivers.connect(process, config.webhookTimeoutMs),
      delaysMs,
      concurrency: config.webhookConcurrency,
      clock: systemClock,
      random: () => this.#world.random.next(),
      metrics: silentMetrics,
      log: watchedLog(this.#world, this.errors, this.#isTampered)
    }
    const used = this.#mutant?.webhooks?.(deps) ?? deps
    await startCommandLoop({
      blocking: this.connect(process, this.durable, 'blocking'),
      redis,
      work: deliveryWork,
      partitions: config.partitions,
      consumer: process.name,
      concurrency: 16 * config.webhookConcurrency,
      heartbeatMs: config.heartbeatMs,
      handle: createDeliveryHandler(used, new AbortController().signal),
      log: this.#log
    })
  }

  #lockOf(process: Process): PaymentLock {
    if (this.isLockless) return noLock
    return createPaymentLock([this.connect(process, this.secrets, 'lock')], lockTtlMs(this.config), this.#log)
  }

  async #runApi(process: Process, slot: number): Promise<void> {
    const api: Api = { process, payments: undefined }
    this.apis[slot] = api
    const redis = this.connect(process, this.durable)
    const subscriber = this.connect(process, this.durable, 'subscriber')
    api.payments = createPayments({
      config: this.config,
      clock: await followClock(redis, ENVIRONMENT),
      store: this.#openPayments(process, this.writesOf(process, redis)),
      tokens: createTokenStore(this.connect(process, this.secrets)),
      cards: createCardStore(unreplicated(redis), this.config.partitions),
      cardDeclines: createCardDeclineStore(redis, this.config.partitions),
      sealer: { sealCard: card => JSON.stringify(card), sealTyped: card => JSON.stringify(card), sealCvv: cvv => cvv },
      replies: await listenForReplies(subscriber, process.name),
      backlog: { ageMs: () => 0 }
    })
  }
}
