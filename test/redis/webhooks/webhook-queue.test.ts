import { expect } from 'chai'
import { type Conclusion, conclude, type Outcome } from '../../../machines/webhook-delivery.js'
import { requeueCommand } from '../../../redis/commands/command-queue.js'
import { ensureGroups, readCommands } from '../../../redis/commands/read-commands.js'
import { keys, newPaymentId } from '../../../redis/keys.js'
import { type DeliveryEntry, encodeLineMember } from '../../../redis/webhooks/delivery-entry.js'
import { decodeQueued } from '../../../redis/webhooks/webhook-event.js'
import { deliveryBacklog, fireLines } from '../../../redis/webhooks/webhook-lines.js'
import {
  createWebhookQueue,
  deliveryWork,
  type ReadableFirst,
  type Result
} from '../../../redis/webhooks/webhook-queue.js'
import { useRedis } from '../../support/redis.js'
import { emit, PARTITION, plainQueue, START_MS } from '../../support/webhooks.js'

const MERCHANT = 'm_1'
const RECEIVED: Outcome = { kind: 'attempted', status: 204, retryAfterMs: null }
const REFUSED: Outcome = { kind: 'attempted', status: 500, retryAfterMs: null }

function useQueue() {
  const test = useRedis()
  const clock = { nowMs: START_MS }
  const queue = () => createWebhookQueue(test.redis, { ...plainQueue, now: () => clock.nowMs })
  beforeEach(async () => {
    await test.redis.flushdb()
    clock.nowMs = START_MS
    await ensureGroups(test.redis, PARTITION + 1, deliveryWork)
  })
  const taken = async (): Promise<DeliveryEntry[]> =>
    (await readCommands(test.redis, deliveryWork, 'a', [PARTITION], 100)).entries
  const takeOne = async (): Promise<DeliveryEntry> => {
    const [entry] = await taken()
    if (entry === undefined) throw new Error('There is no command.')
    return entry
  }
  const firstOf = async (entry: DeliveryEntry): Promise<ReadableFirst> => {
    const first = await queue().first(entry)
    if (first?.kind !== 'readable') throw new Error('There is no event.')
    return first
  }
  /** What a worker hands over after an outcome, or without having sent anything. */
  const resultOf = (entry: DeliveryEntry, { event }: ReadableFirst, outcome: Outcome, room = 5): Result => {
    const isSent = outcome.kind === 'attempted'
    const attempt = { atMs: clock.nowMs, status: 500, durationMs: 1, note: '' }
    const given = { nowMs: clock.nowMs, random: 0, isTrial: entry.kind === 'trial', delaysMs: plainQueue.delaysMs }
    return {
      decide: failing => conclude({ ...event, attempts: event.attempts.length }, failing, outcome, given),
      attempt: isSent ? attempt : null,
      room
    }
  }
  const end = async (entry: DeliveryEntry, outcome: Outcome = RECEIVED, room = 5): Promise<Conclusion | null> => {
    const first = await firstOf(entry)
    return await queue().conclude(entry, first, resultOf(entry, first, outcome, room))
  }
  const emitNew = (count = 1): Promise<unknown> =>
    Promise.all(
      Array.from({ length: count }, () => emit(test, MERCHANT, ['captured'], newPaymentId(PARTITION, Date.now())))
    )
  const versionsLeft = async (paymentKey: string): Promise<string[]> => {
    const stored = await test.redis.lrange(keys.webhookEvents(PARTITION, paymentKey), 0, -1)
    return stored.map(text => String(decodeQueued(text).change.version))
  }
  const failures = async (): Promise<number | undefined> => {
    const [, count] = JSON.parse((await test.redis.get(keys.webhookFailing(PARTITION, MERCHANT))) ?? '[]')
    return count
  }
  return { test, clock, queue, taken, takeOne, firstOf, resultOf, end, emitNew, versionsLeft, failures }
}

