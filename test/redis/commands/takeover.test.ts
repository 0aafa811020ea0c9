import { expect } from 'chai'
import {
  deadLetterCommand,
  deadLetterEntry,
  ensureGroups,
  paymentWork,
  readCommands,
  requeueCommand
} from '../../../redis/commands/command-stream.js'
import { expiries } from '../../../redis/commands/due.js'
import {
  livingConsumers,
  orphanedCommands,
  removeHeartbeat,
  watchWorkers,
  writeHeartbeat
} from '../../../redis/commands/takeover.js'
import type { Redis } from '../../../redis/connection/connections.js'
import { unreplicated } from '../../../redis/connection/writes.js'
import { keys, paymentKeyOf } from '../../../redis/keys.js'
import { encodePayment } from '../../../redis/payments/payment-record.js'
import { createPaymentStore } from '../../../redis/payments/payments.js'
import { takeoverRound, wakeRound } from '../../../workers/timers/rounds.js'
import { unboundedPace } from '../../support/pace.js'
import { anAcceptance, aPayment, createCommand, PARTITION, recordOf } from '../../support/payments.js'
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

  it('hand an accepted command to one worker, whole', async () => {
    const payment = await acceptOne()
    const [entry] = await read('a')
    expect(entry).to.deep.include({
      partition: PARTITION,
      paymentKey: paymentKeyOf(payment.terms.id),
      command: createCommand,
      idempotencyKey: payment.progress.operation.idempotencyKey,
      record: recordOf(payment.progress.operation.idempotencyKey),
      replyTo: { channel: 'reply:test', commandId: 'command-1' },
      correlationId: 'c-1',
      deliveryCount: 0,
      consumer: 'a',
      accepted: encodePayment(payment),
      dueAtMs: null
    })
    expect(await read('b')).to.deep.equal([])
  })

  /** The workers whose commands a round gave back, one for each command. */
  const takenOver = async (living: ReadonlySet<string>): Promise<string[]> => {
    const workers: string[] = []
    await takeoverRound(test.redis, paymentWork, partitions, living, worker => void workers.push(worker))
    return workers
  }

  it('create their groups once, and again when they are gone', async () => {
    await ensureGroups(test.redis, partitions, paymentWork)
    await acceptOne()
    expect(await read('a')).to.have.lengthOf(1)
  })

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

  it("also give a forgotten worker's commands to live workers", async () => {
    await acceptOne()
    await read('long dead')
    await writeHeartbeat(test.redis, 'a')
    expect(await takenOver(await watch(test.redis))).to.deep.equal(['long dead'])
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

  it('make a command a dead letter with its reason', async () => {
    await acceptOne()
    const [entry] = await read('a')
    if (entry === undefined) throw new Error('nothing was read')
    expect(await deadLetterCommand(test.redis, entry, details)).to.equal(true)
    const [letter] = await test.redis.xrange(keys.deadLetters(PARTITION), '-', '+')
    expect(letter?.[1]).to.include.members(['l', '[1,"delivered 5 times",77]'])
    expect(await test.redis.xlen(keys.commands(PARTITION))).to.equal(0)
  })

  it('name what is not a command, so that it can become a dead letter instead of blocking the rest', async () => {
    await test.redis.xadd(keys.commands(PARTITION), '*', 'nonsense', '1')
    await test.redis.xadd(keys.commands(PARTITION), '*', 'e', '[1,"x",[3]')
    await acceptOne()
    const { entries, unreadable } = await readCommands(test.redis, paymentWork, 'a', [PARTITION], 100)
    expect(entries).to.have.lengthOf(1)
    expect(unreadable).to.have.lengthOf(2)
    for (const entry of unreadable) expect(await deadLetterEntry(test.redis, paymentWork, entry, 1)).to.equal(true)
    expect(await test.redis.xlen(keys.deadLetters(PARTITION))).to.equal(2)
  })

  it('are taken over from a dead worker although one entry is not a command', async () => {
    await test.redis.xadd(keys.commands(PARTITION), '*', 'nonsense', '1')
    await acceptOne()
    await readCommands(test.redis, paymentWork, 'a', [PARTITION], 100)
    await writeHeartbeat(test.redis, 'b')
    expect(await takenOver(await watch(test.redis))).to.deep.equal(['a', 'a'])
    const { entries, unreadable } = await readCommands(test.redis, paymentWork, 'b', [PARTITION], 100)
    expect(entries.map(({ command }) => command.kind)).to.deep.equal(['create'])
    expect(unreadable.map(entry => entry.fields)).to.deep.equal([['nonsense', '1']])
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
  })
})
