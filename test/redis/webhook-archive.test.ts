import { expect } from 'chai'
import { newPayment } from '../../machines/model.js'
import { connect, disconnect, type Redis } from '../../redis/connections.js'
import { compactId, keys, newPaymentId } from '../../redis/keys.js'
import { createPartitionLeases, type Lease } from '../../redis/partition-leases.js'
import { encodePayment } from '../../redis/payment-record.js'
import { type ArchivedEvent, WebhookArchive } from '../../redis/webhook-archive.js'
import { encodeEvent, eventIdOf, type StatusChange } from '../../redis/webhook-event.js'
import { createWebhookQueue, type QueueOptions, type WebhookQueue } from '../../redis/webhook-queue.js'
import { encodeRecord, type QueuedEvent } from '../../redis/webhook-record.js'
import { createLogger } from '../../runtime/log.js'
import { someTerms } from '../support/payments.js'
import { type TestRedis, useRedis } from '../support/redis.js'
import { AN_OPERATION, PARTITION, PARTITIONS, plainQueue, START_MS } from '../support/webhooks.js'

const MERCHANT = 'm_1'
const DAY_MS = 24 * 3_600_000
const TERMS = { externalReference: 'order-1', amountCents: 1_000 }

function aChange(occurredAtMs: number): StatusChange {
  const paymentId = newPaymentId(PARTITION, Date.now())
  const figures = { status: 'captured', capturedCents: 1_000, refundedCents: 0, operation: AN_OPERATION } as const
  return { paymentId, version: 2, occurredAtMs, ...figures }
}

function queuedOf(change: StatusChange): QueuedEvent {
  return {
    eventId: eventIdOf(change),
    compact: compactId(change.paymentId),
    version: change.version,
    body: encodeEvent(change, TERMS),
    entryId: null,
    delivery: { state: 'undeliverable', attempts: 1, sinceMs: START_MS, nextAtMs: START_MS },
    history: []
  }
}

async function storePayment({ redis }: TestRedis, { paymentId }: StatusChange): Promise<void> {
  const payment = newPayment(someTerms({ id: paymentId, merchantId: MERCHANT, ...TERMS }), 'record')
  await redis.set(keys.payment(PARTITION, compactId(paymentId)), encodePayment(payment))
}

async function outboxBodies({ redis }: TestRedis): Promise<(string | undefined)[]> {
  const entries = await redis.xrange(keys.outbox(PARTITION), '-', '+')
  return entries.map(([, fields]) => fields[fields.indexOf('e') + 1])
}

/** As versions before the short form wrote them. */
async function giveUpAsBefore({ redis }: TestRedis, change: StatusChange): Promise<string> {
  const event = queuedOf(change)
  await redis.hset(keys.webhookUndeliverableOld(PARTITION, MERCHANT), event.eventId, encodeRecord(event))
  return event.eventId
}

/** What was given up of one merchant, written down by the queue that `webhooks` uses. */
function useArchive() {
  const test = useRedis()
  const archive = () => new WebhookArchive(test.redis, PARTITIONS)
  const log = createLogger('test', 'silent')
  let blocking: Redis
  let lease: Lease
  const clock = { nowMs: START_MS }
  const dropped: number[] = []

  before(async () => {
    blocking = await connect(test.url, 'blocking', log)
  })
  after(() => disconnect(blocking))
  beforeEach(async () => {
    await test.redis.flushdb()
    const taken = await createPartitionLeases(test.redis, 'a', 60_000).take(PARTITION)
    if (taken === null) throw new Error('The partition was not free.')
    lease = taken
    clock.nowMs = START_MS
    dropped.length = 0
  })

  const queue = (options: Partial<QueueOptions> = {}): WebhookQueue =>
    createWebhookQueue(test.redis, blocking, {
      ...plainQueue,
      now: () => clock.nowMs,
      onDropped: (_, count) => dropped.push(count),
      ...options
    })
  /** Puts events into the outbox, and gives them up from there. Returns their ids. */
  const giveUp = async (changes: readonly StatusChange[], used = queue()): Promise<string[]> => {
    const events = changes.map(queuedOf)
    const moves = await Promise.all(
      events.map(async after => {
        const { compact, version, body } = after
        const entryId = await test.redis.xadd(
          keys.outbox(PARTITION),
          '*',
          ...['m', MERCHANT, 'p', compact, 'v', version, 'e', body]
        )
        return { before: { ...after, entryId }, after, attempt: null }
      })
    )
    await used.settle(lease, MERCHANT, moves)
    return events.map(event => event.eventId)
  }
  const listed = async (sinceMs = 0): Promise<string[]> => {
    const events: ArchivedEvent[] = []
    for await (const event of archive().undeliverable(MERCHANT, sinceMs)) events.push(event)
    return events.map(event => event.eventId)
  }
  return {
    test,
    clock,
    dropped,
    archive,
    lease: () => lease,
    queue,
    giveUp,
    listed
  }
}