describe('the events of a payment', () => {
  const { test, queue, taken, takeOne, firstOf, resultOf, end, versionsLeft } = useQueue()

  it('have one command at a time: the next one comes when the first event is concluded', async () => {
    await emit(test, MERCHANT, ['capturing', 'captured'])
    const [first, ...others] = await taken()
    if (first === undefined) throw new Error('There is no command.')
    expect(others).to.deep.equal([])
    expect(await end(first)).to.include({ event: 'delivered' })
    const second = await takeOne()
    expect(await end(second)).to.include({ event: 'delivered' })
    expect(await taken()).to.deep.equal([])
    expect(await test.redis.xlen(keys.deliveries(PARTITION))).to.equal(0)
    expect(await versionsLeft(first.paymentKey)).to.deep.equal([])
  })

  it('stay where they are for a worker whose command was taken over', async () => {
    await emit(test, MERCHANT, ['capturing', 'captured'])
    const entry = await takeOne()
    await requeueCommand(test.redis, deliveryWork, entry)
    expect(await end(entry)).to.equal(null)
    expect(await versionsLeft(entry.paymentKey)).to.deep.equal(['2', '3'])
    expect(await taken()).to.have.lengthOf(1)
  })

  it('are concluded once: a late outcome of an earlier event leaves the first one', async () => {
    await emit(test, MERCHANT, ['capturing', 'captured'])
    const entry = await takeOne()
    const before = await firstOf(entry)
    await end(entry)
    const next = await takeOne()
    await queue().conclude(next, before, resultOf(next, before, RECEIVED))
    expect(await versionsLeft(entry.paymentKey)).to.deep.equal(['3'])
    // The command is not lost with it.
    expect(await taken()).to.have.lengthOf(1)
  })

  it('wait for the next attempt together, the failed one first', async () => {
    await emit(test, MERCHANT, ['capturing', 'captured'])
    const entry = await takeOne()
    const dueMs = (await end(entry, REFUSED))?.dueMs
    expect(await taken()).to.deep.equal([])
    expect(await versionsLeft(entry.paymentKey)).to.deep.equal(['2', '3'])
    expect(await test.redis.zscore(keys.webhookLine(PARTITION, MERCHANT), encodeLineMember(entry))).to.equal(
      String(dueMs)
    )
    expect(await test.redis.zscore(keys.webhookLines(PARTITION), MERCHANT)).to.equal(String(dueMs))
    expect((await firstOf(entry)).event.attempts).to.have.lengthOf(1)
  })
})

