import { expect } from 'chai'
import { noTexts } from '../../../machines/merchant-text-rules.js'
import { newPayment } from '../../../machines/model.js'
import type { StatusChange } from '../../../machines/status-change.js'
import { type Conclusion, WAITING_MAX } from '../../../machines/webhook-delivery.js'
import { ensureGroups, readCommands } from '../../../redis/commands/read-commands.js'
import { keys, newPaymentId, paymentKeyOf } from '../../../redis/keys.js'
import { encodePayment } from '../../../redis/payments/payment-record.js'
import { encodeLineMember } from '../../../redis/webhooks/delivery-entry.js'
import { decodeQueued, encodeConcluded, eventIdOf, type LoggedEvent } from '../../../redis/webhooks/webhook-event.js'
import {
  createWebhookQueue,
  deliveryWork,
  type QueueOptions,
  type Result,
  type WebhookQueue
} from '../../../redis/webhooks/webhook-queue.js'
import { someTerms } from '../../support/payments.js'
import { type TestRedis, useRedis } from '../../support/redis.js'
import {
  aChange,
  eventLogOf,
  PARTITION,
  PARTITIONS,
  plainQueue,
  START_MS,
  storedWaiting
} from '../../support/webhooks.js'

const MERCHANT = 'm_1'
const DAY_MS = 24 * 3_600_000
const TERMS = { ...noTexts, externalReference: 'order-1', amountCents: 1_000 }

function changeAt(occurredAtMs: number): StatusChange {
  return aChange({ paymentId: newPaymentId(PARTITION, Date.now()), occurredAtMs, capturedCents: 1_000 })
}

const concluded = (event: Conclusion['event']): Result => {
  return { decide: failing => ({ event, failing }), attempt: null, room: 0 }
}

async function storePayment({ redis }: TestRedis, { paymentId }: StatusChange): Promise<void> {
  const payment = newPayment(someTerms({ id: paymentId, merchantId: MERCHANT, ...TERMS }), 'record')
  await redis.set(keys.payment(PARTITION, paymentKeyOf(paymentId)), encodePayment(payment))
}

/** What is to be delivered, payment after payment. */
async function waitingIds({ redis }: TestRedis, changes: readonly StatusChange[]): Promise<string[]> {
  const lists = changes.map(({ paymentId }) =>
    redis.lrange(keys.webhookEvents(PARTITION, paymentKeyOf(paymentId)), 0, -1)
  )
  return (await Promise.all(lists)).flat().map(stored => decodeQueued(stored).eventId)
}

async function countOf(events: AsyncIterable<LoggedEvent>): Promise<number> {
  let count = 0
  for await (const _ of events) count++
  return count
}

describe('the last webhook events of a merchant', () => {
  const test = useRedis()
  beforeEach(() => test.redis.flushdb())

  it('are the newest ones, and cost as few reads as are listed, however many wait', async () => {
    const changes = Array.from({ length: 700 }, (_, at) => {
      const paymentId = newPaymentId(PARTITION, START_MS + 1_000 * at)
      return { ...changeAt(START_MS + at), paymentId }
    })
    const line = keys.webhookLine(PARTITION, MERCHANT)
    for (const change of changes) {
      const paymentKey = paymentKeyOf(change.paymentId)
      const stored = storedWaiting(change, TERMS, { sinceMs: change.occurredAtMs })
      await test.redis.rpush(keys.webhookEvents(PARTITION, paymentKey), stored)
      await test.redis.zadd(line, START_MS + 60_000, encodeLineMember({ paymentKey, merchantId: MERCHANT }))
    }
    const reads = async (): Promise<number> =>
      Number(/cmdstat_lrange:calls=(\d+)/.exec(await test.redis.info('commandstats'))?.[1] ?? 0)
    const before = await reads()
    const listed = await eventLogOf(test.redis, PARTITIONS).newest(MERCHANT, 1)
    expect((await reads()) - before).to.be.below(110)
    expect(listed.map(({ change }) => change.paymentId)).to.deep.equal([changes[699]?.paymentId])
    expect(await countOf(eventLogOf(test.redis, PARTITIONS).waiting(MERCHANT))).to.equal(700)
  })
})