describe('undeliverable webhook events', () => {
  const { test, clock, dropped, archive, lease, queue, giveUp, listed } = useArchive()

  it('are kept in their short form, and come oldest first, however many share a millisecond', async () => {
    const changes = [5, 1, ...Array(1_100).fill(3), 2].map(day => aChange(START_MS - day * 1_000))
    const ids = await giveUp(changes)
    expect(await listed()).to.have.lengthOf(1_103)
    expect(new Set(await listed())).to.deep.equal(new Set(ids))
    expect([(await listed())[0], ...(await listed()).slice(-2)]).to.deep.equal([ids[0], ids[1_102], ids[1]])
    expect(await listed(START_MS - 2_000)).to.deep.equal([ids[1_102], ids[1]])
    const [member = ''] = await test.redis.zrange(keys.webhookUndeliverable(PARTITION, MERCHANT), '0', '0')
    expect(member.length).to.be.below(80)
  })

  it('are bounded by number: the oldest are dropped, and counted', async () => {
    const bounded = queue({ undeliverableMax: 3 })
    const ids = await giveUp(
      [4, 1, 5, 2, 3].map(age => aChange(START_MS - age)),
      bounded
    )
    expect(await listed()).to.deep.equal([ids[4], ids[3], ids[1]])
    const [late] = await giveUp([aChange(START_MS)], bounded)
    expect(await listed()).to.deep.equal([ids[3], ids[1], late])
    expect(dropped).to.deep.equal([2, 1])
  })

  it('are bounded by age, also when no other event follows', async () => {
    await giveUp([aChange(START_MS), aChange(START_MS + 20 * DAY_MS)])
    const leftMs = await test.redis.pttl(keys.webhookUndeliverable(PARTITION, MERCHANT))
    expect(leftMs).to.be.within(34 * DAY_MS - 60_000, 34 * DAY_MS)
    clock.nowMs = START_MS + 35 * DAY_MS
    const [late] = await giveUp([aChange(clock.nowMs)])
    expect((await listed()).slice(1)).to.deep.equal([late])
    expect(dropped).to.deep.equal([1])
  })

  it('are given up once, however often that is written down', async () => {
    const event = queuedOf(aChange(START_MS))
    const entryId = await test.redis.xadd(keys.outbox(PARTITION), '*', 'm', MERCHANT)
    const move = { before: { ...event, entryId }, after: event, attempt: null }
    await queue().settle(lease(), MERCHANT, [move])
    await archive().discard(MERCHANT)
    expect(await queue().settle(lease(), MERCHANT, [move])).to.deep.equal([false])
    expect(await listed()).to.deep.equal([])
  })
})

describe('undeliverable webhook events in the hands of an operator', () => {
  const { test, archive, giveUp, listed } = useArchive()

  it('are found by their id and sent again, to the byte, those of older versions too', async () => {
    const changes = [aChange(START_MS), aChange(START_MS + 1)] as const
    for (const change of changes) await storePayment(test, change)
    const ids = [...(await giveUp([changes[0]])), await giveUpAsBefore(test, changes[1])]
    for (const [index, id] of ids.entries()) {
      const event = await archive().find(id, [MERCHANT])
      expect(event).to.include({ eventId: id, state: 'undeliverable' })
      expect(event?.change).to.deep.equal(changes[index])
      if (event === null) throw new Error('unreachable')
      expect(await archive().replay(event)).to.equal(1)
      // Listed no more: it is on its way.
      expect(await archive().replay(event)).to.equal(0)
    }
    expect(await outboxBodies(test)).to.deep.equal(changes.map(change => encodeEvent(change, TERMS)))
    expect(await listed()).to.deep.equal([])
  })

  it('are sent again in the order in which they occurred, wherever they are listed', async () => {
    const changes = [1, 2, 3, 4].map(age => aChange(START_MS - age * 1_000))
    for (const change of changes) await storePayment(test, change)
    const [a, b, c, d] = changes as [StatusChange, StatusChange, StatusChange, StatusChange]
    await giveUp([a, c])
    await giveUpAsBefore(test, b)
    await giveUpAsBefore(test, d)
    expect(await archive().replaySince(MERCHANT, START_MS - 3_000, ['waiting', 'undeliverable'])).to.equal(3)
    expect(await outboxBodies(test)).to.deep.equal([c, b, a].map(change => encodeEvent(change, TERMS)))
    expect(await listed()).to.deep.equal([eventIdOf(d)])
  })

  it('are discarded: those before a time, or all', async () => {
    const changes = [1, 2, 3].map(age => aChange(START_MS - age * 1_000))
    const ids = await giveUp(changes)
    const [old, young] = [
      await giveUpAsBefore(test, aChange(START_MS - 5_000)),
      await giveUpAsBefore(test, aChange(START_MS))
    ]
    expect(await archive().discard(MERCHANT, START_MS - 2_000)).to.equal(2)
    expect(await listed()).to.deep.equal([young, ids[1], ids[0]])
    expect(await listed()).not.to.include(old)
    expect(await archive().discard(MERCHANT)).to.equal(3)
    expect(await test.redis.exists(keys.webhookUndeliverable(PARTITION, MERCHANT))).to.equal(0)
  })
})
