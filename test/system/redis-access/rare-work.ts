/**
 * What processes do rarely with Redis: at the first start of an installation, after deaths and failovers, with full lists
 * and with an archive. The test of their rights does it by hand, as the user of the process.
 */
import { Registry } from 'prom-client'
import { testChange } from '../../../machines/status-change.js'
import { WAITING_MAX } from '../../../machines/webhook-delivery.js'
import type { StreamEntry } from '../../../redis/commands/command-entry.js'
import { createCommandQueue, deadLetterCommand, requeueEntry } from '../../../redis/commands/command-queue.js'
import { ensureGroups, heldEntries, readCommands } from '../../../redis/commands/read-commands.js'
import { paymentWork, type WorkKind } from '../../../redis/commands/work-kind.js'
import type { Redis } from '../../../redis/connection/connections.js'
import { followClock } from '../../../redis/connection/redis-clock.js'
import { RedisUnavailable } from '../../../redis/connection/redis-errors.js'
import { createWrites, unreplicated } from '../../../redis/connection/writes.js'
import { acceptedAs, type Vouch } from '../../../redis/installation/epochs.js'
import { claimInstallation, tieMemoryOnly } from '../../../redis/installation/installation.js'
import { lastCommandMs, readPartition, writeVouch } from '../../../redis/installation/partition-data.js'
import { endUnvouched, forgetCompared, someUnvouched } from '../../../redis/installation/unvouched-payments.js'
import { keys, paymentKeyOf } from '../../../redis/keys.js'
import { createPaymentLock, deliveryLock } from '../../../redis/locks/payment-lock.js'
import { MerchantStore } from '../../../redis/merchants/merchants.js'
import { createInspection, watchDecisions } from '../../../redis/operator/inspection.js'
import { restorePayment } from '../../../redis/payments/archive-moves.js'
import { createCommitStore } from '../../../redis/payments/commits.js'
import { encodeIdempotency } from '../../../redis/payments/idempotency.js'
import { createPaymentStore } from '../../../redis/payments/payments.js'
import { defineNamedScript } from '../../../redis/scripts.js'
import { createTokenStore } from '../../../redis/tokens/tokens.js'
import { encodeDelivery } from '../../../redis/webhooks/delivery-entry.js'
import { encodeConcluded, loggedEvent } from '../../../redis/webhooks/webhook-event.js'
import { createWebhookQueue, deliveryWork } from '../../../redis/webhooks/webhook-queue.js'
import { delay } from '../../../runtime/delay.js'
import { createLogger } from '../../../runtime/log.js'
import { createArchiveMetrics } from '../../../workers/archive/archive-metrics.js'
import { moveRound } from '../../../workers/archive/mover.js'
import { sweepRound } from '../../../workers/timers/rounds.js'
import { aToken } from '../../support/cards.js'
import { moveTo, storePayment } from '../../support/listed-payments.js'
import { MemoryArchive } from '../../support/memory-archive.js'
import { anAcceptance, anEntry, aPayment, CREATED_MS, DAY_MS, MERCHANT, PARTITION } from '../../support/payments.js'
import { eventLogOf, plainQueue } from '../../support/webhooks.js'

const log = createLogger('test', 'silent')
/** With so many, the merchant of the tests is in `PARTITION`. */
const PARTITIONS = 5

/** `redis`: as the user. `admin`: may do everything, for what must be there before. */
type Work = (redis: Redis, admin: Redis) => Promise<unknown>

export interface RareWork {
  readonly user: string
  readonly server: 'durable' | 'memoryOnly'
  readonly what: string
  readonly work: Work
}

/** The first process of a new installation writes what it is. */
const claim: Work = async (redis, admin) => {
  await admin.del(keys.installation())
  await claimInstallation(redis, { environment: 'test', partitions: PARTITIONS, installationId: '' })
}

const tie: Work = async (redis, admin) => {
  await admin.del(keys.installation())
  await tieMemoryOnly(redis, { environment: 'test', partitions: PARTITIONS, id: 'i' })
}

/** With `WAIT_REPLICAS`; these servers have none, so the write is not confirmed. */
const waitFor =
  (key: string): Work =>
  redis => {
    const read = (node: Redis): Promise<unknown> => node.time()
    return createWrites(redis, redis, 1).run(key, read).catch(rejectUnlessUnconfirmed)
  }

function rejectUnlessUnconfirmed(error: unknown): void {
  if (!(error instanceof RedisUnavailable)) throw error
}