/** What was given up of one merchant, written down by the queue that `webhooks` uses. */
function useWebhookLog() {
  const test = useRedis()
  const eventLog = () => eventLogOf(test.redis, PARTITIONS)
  const clock = { nowMs: START_MS }
  const dropped: number[] = []

  beforeEach(async () => {
    await test.redis.flushdb()
    await ensureGroups(test.redis, PARTITIONS, deliveryWork)
    clock.nowMs = START_MS
    dropped.length = 0
  })

  const queue = (options: Partial<QueueOptions> = {}): WebhookQueue =>
    createWebhookQueue(test.redis, {
      ...plainQueue,
      now: () => clock.nowMs,
      onDropped: (_, count) => dropped.push(count),
      ...options
    })
  /** Puts events behind those of their payments, and gives them up from there. Returns their ids. */
  const giveUp = async (changes: readonly StatusChange[], used = queue()): Promise<string[]> => {
    for (const change of changes) await storePayment(test, change)
    await eventLog().append(
      MERCHANT,
      changes.map(change => ({ change })),
      START_MS
    )
    const { entries } = await readCommands(test.redis, deliveryWork, 'a', [PARTITION], 10_000)
    for (const entry of entries) {
      const first = await used.first(entry)
      if (first === null) throw new Error('There is no event.')
      await used.conclude(entry, first, concluded('undeliverable'))
    }
    return changes.map(eventIdOf)
  }
  const listed = async (sinceMs = 0): Promise<string[]> => {
    const events: LoggedEvent[] = []
    for await (const event of eventLog().undeliverable(MERCHANT, sinceMs)) events.push(event)
    return events.map(event => event.eventId)
  }
  return {
    test,
    clock,
    dropped,
    eventLog,
    queue,
    giveUp,
    listed
  }
}

describe('undeliverable webhook events', () => {
  const { test, clock, dropped, queue, giveUp, listed } = useWebhookLog()

  it('are kept in their short form, and come oldest first, however many share a millisecond', async () => {
    const changes = [5, 1, ...Array(1_100).fill(3), 2].map(day => changeAt(START_MS - day * 1_000))
    const ids = await giveUp(changes)
    expect(await listed()).to.have.lengthOf(1_103)
    expect(new Set(await listed())).to.deep.equal(new Set(ids))
    expect([(await listed())[0], ...(await listed()).slice(-2)]).to.deep.equal([ids[0], ids[1_102], ids[1]])
    expect(await listed(START_MS - 2_000)).to.deep.equal([ids[1_102], ids[1]])
    const [member = ''] = await test.redis.zrange(keys.webhookUndeliverable(PARTITION, MERCHANT), '0', '0')
    expect(member.length).to.be.below(90)
  })

  it('are bounded by number: the oldest are dropped, and counted', async () => {
    const bounded = queue({ undeliverableMax: 3 })
    const ids = await giveUp(
      [4, 1, 5, 2, 3].map(age => changeAt(START_MS - age)),
      bounded
    )
    expect(await listed()).to.deep.equal([ids[4], ids[3], ids[1]])
    const [late] = await giveUp([changeAt(START_MS)], bounded)
    expect(await listed()).to.deep.equal([ids[3], ids[1], late])
    expect(dropped).to.deep.equal([1, 1, 1])
  })

  it('are bounded by age, also when no other event follows', async () => {
    await giveUp([changeAt(START_MS), changeAt(START_MS + 20 * DAY_MS)])
    const leftMs = await test.redis.pttl(keys.webhookUndeliverable(PARTITION, MERCHANT))
    expect(leftMs).to.be.within(34 * DAY_MS - 60_000, 34 * DAY_MS)
    clock.nowMs = START_MS + 35 * DAY_MS
    const [late] = await giveUp([changeAt(clock.nowMs)])
    expect((await listed()).slice(1)).to.deep.equal([late])
    expect(dropped).to.deep.equal([1])
  })
})

describe('the search for a delivered webhook event', () => {
  const { test, eventLog } = useWebhookLog()
  const DELIVERED = 4_000

  it('reads a bounded part of a long journal, and finds what was delivered near its time, or last', async () => {
    const changes = Array.from({ length: DELIVERED }, (_, index) => changeAt(START_MS + index))
    const ahead = changeAt(START_MS + 10 * DAY_MS)
    const journal = keys.webhookJournal(PARTITION, MERCHANT)
    const writes = [...changes, ahead].map((change, index) =>
      test.redis.xadd(journal, `${START_MS + index}-0`, 'e', encodeConcluded({ change, attempts: [] }))
    )
    await Promise.all(writes)
    const calls: PropertyKey[] = []
    const counting = new Proxy(test.redis, {
      get: (redis, name) => {
        calls.push(name)
        const member: unknown = Reflect.get(redis, name)
        return typeof member === 'function' ? member.bind(redis) : member
      }
    })
    const find = (change: StatusChange) =>
      eventLogOf(counting, PARTITIONS).find(eventIdOf(change), [MERCHANT], { max: 1_000 })
    const [first = ahead] = changes
    for (const change of [first, ahead]) expect((await find(change))?.eventId).to.equal(eventIdOf(change))
    calls.length = 0
    expect(await find(changeAt(START_MS))).to.equal(null)
    expect(calls.filter(name => /^x(rev)?range$/.test(String(name))).length).to.be.at.most(4)
    // An operator's search reads all of it.
    const [middle = ahead] = changes.slice(DELIVERED / 2)
    expect((await eventLog().find(eventIdOf(middle), [MERCHANT]))?.eventId).to.equal(eventIdOf(middle))
    expect(await countOf(eventLog().delivered(MERCHANT, 0))).to.equal(DELIVERED + 1)
  })
})

