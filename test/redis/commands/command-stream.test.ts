import { expect } from 'chai'
import { deadLetterCommand, deadLetterEntry, requeueCommand } from '../../../redis/commands/command-queue.js'
import { listDeadLetters, replayDeadLetter } from '../../../redis/commands/dead-letters.js'
import { expiries, fireWakeUps } from '../../../redis/commands/fire-wake-ups.js'
import { listOldestCommands } from '../../../redis/commands/oldest-commands.js'
import { ensureGroups, lostCommands, readCommands } from '../../../redis/commands/read-commands.js'
import {
  livingConsumers,
  orphanedCommands,
  removeHeartbeat,
  watchWorkers,
  writeHeartbeat
} from '../../../redis/commands/takeover.js'
import { paymentWork } from '../../../redis/commands/work-kind.js'
import type { Redis } from '../../../redis/connection/connections.js'
import { unreplicated } from '../../../redis/connection/writes.js'
import { keys, paymentKeyOf } from '../../../redis/keys.js'
import { createPaymentStore } from '../../../redis/payments/payments.js'
import { defineNamedScript } from '../../../redis/scripts.js'
import { delay } from '../../../runtime/delay.js'
import { takeoverRound, wakeRound } from '../../../workers/timers/rounds.js'
import { unboundedPace } from '../../support/pace.js'
import { anAcceptance, aPayment, createCommand, PARTITION } from '../../support/payments.js'
import { useRedis } from '../../support/redis.js'

const SILENCE_MS = 60_000
const DAY_MS = 24 * 3_600_000
const details = { reason: 'delivered 5 times', nowMs: 77, wakeAtMs: null, result: null }

const watch = async (redis: Redis) => (await watchWorkers(redis, SILENCE_MS)).payments

describe('signs of life of workers', () => {
  const test = useRedis()

  afterEach(async () => {
    await test.redis.flushdb()
  })

  it('count a worker as dead by the clock of Redis', async () => {
    await writeHeartbeat(test.redis, 'a')
    expect(await livingConsumers(test.redis, SILENCE_MS)).to.deep.equal(new Set(['a']))
    await test.redis.zincrby(keys.heartbeats(), -SILENCE_MS - 1, 'a')
    expect(await livingConsumers(test.redis, SILENCE_MS)).to.deep.equal(new Set())
  })

  it('count a worker as dead that died before the clock of Redis was set back', async () => {
    for (const name of ['dead', 'alive']) await writeHeartbeat(test.redis, name)
    await test.redis.zincrby(keys.heartbeats(), DAY_MS, 'dead')
    await test.redis.zincrby(keys.heartbeats(), SILENCE_MS / 2, 'alive')
    expect(await livingConsumers(test.redis, SILENCE_MS)).to.deep.equal(new Set(['alive']))
    expect(await watch(test.redis)).to.deep.equal(new Set(['alive']))
  })

  it('forget a worker that died a day ago at the next sign of life of another', async () => {
    for (const name of ['long dead', 'dead']) await writeHeartbeat(test.redis, name)
    await test.redis.zincrby(keys.heartbeats(), -DAY_MS, 'long dead')
    await test.redis.zincrby(keys.heartbeats(), -SILENCE_MS - 1, 'dead')
    await writeHeartbeat(test.redis, 'a')
    expect(await test.redis.zrange(keys.heartbeats(), '0', '-1')).to.deep.equal(['dead', 'a'])
  })
})

