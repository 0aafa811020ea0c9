import { expect } from 'chai'
import { ensureGroups, readCommands, requeueCommand } from '../../../redis/commands/command-stream.js'
import { keys, newPaymentId } from '../../../redis/keys.js'
import { type DeliveryEntry, encodePlace } from '../../../redis/webhooks/delivery-entry.js'
import { decodeQueued } from '../../../redis/webhooks/webhook-event.js'
import {
  createWebhookQueue,
  deliveryBacklog,
  deliveryWork,
  releaseParked,
  type Settlement
} from '../../../redis/webhooks/webhook-queue.js'
import { useRedis } from '../../support/redis.js'
import { emit, PARTITION, plainQueue, START_MS } from '../../support/webhooks.js'

const MERCHANT = 'm_1'

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
  const settle = async (entry: DeliveryEntry, outcome: Partial<Settlement> = {}): Promise<boolean> => {
    const first = await queue().first(entry)
    if (first === null) throw new Error('There is no event.')
    const attempt = { eventId: first.event.eventId, atMs: clock.nowMs, status: 500, durationMs: 1, note: '' }
    const plain = { state: 'delivered', nextAtMs: clock.nowMs + 60_000, attempt, health: 'well' } as const
    return await queue().settle(entry, first.event, { ...plain, ...outcome })
  }
  const versionsLeft = async (paymentKey: string): Promise<string[]> => {
    const stored = await test.redis.lrange(keys.webhookEvents(PARTITION, paymentKey), 0, -1)
    return stored.map(text => String(decodeQueued(text, 0, null).change.version))
  }
  return { test, clock, queue, taken, takeOne, settle, versionsLeft }
}

describe('the events of a payment', () => {
  const { test, queue, taken, takeOne, settle, versionsLeft } = useQueue()

  it('have one command at a time: the next one comes when the first event is settled', async () => {
    await emit(test, MERCHANT, ['capturing', 'captured'])
    const [first, ...others] = await taken()
    if (first === undefined) throw new Error('There is no command.')
    expect(others).to.deep.equal([])
    expect(await settle(first)).to.equal(true)
    const second = await takeOne()
    expect(await settle(second)).to.equal(true)
    expect(await taken()).to.deep.equal([])
    expect(await test.redis.xlen(keys.deliveries(PARTITION))).to.equal(0)
    expect(await versionsLeft(first.paymentKey)).to.deep.equal([])
  })

  it('stay where they are for a worker whose command was taken over', async () => {
    await emit(test, MERCHANT, ['capturing', 'captured'])
    const entry = await takeOne()
    await requeueCommand(test.redis, deliveryWork, entry)
    expect(await settle(entry)).to.equal(false)
    expect(await versionsLeft(entry.paymentKey)).to.deep.equal(['2', '3'])
    expect(await taken()).to.have.lengthOf(1)
  })

  it('are settled once: a late result about an earlier event leaves the first one', async () => {
    await emit(test, MERCHANT, ['capturing', 'captured'])
    const entry = await takeOne()
    const before = (await queue().first(entry))?.event
    if (before === undefined) throw new Error('There is no event.')
    await settle(entry)
    const next = await takeOne()
    await queue().settle(next, before, { state: 'delivered' })
    expect(await versionsLeft(entry.paymentKey)).to.deep.equal(['3'])
    // The command is not lost with it.
    expect(await taken()).to.have.lengthOf(1)
  })

  it('wait for the next attempt together, the failed one first', async () => {
    await emit(test, MERCHANT, ['capturing', 'captured'])
    const entry = await takeOne()
    await settle(entry, { state: 'waiting', health: 'failed' })
    expect(await taken()).to.deep.equal([])
    expect(await versionsLeft(entry.paymentKey)).to.deep.equal(['2', '3'])
    const place = encodePlace(entry)
    expect(await test.redis.zscore(keys.webhookDue(PARTITION), place)).to.equal(String(START_MS + 60_000))
    expect((await queue().first(entry))?.event.delivery.attempts).to.equal(1)
  })
})