describe('undeliverable webhook events in the hands of an operator', () => {
  const { test, eventLog, giveUp, listed } = useWebhookLog()

  it('are found by their id and sent again, the same event', async () => {
    const changes = [changeAt(START_MS), changeAt(START_MS + 1)] as const
    const ids = await giveUp(changes)
    for (const [index, id] of ids.entries()) {
      const event = await eventLog().find(id, [MERCHANT])
      expect(event).to.include({ eventId: id, state: 'undeliverable' })
      expect(event?.change).to.deep.equal(changes[index])
      if (event === null) throw new Error('unreachable')
      expect(await eventLog().replay(event)).to.deep.equal({ sent: 1, left: 0 })
      // Listed no more: it is on its way.
      expect(await eventLog().replay(event)).to.deep.equal({ sent: 0, left: 1 })
      expect(await eventLog().find(id, [MERCHANT])).to.include({ state: 'waiting', nextAttemptAtMs: null })
      expect(await eventLog().find(id, [MERCHANT], { max: 1_000 }), 'by a merchant').to.equal(null)
    }
    expect(await waitingIds(test, changes)).to.deep.equal(ids)
    expect(await listed()).to.deep.equal([])
  })

  it('are sent again in the order in which they occurred', async () => {
    const { paymentId } = changeAt(START_MS)
    const changes = [1, 2, 3, 4].map(age => ({ ...changeAt(START_MS - age * 1_000), paymentId, version: 10 - age }))
    const ids: string[] = []
    for (const change of changes) ids.push(...(await giveUp([change])))
    expect(await eventLog().replaySince(MERCHANT, START_MS - 3_000, ['waiting', 'undeliverable'])).to.deep.equal({
      sent: 3,
      left: 0
    })
    expect(await waitingIds(test, changes.slice(0, 1))).to.deep.equal([ids[2], ids[1], ids[0]])
    expect(await listed()).to.deep.equal([ids[3]])
  })

  it('stay listed while the list of the events of their payment is of another type', async () => {
    const change = changeAt(START_MS)
    const [id] = await giveUp([change])
    const event = await eventLog().find(id ?? '', [MERCHANT])
    if (event === null) throw new Error('unreachable')
    const events = keys.webhookEvents(PARTITION, paymentKeyOf(change.paymentId))
    await test.redis.set(events, 'x')
    expect(await eventLog().replay(event).then(String, String)).to.contain('WRONGTYPE')
    expect(await listed()).to.deep.equal([id])
    await test.redis.del(events)
    expect(await eventLog().replay(event)).to.deep.equal({ sent: 1, left: 0 })
    expect(await waitingIds(test, [change])).to.deep.equal([id])
  })

  it('stay what they are where too many events of their payment wait already', async () => {
    const change = changeAt(START_MS)
    await giveUp([change])
    const others = Array.from({ length: WAITING_MAX + 1 }, (_, n) => ({ change: { ...change, version: 10 + n } }))
    expect(await eventLog().append(MERCHANT, others, START_MS)).to.deep.equal({ sent: WAITING_MAX, left: 1 })
    const event = await eventLog().find(eventIdOf(change), [MERCHANT])
    if (event === null) throw new Error('unreachable')
    for (const one of [event, { ...event, state: 'delivered', listed: null } as const])
      expect(await eventLog().replay(one)).to.deep.equal({ sent: 0, left: 1 })
    expect(await listed()).to.deep.equal([eventIdOf(change)])
    const leftMs = await test.redis.pttl(keys.webhookUndeliverable(PARTITION, MERCHANT))
    expect(leftMs, 'they are not kept for ever').to.be.greaterThan(0)
  })

  it('are discarded: those before a time, or all', async () => {
    const changes = [1, 2, 3].map(age => changeAt(START_MS - age * 1_000))
    const ids = await giveUp(changes)
    expect(await eventLog().discard(MERCHANT, START_MS - 2_000)).to.equal(1)
    expect(await listed()).to.deep.equal([ids[1], ids[0]])
    expect(await eventLog().discard(MERCHANT)).to.equal(2)
    expect(await test.redis.exists(keys.webhookUndeliverable(PARTITION, MERCHANT))).to.equal(0)
  })
})