describe('command streams', () => {
  const test = useRedis()
  const partitions = PARTITION + 1

  beforeEach(() => ensureGroups(test.redis, partitions, paymentWork))
  afterEach(async () => {
    await test.redis.flushdb()
  })

  const acceptOne = async () => {
    const idempotencyKey = `k-${Math.random()}`
    const payment = aPayment({ idempotencyKey })
    const acceptance = anAcceptance({ idempotencyKey, correlationId: 'c-1' })
    await createPaymentStore(unreplicated(test.redis)).acceptPayment(payment, createCommand, acceptance)
    return payment
  }
  const read = async (consumer: string) =>
    (await readCommands(test.redis, paymentWork, consumer, [PARTITION], 100)).entries

  /** The workers whose commands a round gave back, one for each command. */
  const takenOver = async (living: ReadonlySet<string>): Promise<string[]> => {
    const workers: string[] = []
    await takeoverRound(test.redis, paymentWork, partitions, living, worker => void workers.push(worker))
    return workers
  }

  it("give a dead worker's command to a living one", async () => {
    await acceptOne()
    await writeHeartbeat(test.redis, 'b')
    const [held] = await read('a')
    expect(await takenOver(await watch(test.redis))).to.deep.equal(['a'])
    const [found] = await read('b')
    const { entryId, delivery } = found ?? {}
    expect(found).to.deep.equal({ ...held, entryId, consumer: 'b', delivery })
    expect(delivery).not.to.equal(held?.delivery)
    expect(await takenOver(await watch(test.redis))).to.deep.equal([])
  })

  it('leave the commands of a living worker alone, until it removes its heartbeat', async () => {
    await acceptOne()
    await writeHeartbeat(test.redis, 'a')
    await read('a')
    expect(await takenOver(await watch(test.redis))).to.deep.equal([])
    await removeHeartbeat(test.redis, 'a')
    expect(await takenOver(await watch(test.redis))).to.deep.equal(['a'])
  })

  it('do not requeue or dead-letter what was finished in the meantime', async () => {
    await acceptOne()
    const [entry] = await read('a')
    if (entry === undefined) throw new Error('nothing was read')
    expect(await requeueCommand(test.redis, paymentWork, entry)).to.equal(true)
    expect(await requeueCommand(test.redis, paymentWork, entry)).to.equal(false)
    expect(await deadLetterCommand(test.redis, entry, details)).to.equal(false)
    expect(await read('b')).to.have.lengthOf(1)
  })

  it('come back once when two operators replay their letter, as begun before', async () => {
    await acceptOne()
    const [entry] = await read('a')
    if (entry === undefined) throw new Error('nothing was read')
    await deadLetterCommand(test.redis, entry, details)
    const [letter] = await listDeadLetters(test.redis, PARTITION + 1)
    const replays = [1, 2].map(() => replayDeadLetter(test.redis, letter?.letterId ?? ''))
    const outcomes = await Promise.allSettled(replays)
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).to.have.lengthOf(1)
    expect((await read('b')).map(({ deliveryCount }) => deliveryCount)).to.deep.equal([1])
    expect(await listDeadLetters(test.redis, PARTITION + 1)).to.deep.equal([])
  })

  it('are taken over although some entries are not commands, which become dead letters instead of blocking the rest', async () => {
    await test.redis.xadd(keys.commands(PARTITION), '*', 'nonsense', '1')
    await test.redis.xadd(keys.commands(PARTITION), '*', 'e', '[1,"x",[3]')
    await acceptOne()
    await readCommands(test.redis, paymentWork, 'a', [PARTITION], 100)
    await writeHeartbeat(test.redis, 'b')
    expect(await takenOver(await watch(test.redis))).to.deep.equal(['a', 'a', 'a'])
    const { entries, unreadable } = await readCommands(test.redis, paymentWork, 'b', [PARTITION], 100)
    expect(entries.map(({ command }) => command.kind)).to.deep.equal(['create'])
    expect(unreadable.map(entry => entry.fields[0])).to.deep.equal(['nonsense', 'e'])
    for (const entry of unreadable) expect(await deadLetterEntry(test.redis, paymentWork, entry, 1)).to.equal(true)
    expect(await test.redis.xlen(keys.deadLetters(PARTITION))).to.equal(2)
  })

  it('continue past a partition that fails; the round then fails at its end', async () => {
    await test.redis.del(keys.commands(0))
    await test.redis.set(keys.commands(0), 'no stream')
    await test.redis.zadd(keys.due(0), 1, 'a')
    await test.redis.zadd(keys.due(PARTITION), 1, 'b')
    await acceptOne()
    await read('dead')
    const failureOf = (round: Promise<unknown>) =>
      round.then(
        () => '',
        (error: Error) => error.message
      )
    expect(await failureOf(takenOver(new Set()))).to.contain('WRONGTYPE')
    expect(await failureOf(wakeRound(test.redis, expiries, unboundedPace, partitions, 10))).to.contain('WRONGTYPE')
    const entries = await read('living')
    expect(entries.map(entry => [entry.command.kind, entry.deliveryCount])).to.deep.equal([
      ['create', 0],
      ['wake', 0]
    ])
  })

  it('remove a dead consumer only when it holds nothing', async () => {
    await acceptOne()
    await read('a')
    const orphans = await orphanedCommands(test.redis, paymentWork, PARTITION, new Set())
    expect(orphans.map(({ consumer, entries }) => [consumer, entries.length])).to.deep.equal([['a', 1]])
    expect(await test.redis.xinfo('CONSUMERS', keys.commands(PARTITION), 'payments')).to.have.lengthOf(1)
    // It may get entries after it was seen without any.
    const drop = defineNamedScript<{ keys: 'stream'; given: { group: string; consumer: string } }>('drop_consumer')
    expect(await drop(test.redis, { stream: keys.commands(PARTITION) }, { group: 'payments', consumer: 'a' })).to.equal(
      0
    )
  })

  it('are found behind hundreds that the worker knows, when their delivery was lost', async () => {
    for (let index = 0; index < 250; index++) await acceptOne()
    const { entries } = await readCommands(test.redis, paymentWork, 'a', [PARTITION], 250)
    const lost = [...entries.splice(120, 1), ...entries.splice(-1)]
    const known = new Set(entries.map(({ entryId }) => entryId))
    await delay(1_100)
    const found = await lostCommands(test.redis, paymentWork, 'a', PARTITION, entryId => known.has(entryId))
    expect(found.entries.map(({ entryId }) => entryId)).to.deep.equal(lost.map(({ entryId }) => entryId))
  })

  it('are listed oldest first, with the worker that holds them, if one does', async () => {
    await test.redis.xadd(keys.commands(0), `${Date.now() - 60_000}-0`, 'nonsense', '1')
    const payment = await acceptOne()
    await read('host.1.a')
    const [nonsense, ours] = await listOldestCommands(test.redis, partitions, 10)
    expect(nonsense).to.include({ partition: 0, worker: null, command: null })
    expect(nonsense?.ageMs).to.be.within(55_000, 600_000)
    expect(ours).to.include({ partition: PARTITION, worker: 'host.1.a' })
    expect(ours?.command?.paymentKey).to.equal(paymentKeyOf(payment.terms.id))
    expect((await listOldestCommands(test.redis, partitions, 1)).map(({ partition }) => partition)).to.deep.equal([0])
  })

  it('come from due lists, each time once, however many timers there are', async () => {
    await test.redis.zadd(keys.due(PARTITION), 1_000, 'a', 2_000, 'b', 3_000, 'c')
    const fired = await Promise.all(
      [1, 2, 3].map(() => fireWakeUps(test.redis, expiries, { partition: PARTITION, nowMs: 2_000, max: 10 }))
    )
    expect(fired.reduce((sum, count) => sum + count, 0)).to.equal(2)
    const entries = await read('w')
    expect(entries.map(entry => [entry.paymentKey, entry.command.kind, entry.dueAtMs])).to.deep.equal([
      ['a', 'wake', 1_000],
      ['b', 'wake', 2_000]
    ])
    // What was fired is due again in case its command is lost.
    expect(await test.redis.zrange(keys.due(PARTITION), '0', '-1')).to.deep.equal(['c', 'a', 'b'])
    expect(await fireWakeUps(test.redis, expiries, { partition: PARTITION, nowMs: 2_999, max: 10 })).to.equal(0)
  })
})
