/** The delivery of webhooks in the test's own process: real Redis, real HTTPS, a clock that the test moves. */
import { randomBytes } from 'node:crypto'
import { newPayment, type Operation, type PaymentStatus } from '../../machines/model.js'
import type { EventTerms, StatusChange } from '../../machines/status-change.js'
import { connect, disconnect, type Redis } from '../../redis/connection/connections.js'
import { unreplicated } from '../../redis/connection/writes.js'
import { keys, newPaymentId, partitionOfPayment, paymentKeyOf } from '../../redis/keys.js'
import { createPaymentLock } from '../../redis/locks/payment-lock.js'
import { encodePayment } from '../../redis/payments/payment-record.js'
import { createPaymentStore } from '../../redis/payments/payments.js'
import { FORMAT } from '../../redis/stored-fields.js'
import { decodeLineMember } from '../../redis/webhooks/delivery-entry.js'
import { createWebhookEndpointStore, type WebhookEndpoint } from '../../redis/webhooks/webhook-endpoints.js'
import {
  decodeConcluded,
  decodeQueued,
  encodeWaiting,
  type QueuedEvent,
  type TriedEvent
} from '../../redis/webhooks/webhook-event.js'
import { WebhookLog } from '../../redis/webhooks/webhook-log.js'
import { createWebhookQueue, deliveryWork, type WebhookQueue } from '../../redis/webhooks/webhook-queue.js'
import { createEgressPolicy } from '../../runtime/egress-policy.js'
import { createLogger, type Logger } from '../../runtime/log.js'
import { startCommandLoop } from '../../workers/command-loop/command-loop.js'
import { deliveryRound } from '../../workers/timers/rounds.js'
import { createDeliveryHandler } from '../../workers/webhooks/deliver.js'
import { createSender } from '../../workers/webhooks/sender.js'
import type { WebhookMetrics } from '../../workers/webhooks/webhooks-metrics.js'
import { until } from './conditions.js'
import { someTerms } from './payments.js'
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
  readonly stop: () => Promise<void>
}

export interface DelivererOptions {
  readonly clock?: { now(): number }
  /** Gaps between attempts. */
  readonly delaysMs?: readonly number[]
  readonly concurrency?: number
  /** Events that the process works on at the same time. */
  readonly slots?: number
  readonly metrics?: Partial<WebhookMetrics>
  readonly timeoutMs?: number
  readonly allowedNetworks?: readonly string[]
  readonly log?: Logger
  /** Aborts when the process awaits no answers any more. */
  readonly interrupted?: AbortSignal
  /** Puts something between the delivery and its queue. */
  readonly wrap?: (queue: WebhookQueue) => WebhookQueue
}

/** Longer than any pause of the machine. */
const LOCK_TTL_MS = 10_000

/** The first gaps of life. */
const PLAIN_DELAYS_MS = [5_000, 30_000, 120_000]
/** In the middle of the jitter of gaps. */
const PLAIN_RANDOM = 0.5

const silent = createLogger('webhooks', 'silent')
export const noMetrics: WebhookMetrics = {
  attempted: () => undefined,
  failed: () => undefined,
  gaveUp: () => undefined,
  dropped: () => undefined
}

/** A queue that keeps what is given up and says nothing about what it drops. */
export const plainQueue = {
  /** With jitter, four days. */
  delaysMs: [80 * 3_600_000],
  undeliverableMax: 100_000,
  onDropped: () => undefined
}

/** A process `webhooks`, and of `timers` what concerns it. */
export async function startDeliverer(test: TestRedis, options: DelivererOptions = {}): Promise<Deliverer> {
  const { log = silent, delaysMs = PLAIN_DELAYS_MS, wrap = queue => queue } = options
  const [redis, blocking] = [await connect(test.url, 'commands', log), await connect(test.url, 'blocking', log)]
  const clock = options.clock ?? { now: () => Date.now() }
  const { ca } = await receiverTls()
  const policy = createEgressPolicy(options.allowedNetworks ?? ['127.0.0.0/8'])
  const sender = createSender({ policy, timeoutMs: options.timeoutMs ?? 5_000, ca, clock })
  const deps = {
    queue: wrap(createWebhookQueue(redis, { ...plainQueue, delaysMs, now: clock.now })),
    lock: createPaymentLock([test.secrets], LOCK_TTL_MS, log),
    secrets: { secretOf },
    sender,
    delaysMs,
    concurrency: options.concurrency ?? 64,
    clock,
    random: () => PLAIN_RANDOM,
    metrics: { ...noMetrics, ...options.metrics },
    log
  }
  const loop = await startCommandLoop({
    blocking,
    redis,
    work: deliveryWork,
    partitions: PARTITIONS,
    consumer: randomBytes(6).toString('hex'),
    concurrency: options.slots ?? 1_000,
    leaveMs: 500,
    heartbeatMs: 100,
    handle: createDeliveryHandler(deps, options.interrupted ?? new AbortController().signal),
    log
  })
  let round = Promise.resolve(0)
  const timers = setInterval(() => {
    round = round.then(() => deliveryRound(redis, PARTITIONS, clock.now()))
  }, 20)
  const stop = async (): Promise<void> => {
    clearInterval(timers)
    await round
    await loop.stop()
    await sender.close()
    await Promise.all([disconnect(redis), disconnect(blocking)])
  }
  return { stop }
}

