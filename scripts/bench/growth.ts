/** What more data costs: memory per finished payment, and the times of GET, list and create, as payments pile up. */
import { randomUUID } from 'node:crypto'
import { newPayment, type Payment } from '../../machines/model.js'
import type { NetworkReferences } from '../../machines/network.js'
import { decide, wakeTimes } from '../../machines/payment/decide.js'
import type { Redis } from '../../redis/connection/connections.js'
import {
  createdAtMs,
  idempotencyRecord,
  keys,
  newPaymentId,
  partitionOf,
  paymentKeyOf,
  shortHash
} from '../../redis/keys.js'
import { createCommitStore } from '../../redis/payments/commits.js'
import { encodeIdempotency } from '../../redis/payments/idempotency.js'
import { INDEX_KEY_MAX, referenceIndex, referencePrefix } from '../../redis/payments/payment-indexes.js'
import { encodePayment } from '../../redis/payments/payment-record.js'
import { readConfig } from '../../runtime/config.js'
import { untilAtRest, untilDiskIsCalm, watchingFsync } from './disk.js'
import { type RequestSource, runOpenLoop } from './load.js'
import { get } from './operations.js'
import { medians } from './statistics.js'
import type { ServiceSystem } from './systems.js'
import { withRedis } from './with-redis.js'

export interface Times {
  readonly p50Ms: number
  readonly p99Ms: number
  /** The longest that Redis waited for its disk meanwhile: all requests wait with it, reads too (ms). */
  readonly slowestFsyncMs: number
}

export interface GrowthRow {
  readonly payments: number
  readonly read: Times
  readonly list: Times
  readonly create: Times
  /** Redis rewrites its append-only file when it has doubled: all data is written once more, beside the work. */
  readonly createDuringRewrite: Times
}

const RATE_PER_SECOND = 200
/** The slowest of a hundred is one of a few: a single measurement of it says little. */
const MEASUREMENTS = 3
const SECONDS = 8
const BATCH = 512

/** Fills the demo merchant up to each of `sizes`, and measures there. */
export async function measureGrowth(
  service: ServiceSystem,
  sizes: readonly number[],
  tell: (line: string) => void
): Promise<GrowthRow[]> {
  const rows: GrowthRow[] = []
  let made: string[] = []
  for (const payments of sizes) {
    const missing = payments - made.length
    made = made.concat(await withRedis(service.redisUrl, redis => fill(redis, service.demo.merchant_id, missing)))
    tell(`growth: ${made.length} payments`)
    const anyId = (index: number): string => made[(index * 7_919) % made.length] ?? ''
    const read: RequestSource = index => get(service, `/v1/payments/${anyId(index)}`)
    const list: RequestSource = index =>
      get(service, `/v1/payments?limit=20&status=${index % 2 ? 'captured' : 'failed'}`)
    const create = (): Promise<RequestSource> => service.prepare(RATE_PER_SECOND * SECONDS)
    await withRedis(service.redisUrl, async redis => {
      await untilAtRest(redis)
      await untilDiskIsCalm(redis)
    })
    rows.push({
      payments,
      read: await timesOf(service, async () => read),
      list: await timesOf(service, async () => list),
      create: await timesOf(service, create),
      createDuringRewrite: await timesOf(service, async () => {
        const source = await create()
        await withRedis(service.redisUrl, async redis => {
          await untilAtRest(redis)
          await redis.bgrewriteaof()
        })
        return source
      })
    })
  }
  return rows
}

/** Medians over several measurements; each has a source of its own. */
async function timesOf(service: ServiceSystem, sourceOf: () => Promise<RequestSource>): Promise<Times> {
  const options = { perSecond: RATE_PER_SECOND, seconds: SECONDS, connections: 64 }
  const results: Times[] = []
  for (let i = 0; i < MEASUREMENTS; i++) {
    const source = await sourceOf()
    const [{ p50Ms, p99Ms }, slowestFsyncMs] = await watchingFsync(service.redisUrl, () =>
      runOpenLoop(service.url, options, source)
    )
    results.push({ p50Ms, p99Ms, slowestFsyncMs })
  }
  return medians(['p50Ms', 'p99Ms', 'slowestFsyncMs'], results)
}

