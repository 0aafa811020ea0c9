/** The delivery of webhooks in the test's own process: real Redis, real HTTPS, a clock that the test moves. */
import { randomBytes } from 'node:crypto'
import type { Operation, PaymentStatus } from '../../machines/model.js'
import type { RetryPolicy } from '../../machines/webhook-schedule.js'
import { connect, disconnect } from '../../redis/connections.js'
import { compactId, keys, newPaymentId, partitionOfPayment } from '../../redis/keys.js'
import { createPartitionLeases } from '../../redis/partition-leases.js'
import { WebhookArchive } from '../../redis/webhook-archive.js'
import { createWebhookEndpointStore, type WebhookEndpoint } from '../../redis/webhook-endpoints.js'
import { decodeChange, encodeEvent, type StatusChange } from '../../redis/webhook-event.js'
import { createWebhookQueue, type WebhookQueue } from '../../redis/webhook-queue.js'
import { decodeRecord, type LoggedAttempt, type QueuedEvent } from '../../redis/webhook-record.js'
import { createWebhookSwitches } from '../../redis/webhook-switches.js'
import { createLogger, type Logger } from '../../runtime/log.js'
import { createNetworkPolicy } from '../../runtime/network-policy.js'
import { startWebhookDelivery, type WebhookDelivery } from '../../workers/webhooks/delivery.js'
import { createSender } from '../../workers/webhooks/sender.js'
import { until } from './conditions.js'
import { type Receiver, receiverTls, startReceiver } from './receiver.js'
import { type TestRedis, useRedis } from './redis.js'

export const PARTITIONS = 1
export const PARTITION = 0
export const START_MS = Date.UTC(2026, 0, 2, 12)

/** Settings that the system tests of webhooks share, and with them one running service. */
export const SERVICE_SETTINGS = {
  HEARTBEAT_MS: '300',
  TAKEOVER_AFTER_MS: '1500',
  WEBHOOK_POLL_MS: '50',
  WEBHOOK_RETRY_DELAYS_MS: '500,500,2000,5000,5000,5000',
  RECONCILE_DELAYS_MS: '200',
  NOT_FOUND_HORIZON_MS: '60000'
} as const

/** One delivering process. */
export interface Deliverer {
  readonly delivery: WebhookDelivery
  readonly stop: () => Promise<void>
}

export interface DelivererOptions {
  readonly clock?: { now(): number }
  readonly retries?: RetryPolicy
  readonly leaseMs?: number
  readonly concurrency?: number
  readonly timeoutMs?: number
  readonly allowedNetworks?: readonly string[]
  readonly log?: Logger
  /** Puts something between the delivery and its queue. */
  readonly wrap?: (queue: WebhookQueue) => WebhookQueue
}

/** The same gaps as in life, without jitter. */
const plainRetries: RetryPolicy = { delaysMs: [5_000, 30_000, 120_000], jitter: 0 }

const silent = createLogger('webhooks', 'silent')
const noMetrics = {
  attempted: () => undefined,
  gaveUp: () => undefined,
  dropped: () => undefined,
  forgot: () => undefined
}

/** A queue that keeps what is given up and says nothing about what it drops. */
export const plainQueue = {
  retentionMs: 30 * 24 * 3_600_000,
  undeliverableAgeMaxMs: 34 * 24 * 3_600_000,
  undeliverableMax: 100_000,
  onUnreadable: () => undefined,
  onDropped: () => undefined
}

export async function startDeliverer(test: TestRedis, options: DelivererOptions = {}): Promise<Deliverer> {
  const { log = silent } = options
  const [redis, blocking] = [await connect(test.url, 'commands', log), await connect(test.url, 'blocking', log)]
  const owner = randomBytes(6).toString('hex')
  const clock = options.clock ?? { now: () => Date.now() }
  // Long, so that no pause of the machine takes it away: what is sent once more by a new holder would be counted.
  const leaseMs = options.leaseMs ?? 10_000
  const timeoutMs = options.timeoutMs ?? 5_000
  const { ca } = await receiverTls()
  const wrap = options.wrap ?? (queue => queue)
  const delivery = await startWebhookDelivery({
    deps: {
      queue: wrap(createWebhookQueue(redis, blocking, { ...plainQueue, now: clock.now })),
      endpoints: createWebhookEndpointStore(redis, PARTITIONS),
      switches: createWebhookSwitches(redis, PARTITIONS),
      secrets: { secretOf },
      sender: createSender({
        policy: createNetworkPolicy(options.allowedNetworks ?? ['127.0.0.0/8']),
        timeoutMs,
        ca
      }),
      retries: options.retries ?? plainRetries,
      concurrency: options.concurrency ?? 64,
      clock,
      random: () => 0.5,
      metrics: noMetrics,
      log
    },
    leases: createPartitionLeases(redis, owner, leaseMs),
    owner,
    partitions: PARTITIONS,
    heartbeatMs: Math.min(100, leaseMs / 2),
    leaseMs,
    pollMs: 20
  })
  const stop = async (): Promise<void> => {
    await delivery.stop()
    await Promise.all([disconnect(redis), disconnect(blocking)])
  }
  return { delivery, stop }
}