/** As many events of a payment wait as may. */
async function fillEvents(admin: Redis, paymentId: string): Promise<void> {
  const list = keys.webhookEvents(PARTITION, paymentKeyOf(paymentId))
  await admin.rpush(list, ...Array<string>(WAITING_MAX).fill('1 x y'))
}

const replay: Work = async (redis, admin) => {
  const change = testChange(aPayment().terms.id, Date.now())
  await fillEvents(admin, change.paymentId)
  const listed = encodeConcluded({ change, attempts: [] })
  await admin.zadd(keys.webhookUndeliverable(PARTITION, MERCHANT), change.occurredAtMs, listed)
  const again = { ...loggedEvent(MERCHANT, 'undeliverable', change), listed } as const
  await eventLogOf(redis, PARTITIONS).replay(again)
  await admin.ltrim(keys.webhookEvents(PARTITION, paymentKeyOf(change.paymentId)), 0, 1)
  await eventLogOf(redis, PARTITIONS).replay(again)
}

const restore: Work = async (redis, admin) => {
  const payment = await storePayment(admin, { atMs: Date.now(), status: 'captured', saleId: 's' })
  await admin.del(keys.payment(PARTITION, paymentKeyOf(payment.terms.id)))
  const progress = { ...payment.progress, references: { ...payment.progress.references, saleId: 's' } }
  await restorePayment(unreplicated(redis), { ...payment, version: 9, progress }, Date.now())
}

const move: Work = async (redis, admin) => {
  const index = [keys.byStatus(PARTITION, MERCHANT, 'captured'), keys.byStatus(PARTITION, MERCHANT, 'pending')]
  await admin.del(...index)
  const payment = await storePayment(admin, { atMs: CREATED_MS, externalReference: 'moved' })
  const operation = { ...payment.progress.operation, state: 'succeeded' as const }
  await moveTo(admin, { ...payment, progress: { ...payment.progress, operation } }, 'captured', 'a sale')
  await storePayment(admin, { atMs: CREATED_MS })
  await new MerchantStore(redis, 'test').listIds()
  const clock = await followClock(redis, 'test')
  clock.stop()
  const late = { now: () => CREATED_MS + 100 * DAY_MS }
  const archive = new MemoryArchive()
  const deps = { writes: unreplicated(redis), archive, merchantIds: async () => [MERCHANT], log, clock: late }
  const pace = { partitions: PARTITIONS, afterMs: DAY_MS, perSecond: 1_000 }
  const metrics = createArchiveMetrics(late, new Registry())
  await moveRound({ ...deps, ...pace, metrics }, new AbortController().signal)
  if (archive.rows.size === 0) throw new Error('Nothing moved.')
}

/** An event for an endpoint that as many events of the payment wait for as may. */
const commitBehindOthers: Work = async (redis, admin) => {
  const payment = await storePayment(admin, { atMs: Date.now() })
  await admin.set(keys.webhookEndpoint(PARTITION, MERCHANT), '{}')
  await fillEvents(admin, payment.terms.id)
  const wake = { expiryAtMs: null, reconcileAtMs: null }
  const others = { statusBefore: 'pending' as const, wake, operationResult: null, nowMs: 1, ends: null, begins: null }
  const progress = { ...payment.progress, status: 'captured' as const }
  await createCommitStore(unreplicated(redis)).commit(
    { payment: { ...payment, version: 2, progress }, ...others },
    PARTITION
  )
}

/** The first event of a payment is damaged. */
const setAside: Work = async (redis, admin) => {
  await ensureGroups(admin, PARTITIONS, deliveryWork)
  const paymentKey = paymentKeyOf(aPayment().terms.id)
  await admin.rpush(keys.webhookEvents(PARTITION, paymentKey), 'damaged', 'another')
  await admin.xadd(keys.deliveries(PARTITION), '*', ...encodeDelivery({ paymentKey, merchantId: 'm', kind: 'deliver' }))
  const { entries } = await readCommands(admin, deliveryWork, 'worker', [PARTITION], 9)
  const entry = entries.find(found => found.paymentKey === paymentKey)
  if (entry === undefined) throw new Error('There is no delivery.')
  const queue = createWebhookQueue(redis, { ...plainQueue, now: () => 1 })
  const first = await queue.first(entry)
  if (first === null) throw new Error('There is no event.')
  await queue.conclude(entry, first, {
    decide: failing => ({ event: 'set aside', failing }),
    attempt: null,
    room: 0
  })
}