/**
 * Finished payments, written by the service's own encoders and its commit, without HTTP and network: what they leave in
 * Redis is what a payment leaves that came through the API. Answers their ids. `timeOf`: when each was created and ended (ms).
 */
export async function fill(
  redis: Redis,
  merchantId: string,
  count: number,
  timeOf: (index: number) => number = Date.now
): Promise<string[]> {
  const { partitions, ...policy } = readConfig({ SERVICE_ENV: 'test' })
  const partition = partitionOf(merchantId, partitions)
  const commits = createCommitStore(redis)
  const finish = async (payment: Payment): Promise<void> => {
    await writeAccepted(redis, partition, payment)
    const nowMs = payment.terms.createdAtMs
    const decision = decide(payment, { type: 'APPROVED', isCaptured: true, references: references(), nowMs }, policy)
    if (decision.kind === 'refused') throw new Error('unreachable: a pending payment takes an approval')
    await commits.commit(
      { ...decision, nowMs, wake: wakeTimes(decision.payment.progress), ends: null, begins: null },
      partition
    )
  }
  const ids: string[] = []
  for (let at = 0; at < count; at += BATCH) {
    const length = Math.min(BATCH, count - at)
    const batch = Array.from({ length }, (_, index) => newPaymentId(partition, timeOf(at + index)))
    await Promise.all(batch.map(id => finish(acceptedPayment(merchantId, id))))
    ids.push(...batch)
  }
  return ids
}

/** What accept_payment.lua writes, but for the command, which a worker would take. */
async function writeAccepted(redis: Redis, partition: number, payment: Payment): Promise<void> {
  const { id, merchantId, externalReference } = payment.terms
  const paymentKey = paymentKeyOf(id)
  const record = idempotencyRecord(merchantId, payment.progress.operation.idempotencyKey)
  const prefix = referencePrefix(externalReference)
  const [index, bucket = index] = referenceIndex(partition, merchantId, prefix)
  const hasRoom = (await redis.zcard(index)) < INDEX_KEY_MAX
  await redis
    .multi()
    .set(
      keys.idempotency(partition, record),
      encodeIdempotency({ fingerprint: shortHash(id), paymentKey, kind: 'create', result: null })
    )
    .set(keys.payment(partition, paymentKey), encodePayment(payment))
    .zadd(keys.byStatus(partition, merchantId, 'pending'), 0, paymentKey)
    .zadd(hasRoom ? index : bucket, 0, `${prefix}${paymentKey}`)
    .exec()
}

function references(): NetworkReferences {
  return { saleId: randomUUID(), tid: '1120015212969', nsu: '887616', authorizationCode: '376631' }
}

/** A payment as it is just after it was accepted. */
export function acceptedPayment(merchantId: string, id: string): Payment {
  return newPayment(
    {
      id,
      merchantId,
      externalReference: `order-${id}`,
      captureMode: 'auto',
      amountCents: 1_990,
      currency: 'BRL',
      installments: 1,
      statementDescriptor: 'LOJA',
      card: { brand: 'visa', last4: '0060', cardId: null },
      customer: { name: 'Ada Lovelace', email: 'ada@example.com' },
      metadata: { basket: '4711' },
      preauthTtlMs: 7 * 24 * 3_600_000,
      createdAtMs: createdAtMs(id)
    },
    createKeyOf(merchantId, id)
  )
}

/** The Idempotency-Key of such a payment: as long as that of a merchant who takes short ones. */
export function createKeyOf(merchantId: string, id: string): string {
  return idempotencyRecord(merchantId, id)
}