describe('the circuit of an endpoint', () => {
  const { test, clock, queue, taken, takeOne, settle } = useQueue()

  /** An attempt that fails, of a payment of its own. Returns until when the circuit is open then (ms); null: it is closed. */
  const fail = async (entry?: DeliveryEntry, waitMs = 0): Promise<number | null> => {
    if (entry === undefined) await emit(test, MERCHANT, ['captured'], newPaymentId(PARTITION, Date.now()))
    await settle(entry ?? (await takeOne()), { state: 'waiting', health: 'failed', waitMs })
    const untilMs = await test.redis.hget(keys.webhookCircuit(PARTITION, MERCHANT), 'until')
    return untilMs === null ? null : Number(untilMs)
  }
  const isOpen = async (): Promise<boolean | undefined> => {
    const entry = await takeOne()
    return (await queue().first(entry))?.isOpen
  }
  const park = async (entry: DeliveryEntry): Promise<unknown> => {
    const first = await queue().first(entry)
    if (first === null) throw new Error('There is no event.')
    const nextAtMs = first.event.delivery.sinceMs + plainQueue.spanMs
    return await queue().settle(entry, first.event, { state: 'parked', nextAtMs })
  }
  const parkNew = async (count: number): Promise<void> => {
    for (let n = 0; n < count; n++) await emit(test, MERCHANT, ['captured'], newPaymentId(PARTITION, Date.now()))
    for (const entry of await taken()) await park(entry)
  }
  const release = (): Promise<number> => releaseParked(test.redis, PARTITION, clock.nowMs)

  it('opens after five failures in a row, and then allows one probe after a pause that grows to half a minute', async () => {
    for (let n = 0; n < 4; n++) expect(await fail()).to.equal(null)
    await parkNew(20)
    expect(await fail()).to.equal(START_MS + 1_000)
    const pauses: number[] = []
    for (let n = 0; n < 7; n++) {
      const before = clock.nowMs
      while ((await release()) === 0) clock.nowMs += 500
      pauses.push(clock.nowMs - before)
      const probe = await takeOne()
      expect(probe.kind).to.equal('probe')
      expect(await release()).to.equal(0)
      await fail(probe)
    }
    expect(pauses).to.deep.equal([1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000])
  })

  it('is not open for longer because of answers to what was sent before it opened', async () => {
    for (let n = 0; n < 5; n++) await fail()
    clock.nowMs += 500
    expect(await fail()).to.equal(START_MS + 1_000)
  })

  it('closes with the first success, which lets as many parked payments go on as there is room for', async () => {
    await parkNew(20)
    for (let n = 0; n < 5; n++) await fail()
    clock.nowMs += 1_000
    await release()
    const probe = await takeOne()
    expect(probe.kind).to.equal('probe')
    expect(await settle(probe, { releases: 3 })).to.equal(true)
    expect(await test.redis.exists(keys.webhookCircuit(PARTITION, MERCHANT))).to.equal(0)
    expect((await taken()).map(({ kind }) => kind)).to.deep.equal(['deliver', 'deliver', 'deliver'])
    // Without a further success `timers` releases the rest.
    clock.nowMs += 1_000
    expect(await release()).to.equal(16)
  })

  it('lets a payment go on within a second that was parked while it closed', async () => {
    await fail(undefined, 30_000)
    await emit(test, MERCHANT, ['captured'])
    const entry = await takeOne()
    await emit(test, MERCHANT, ['captured'])
    await settle(await takeOne())
    await park(entry)
    expect(await release()).to.equal(0)
    clock.nowMs += 1_000
    expect(await release()).to.equal(1)
    expect(await isOpen()).to.equal(false)
  })

  it('opens at once for a receiver that asks to be left alone, for half a minute at the most', async () => {
    expect(await fail(undefined, 10_000)).to.equal(START_MS + 10_000)
    await emit(test, MERCHANT, ['captured'])
    expect(await isOpen()).to.equal(true)
    await test.redis.flushdb()
    await ensureGroups(test.redis, PARTITION + 1, deliveryWork)
    expect(await fail(undefined, 3_600_000)).to.equal(START_MS + 30_000)
  })

  it('gives those that have waited for the whole span of the attempts to a worker beside the probe', async () => {
    await parkNew(3)
    for (let n = 0; n < 5; n++) await fail()
    clock.nowMs = START_MS + plainQueue.spanMs
    await release()
    expect((await taken()).map(({ kind }) => kind)).to.deep.equal(['probe', 'deliver', 'deliver'])
  })
})

describe('the backlog of deliveries', () => {
  const { test, clock, taken, takeOne, settle } = useQueue()
  const failingS = async (): Promise<number> =>
    Math.round((await deliveryBacklog(test.redis, PARTITION + 1)).failingMs / 1_000)

  it('tells for how long an endpoint has failed, while its events wait for a retry or are parked', async () => {
    clock.nowMs = Date.now() - 7_200_000
    await emit(test, MERCHANT, ['captured'])
    expect(await failingS()).to.equal(0)
    await settle(await takeOne(), { state: 'waiting', health: 'failed' })
    expect(await failingS()).to.be.closeTo(7_200, 5)
    await emit(test, MERCHANT, ['captured'])
    await settle(await takeOne(), { state: 'parked', health: 'failed' })
    expect(await failingS()).to.be.closeTo(7_200, 5)
  })

  it('tells nothing of an endpoint that works again', async () => {
    clock.nowMs = Date.now() - 7_200_000
    await emit(test, MERCHANT, ['captured', 'captured'])
    await settle(await takeOne(), { state: 'undeliverable', health: 'failed' })
    for (const entry of await taken()) await settle(entry)
    expect(await failingS()).to.equal(0)
  })
})