/** What was delivered to a worker and did not arrive. */
const findLost =
  <E extends StreamEntry>(kind: WorkKind<E>): Work =>
  async (redis, admin) => {
    await deliver(admin, kind)
    await heldEntries(redis, kind, PARTITION, 'worker', { idleMs: 0, max: 9 })
  }

/** A worker that stops, or one that died, has an entry. */
const giveBack =
  <E extends StreamEntry>(kind: WorkKind<E>): Work =>
  async (redis, admin) => {
    const entryId = await deliver(admin, kind)
    await requeueEntry(redis, kind, {
      partition: PARTITION,
      entryId,
      consumer: 'worker',
      delivery: null,
      fields: ['no', 'command']
    })
  }

/** A worker that has begun a command, and has sent nothing. */
const release: Work = async (redis, admin) => {
  await storePayment(admin, { atMs: Date.now() })
  await ensureGroups(admin, PARTITIONS, paymentWork)
  const { entries } = await readCommands(admin, paymentWork, 'worker', [PARTITION], 9)
  for (const entry of entries) {
    await createCommitStore(unreplicated(redis)).begin(entry, 1)
    await createCommandQueue(redis).release(entry)
  }
}

/** A command without an owner, and a new payment that was begun, with a dead worker. */
const sweep: Work = async (redis, admin) => {
  await deliver(admin, paymentWork)
  await admin.xgroup('DELCONSUMER', paymentWork.stream(PARTITION), paymentWork.group, 'worker')
  await sweepRound(redis, paymentWork, PARTITIONS)
  await paymentWork.isBegun(redis, anEntry(aPayment()))
}

/** A request whose command may be lost. */
const acceptAgain: Work = async (redis, admin) => {
  const payment = await storePayment(admin, { atMs: Date.now() })
  const command = { kind: 'capture', amountCents: null } as const
  const request = { payment, command, refusal: null, isKnown: false }
  const store = createPaymentStore(unreplicated(redis))
  for (const retentionMs of [60_000, 600_000]) await store.acceptOperation(request, anAcceptance(), retentionMs)
}

/** Resolves to the id of an entry that a worker has. */
async function deliver<E extends StreamEntry>(admin: Redis, kind: WorkKind<E>): Promise<string> {
  await ensureGroups(admin, PARTITIONS, kind)
  const entryId = await admin.xadd(kind.stream(PARTITION), '*', 'no', 'command')
  await readCommands(admin, kind, 'worker', [PARTITION], 9)
  return entryId ?? ''
}

/** A command that changes nothing, before an effect and at its end. */
const endCommand: Work = async redis => {
  const entry = anEntry(aPayment())
  await createCommitStore(createWrites(redis, redis, 1))
    .begin(entry, 1)
    .catch(rejectUnlessUnconfirmed)
  await createCommitStore(unreplicated(redis)).finish(entry)
}

/** A command of a payment that is woken later, or that is damaged, with a request that was not begun. */
const setCommandAside: Work = async (redis, admin) => {
  const record = { fingerprint: 'f', paymentKey: 'p', kind: 'cancel', result: null } as const
  for (const wakeAtMs of [1, 'never'] as const) {
    const entryId = await deliver(admin, paymentWork)
    const entry = {
      ...anEntry(aPayment()),
      partition: PARTITION,
      entryId,
      consumer: 'worker',
      idempotencyRecordId: 'request'
    }
    await admin.set(keys.idempotency(PARTITION, 'request'), encodeIdempotency(record))
    const result = { kind: 'failed', code: 'network_unavailable' } as const
    const isMoved = await deadLetterCommand(redis, entry, { reason: 'why', nowMs: 1, wakeAtMs, result })
    if (!isMoved) throw new Error('the command was not with its worker')
  }
}

/** A server that restarted has no scripts; a long call renews its lock. */
const holdLock: Work = async (redis, admin) => {
  await admin.script('FLUSH')
  const lock = createPaymentLock([redis], 200, log)
  await lock.withLock(deliveryLock('x'), () => delay(300))
}

const dropConsumer: Work = async (redis, admin) => {
  const stream = keys.commands(PARTITION)
  await ensureGroups(admin, PARTITIONS, paymentWork)
  await admin.xgroup('CREATECONSUMER', stream, paymentWork.group, 'dead')
  const drop = defineNamedScript<{ keys: 'stream'; given: { group: string; consumer: string } }>('drop_consumer')
  await drop(redis, { stream }, { group: paymentWork.group, consumer: 'dead' })
}