describe('the endpoint of a merchant', () => {
  const { test, clock, taken, takeOne, firstOf, resultOf, queue, end, emitNew, failures } = useQueue()

  const fire = (): Promise<number> => fireLines(test.redis, PARTITION, clock.nowMs)
  /** Lets events of other payments wait for the endpoint, then pause it by failures. */
  const pause = async (waiting: number): Promise<void> => {
    for (let n = 0; n < 5; n++) {
      await emitNew()
      await end(await takeOne(), REFUSED)
    }
    await emitNew(waiting)
    for (const entry of await taken()) await end(entry, { kind: 'paused' })
  }
  const trialAfterMs = async (): Promise<number> => {
    const before = clock.nowMs
    while ((await fire()) === 0) clock.nowMs += 500
    return clock.nowMs - before
  }

  it('gets one trial after a pause that grows to half a minute', async () => {
    await pause(20)
    const pauses: number[] = []
    for (let n = 0; n < 7; n++) {
      pauses.push(await trialAfterMs())
      const trial = await takeOne()
      expect(trial.kind).to.equal('trial')
      expect(await fire()).to.equal(0)
      await end(trial, REFUSED)
    }
    expect(pauses).to.deep.equal([1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000])
  })

  it('gets another trial when the first one has no outcome', async () => {
    await pause(3)
    await trialAfterMs()
    await takeOne()
    expect(await trialAfterMs()).to.equal(30_000)
  })

  it('counts each failure once when several workers report some, and what was sent before the pause not at all', async () => {
    await emitNew(7)
    const entries = await taken()
    const firsts = await Promise.all(entries.map(firstOf))
    for (const [index, entry] of entries.entries()) {
      const first = firsts[index] as ReadableFirst
      await queue().conclude(entry, first, resultOf(entry, first, REFUSED))
    }
    expect(await failures()).to.equal(5)
  })

  it('goes on failing from what an earlier version stored, without the time of its next attempt', async () => {
    await pause(0)
    const key = keys.webhookFailing(PARTITION, MERCHANT)
    const stored = JSON.parse((await test.redis.get(key)) ?? '[]')
    await test.redis.set(key, JSON.stringify(stored.slice(0, -1)))
    await emitNew()
    for (const entry of await taken()) await end(entry, { kind: 'paused' })
    await trialAfterMs()
    await end(await takeOne(), REFUSED)
    expect(await failures()).to.equal(6)
    expect(JSON.parse((await test.redis.get(key)) ?? '[]').length).to.equal(stored.length)
  })

  it('counts as working after the first success, which releases as many events as fit', async () => {
    await pause(20)
    await trialAfterMs()
    expect(await end(await takeOne(), RECEIVED, 1)).to.include({ event: 'delivered' })
    expect(await failures()).to.equal(undefined)
    const [next, ...others] = await taken()
    expect([next?.kind, others.length]).to.deep.equal(['deliver', 0])
    // Without a further success `timers` lets the rest of what is due go on.
    expect(await fire()).to.equal(18)
  })

  it('is checked within a second for an event that waits because its window was full', async () => {
    await emitNew()
    await end(await takeOne(), { kind: 'full' })
    expect(await fire()).to.equal(0)
    clock.nowMs += 1_000
    expect(await fire()).to.equal(1)
    expect(await test.redis.exists(keys.webhookLines(PARTITION))).to.equal(0)
  })

  it('leaves no event waiting that joins the queue while it begins to work again', async () => {
    await pause(0)
    await emitNew(2)
    const [late, trial] = await taken()
    if (late === undefined || trial === undefined) throw new Error('There are no commands.')
    const read = await firstOf(late)
    expect(read.failing?.pausedUntilMs).to.be.a('number')
    await end(trial)
    await queue().conclude(late, read, resultOf(late, read, { kind: 'paused' }))
    clock.nowMs += 1_000
    expect(await fire()).to.equal(1)
  })

  it('gives up events one by one that waited for the whole span while it was dead', async () => {
    await pause(3)
    clock.nowMs += 1.2 * 80 * 3_600_000
    await fire()
    const trial = await takeOne()
    expect([trial.kind, (await end(trial, REFUSED))?.event]).to.deep.equal(['trial', 'undeliverable'])
    let givenUp = 0
    for (let entries = await taken(); entries.length > 0; entries = await taken()) {
      expect(entries).to.have.lengthOf(1)
      for (const entry of entries) if ((await end(entry, { kind: 'paused' }))?.event === 'undeliverable') givenUp++
    }
    expect(givenUp).to.be.within(2, 7)
    expect(await test.redis.zcard(keys.webhookUndeliverable(PARTITION, MERCHANT))).to.equal(givenUp + 1)
  })
})

describe('the backlog of deliveries', () => {
  const { test, clock, taken, takeOne, end } = useQueue()
  const failingS = async (): Promise<number> =>
    Math.round((await deliveryBacklog(test.redis, PARTITION + 1)).failingMs / 1_000)

  it('reports how long an endpoint has failed, while its events wait', async () => {
    clock.nowMs = Date.now() - 7_200_000
    await emit(test, MERCHANT, ['captured'])
    expect(await failingS()).to.equal(0)
    await end(await takeOne(), REFUSED)
    expect(await failingS()).to.be.closeTo(7_200, 5)
    expect((await deliveryBacklog(test.redis, PARTITION + 1)).waiting).to.equal(1)
  })

  it('reports nothing about an endpoint that works again', async () => {
    clock.nowMs = Date.now() - 7_200_000
    await emit(test, MERCHANT, ['captured', 'captured'])
    await end(await takeOne(), { kind: 'attempted', status: 410, retryAfterMs: null })
    for (const entry of await taken()) await end(entry)
    expect(await failingS()).to.equal(0)
  })
})