/** A secret that follows from the seed alone. */
export function secretOf(seed: { readonly salt: string }): string {
  return `whsec_${seed.salt}`
}

export async function registerEndpoint(test: TestRedis, merchantId: string, url: string): Promise<WebhookEndpoint> {
  const store = createWebhookEndpointStore(test.redis, PARTITIONS)
  return store.register({ merchantId, url, isRotation: false, keyId: 'k1', nowMs: START_MS })
}

/** Of events that are not about operations. */
export const AN_OPERATION: Operation = {
  kind: 'authorization',
  state: 'succeeded',
  amountCents: 1_000,
  idempotencyKey: 'a key'
}

/** Writes status changes of one payment into the outbox, as commits do. Returns the payment's id. */
export async function emit(
  test: Pick<TestRedis, 'redis'>,
  merchantId: string,
  statuses: readonly PaymentStatus[],
  paymentId = newPaymentId(PARTITION, Date.now()),
  firstVersion = 2
): Promise<string> {
  const outbox = keys.outbox(partitionOfPayment(paymentId))
  const pipeline = test.redis.pipeline()
  statuses.forEach((status, index) => {
    const figures = { status, capturedCents: 0, refundedCents: 0, operation: AN_OPERATION }
    const version = index + firstVersion
    const change = { paymentId, version, occurredAtMs: START_MS, ...figures }
    const body = encodeEvent(change, { externalReference: 'order-1', amountCents: 1_000 })
    const fields = ['m', merchantId, 'p', compactId(paymentId), 'v', version, 'e', body]
    pipeline.xadd(outbox, '*', ...fields)
  })
  await pipeline.exec()
  return paymentId
}

/** What the tests of one `describe` work with; everything they start is stopped after each test. */
export interface DeliveryRig {
  readonly test: TestRedis
  /** Moves the clock of all deliverers. */
  advance(ms: number): void
  receiver(...given: Parameters<typeof startReceiver>): Promise<Receiver>
  deliverer(options?: DelivererOptions): Promise<Deliverer>
  /** Resolves when nothing of the merchant is fresh or waiting any more. */
  noneRemains(merchantId: string): Promise<unknown>
  undeliverable(merchantId: string): Promise<StatusChange[]>
  /** The last attempts, newest first. */
  attempts(merchantId: string): Promise<LoggedAttempt[]>
  /** The heads of the waiting lines. */
  waiting(merchantId: string): Promise<QueuedEvent[]>
}

/** Call it inside a `describe`. */
export function useDelivery(): DeliveryRig {
  const test = useRedis()
  const stops: (() => Promise<void>)[] = []
  let nowMs = START_MS
  beforeEach(async () => {
    nowMs = START_MS
    await test.redis.flushdb()
  })
  afterEach(async () => {
    for (const stop of stops.splice(0).reverse()) await stop()
  })
  const kept = async <T extends { stop: () => Promise<void> }>(starting: Promise<T>): Promise<T> => {
    const started = await starting
    stops.push(() => started.stop())
    return started
  }
  const records = async (key: string): Promise<string[]> => Object.values(await test.redis.hgetall(key))
  return {
    test,
    advance: ms => {
      nowMs += ms
    },
    receiver: (...given) => kept(startReceiver(...given)),
    deliverer: (options = {}) => kept(startDeliverer(test, { clock: { now: () => nowMs }, ...options })),
    noneRemains: merchantId =>
      until('nothing remains', async () => {
        const waiting = await test.redis.hlen(keys.webhookWaiting(PARTITION, merchantId))
        return waiting + (await test.redis.xlen(keys.outbox(PARTITION))) === 0
      }),
    undeliverable: async merchantId =>
      (await test.redis.zrange(keys.webhookUndeliverable(PARTITION, merchantId), '0', '-1')).map(decodeChange),
    attempts: merchantId => new WebhookArchive(test.redis, PARTITIONS).attempts(merchantId, 100),
    waiting: async merchantId =>
      (await records(keys.webhookWaiting(PARTITION, merchantId))).map(line =>
        decodeRecord(line.split('\n')[0] ?? '', 'waiting')
      )
  }
}