/** Data that nothing vouches for: a hold and a new payment are marked, compared and forgotten. */
const unvouch: Work = async (redis, admin) => {
  const payment = await storePayment(admin, { atMs: Date.now() })
  const member = paymentKeyOf(payment.terms.id)
  await admin.zadd(keys.reconcile(PARTITION), 1, member)
  await admin.zadd(keys.due(PARTITION), 1, 'hold')
  const data = await readPartition(redis, PARTITION)
  const unvouched = { ...acceptedAs(data.vouch ?? NOTHING, { count: 1, serverId: 's' }, 1) }
  await writeVouch(redis, PARTITION, data, unvouched, 1)
  await lastCommandMs(redis, PARTITION)
  const writes = unreplicated(redis)
  await forgetCompared(writes, PARTITION, await someUnvouched(writes, PARTITION))
  await endUnvouched(writes, PARTITION)
}

const NOTHING: Vouch = { standing: 'vouched', epochs: [], acceptedEpoch: 0, unvouchedBeforeMs: 0, missing: null }

const publishDecision: Work = async (redis, admin) => {
  await admin.set(keys.inspector(), '1', 'PX', 5_000)
  const stop = new AbortController()
  const inspection = createInspection(redis, 'payments 1', log, stop.signal)
  const refused = { kind: 'refused', code: 'invalid_state' } as const
  for (let tries = 0; tries < 20; tries++) {
    await delay(10)
    inspection.decided(aPayment(), { type: 'EXPIRE', nowMs: 1 } as never, refused as never)
  }
  stop.abort()
}

const inspect: Work = async redis => {
  const watching = await watchDecisions(redis, redis, () => undefined)
  await watching.stop()
}

const giveTokenBack: Work = async (redis, admin) => {
  const [tokens, token] = [createTokenStore(redis), aToken()]
  await createTokenStore(admin).put(token, 60_000)
  await tokens.claim(token.tokenId, token.merchantId, 'owner')
  await tokens.release(token.tokenId, 'owner')
}

const durable = (what: string, users: readonly string[], work: Work): RareWork[] =>
  users.map(user => ({ user, server: 'durable', what, work }))

const memoryOnly = (what: string, users: readonly string[], work: Work): RareWork[] =>
  users.map(user => ({ user, server: 'memoryOnly', what, work }))

export const rareWork: readonly RareWork[] = [
  ...durable('claim a new installation', ['api', 'notifications', 'payments', 'timers', 'webhooks', 'archive'], claim),
  ...durable('wait for replicas', ['api', 'payments', 'archive'], waitFor(keys.commands(PARTITION))),
  ...durable('wait for replicas', ['notifications'], waitFor(keys.notifications())),
  ...durable('replay an event behind as many others as may wait, then behind fewer', ['api'], replay),
  ...durable('bring a payment back from the archive', ['api', 'payments'], restore),
  ...durable('move payments to the archive', ['archive'], move),
  ...durable('commit an event behind as many others as may wait', ['payments'], commitBehindOthers),
  ...durable('find lost commands', ['payments'], findLost(paymentWork)),
  ...durable('find lost commands', ['webhooks'], findLost(deliveryWork)),
  ...durable('set a damaged event aside', ['webhooks'], setAside),
  ...durable('give a command back', ['payments', 'timers'], giveBack(paymentWork)),
  ...durable('give a delivery back', ['webhooks', 'timers'], giveBack(deliveryWork)),
  ...durable('set a command aside', ['payments'], setCommandAside),
  ...durable('begin and end a command without a change', ['payments'], endCommand),
  ...durable('release a command', ['payments'], release),
  ...durable('find what has no owner', ['timers'], sweep),
  ...durable('accept a request again', ['api'], acceptAgain),
  ...durable('forget a dead worker', ['timers'], dropConsumer),
  ...durable('mark and compare what nothing vouches for', ['payments'], unvouch),
  ...durable('publish a decision', ['payments'], publishDecision),
  ...durable('watch decisions', ['inspector'], inspect),
  ...memoryOnly('tie the memory-only Redis', ['api', 'tokens', 'payments'], tie),
  ...memoryOnly('hold a lock for long', ['payments', 'webhooks'], holdLock),
  ...memoryOnly('give a token back', ['api', 'payments'], giveTokenBack)
]