/** A secret that follows from the seed alone. */
export function secretOf(seed: { readonly salt: string }): string {
  return `whsec_${seed.salt}`
}

export async function registerEndpoint(test: TestRedis, merchantId: string, url: string): Promise<WebhookEndpoint> {
  const store = createWebhookEndpointStore(unreplicated(test.redis), PARTITIONS)
  return store.register({ merchantId, url, isRotation: false, keyId: 'k1', nowMs: START_MS })
}

/** An event that waits, as append_event.lua stores it. */
export function storedWaiting(
  change: StatusChange,
  terms: EventTerms,
  { traceparent = null, sinceMs = START_MS }: { traceparent?: string | null; sinceMs?: number } = {}
): string {
  const { about, event } = encodeWaiting(change, terms, { paymentKey: '', merchantId: '' }, traceparent)
  return `[${FORMAT},${sinceMs},${about},${event}]`
}

/** Of events that are not about operations. */
const AN_OPERATION: Operation = {
  kind: 'authorization',
  state: 'succeeded',
  amountCents: 1_000,
  idempotencyKey: 'a key'
}

/** A change of status that tests can tell from others. */
export function aChange(of: Pick<StatusChange, 'paymentId'> & Partial<StatusChange>): StatusChange {
  const figures = { authorizedCents: null, capturedCents: 0, refundedCents: 0, refunds: [] }
  const outcome = { operation: AN_OPERATION, error: null, rejectionCode: null }
  return { version: 2, status: 'captured', occurredAtMs: START_MS, ...figures, ...outcome, ...of }
}

/** The log of an installation without an archive. */
export function eventLogOf(redis: Redis, partitions: number): WebhookLog {
  return new WebhookLog(redis, partitions, createPaymentStore(unreplicated(redis)))
}

/** Stores a payment with status changes that are to be delivered, as commits do. Returns the payment's id. */
export async function emit(
  test: Pick<TestRedis, 'redis'>,
  merchantId: string,
  statuses: readonly PaymentStatus[],
  paymentId = newPaymentId(PARTITION, Date.now()),
  { firstVersion = 2, sinceMs = START_MS, partitions = PARTITIONS, externalReference = 'order-1' } = {}
): Promise<string> {
  const partition = partitionOfPayment(paymentId)
  const terms = someTerms({ id: paymentId, merchantId, externalReference, amountCents: 1_000 })
  await test.redis.set(keys.payment(partition, paymentKeyOf(paymentId)), encodePayment(newPayment(terms, 'a key')))
  const changes = statuses.map((status, index) => aChange({ paymentId, status, version: index + firstVersion }))
  await eventLogOf(test.redis, partitions).append(
    merchantId,
    changes.map(change => ({ change })),
    sinceMs
  )
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
  /** What was given up or delivered, with its attempts. */
  concluded(merchantId: string): Promise<TriedEvent[]>
  /** The first waiting event of each payment. */
  waiting(merchantId: string): Promise<(QueuedEvent & { readonly dueMs: number })[]>
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
  const given = async (merchantId: string): Promise<TriedEvent[]> =>
    (await test.redis.zrange(keys.webhookUndeliverable(PARTITION, merchantId), '0', '-1')).map(decodeConcluded)
  return {
    test,
    advance: ms => {
      nowMs += ms
    },
    receiver: (...given) => kept(startReceiver(...given)),
    deliverer: (options = {}) => kept(startDeliverer(test, { clock: { now: () => nowMs }, ...options })),
    noneRemains: merchantId =>
      until('nothing remains', async () => {
        const lists = await test.redis.keys(keys.webhookEvents(PARTITION, '*'))
        if (lists.length === 0) return true
        const payments = lists.map(list => keys.payment(PARTITION, list.slice(-26)))
        return (await test.redis.mget(payments)).every(record => !record?.includes(`"${merchantId}"`))
      }),
    undeliverable: async merchantId => (await given(merchantId)).map(({ change }) => change),
    concluded: async merchantId => {
      const sent = await test.redis.xrange(keys.webhookJournal(PARTITION, merchantId), '-', '+')
      return [...(await given(merchantId)), ...sent.map(([, [, text = '']]) => decodeConcluded(text))]
    },
    waiting: async merchantId => {
      const line = keys.webhookLine(PARTITION, merchantId)
      const members = (await test.redis.zrange(line, '0', '-1', 'WITHSCORES')).map(String)
      const firsts = members.map(async (member, at) => {
        if (at % 2 === 1) return []
        const { paymentKey } = decodeLineMember(member)
        const stored = await test.redis.lindex(keys.webhookEvents(PARTITION, paymentKey), 0)
        return stored === null ? [] : [{ ...decodeQueued(stored), dueMs: Number(members[at + 1]) }]
      })
      return (await Promise.all(firsts)).flat()
    }
  }
}
