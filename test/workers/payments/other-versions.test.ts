import { expect } from 'chai'
import type { PaymentPhase, PaymentStatus } from '../../../machines/model.js'
import type { CommandEntry } from '../../../redis/commands/command-entry.js'
import { listDeadLetters } from '../../../redis/commands/dead-letters.js'
import { paymentWork } from '../../../redis/commands/work-kind.js'
import { connect, disconnect, type Redis } from '../../../redis/connection/connections.js'
import { keys, paymentKeyOf } from '../../../redis/keys.js'
import { requestErasure } from '../../../redis/operator/review.js'
import { decodePayment, encodePayment } from '../../../redis/payments/payment-record.js'
import { FORMAT } from '../../../redis/stored-fields.js'
import { createLogger } from '../../../runtime/log.js'
import { type CommandLoop, startCommandLoop } from '../../../workers/command-loop/command-loop.js'
import { takeoverRound } from '../../../workers/timers/rounds.js'
import { until } from '../../support/conditions.js'
import { approvedAndCaptured, approvedOnly } from '../../support/fake-network.js'
import { writingTo } from '../../support/log-lines.js'
import { aWake, PARTITION } from '../../support/payments.js'
import { useRedis } from '../../support/redis.js'
import { aWorker } from '../../support/worker.js'

const PAYMENT_KEY = '0'.repeat(26)
const STREAM = keys.commands(PARTITION)

/** What a version with another format writes in the place of a value of this one. */
function inAnotherFormat(text: string): string {
  return text.replace(`[${FORMAT},`, `[${FORMAT + 1},`)
}

describe('a payments worker beside one of another version', () => {
  const test = useRedis()
  beforeEach(() => test.redis.flushdb())

  for (const [what, change] of [
    ['format', inAnotherFormat],
    [
      'chart',
      (text: string) => {
        const { progress, ...other } = decodePayment(text, PAYMENT_KEY)
        return encodePayment({ ...other, progress: { ...progress, phase: 'extending' as PaymentPhase } })
      }
    ]
  ] as const) {
    it(`leaves payments of another ${what} untouched, and continues when they are readable`, async () => {
      const worker = aWorker(test)
      const payment = await worker.created('manual', approvedOnly)
      await worker.acceptOperation(payment, { kind: 'capture', amountCents: null })
      const place = keys.payment(PARTITION, paymentKeyOf(payment.terms.id))
      const known = (await test.redis.get(place)) ?? ''
      await test.redis.set(place, change(known))
      for (let times = 0; times <= worker.deps.deliveriesMax; times++)
        expect(await worker.handle(await worker.takeOne())).to.equal('left')
      expect(await test.redis.get(place)).to.equal(change(known))
      expect(worker.network.asked).to.deep.equal(['authorise'])
      expect(await worker.left()).to.deep.equal({ commands: 1, letters: 0 })

      await test.redis.set(place, known)
      worker.network.willAnswer(approvedAndCaptured)
      expect(await worker.handle(await worker.takeOne())).to.equal('done')
      expect((await worker.load(payment)).progress.status).to.equal('captured')
    })
  }

  it("erases no buyer of a payment of another chart: its wake-ups are the other version's", async () => {
    const worker = aWorker(test)
    const payment = await worker.created('manual', approvedOnly)
    const place = keys.payment(PARTITION, paymentKeyOf(payment.terms.id))
    const wakes = keys.due(PARTITION)
    const dueMs = await test.redis.zscore(wakes, paymentKeyOf(payment.terms.id))
    const text = decodePayment((await test.redis.get(place)) ?? '', PAYMENT_KEY)
    const onHold = encodePayment({ ...text, progress: { ...text.progress, status: 'on_hold' as PaymentStatus } })
    await test.redis.set(place, onHold)
    await requestErasure(test.redis, payment.terms.id)
    expect(await worker.handle(await worker.takeOne())).to.equal('left')
    expect(await test.redis.get(place)).to.equal(onHold)
    expect(await test.redis.zscore(wakes, paymentKeyOf(payment.terms.id)))
      .to.equal(dueMs)
      .and.not.to.equal(null)
  })

  it('makes the command of a damaged payment a dead letter at once', async () => {
    const worker = aWorker(test)
    const payment = await worker.accept()
    await worker.take()
    const paymentKey = paymentKeyOf(payment.terms.id)
    await test.redis.set(keys.payment(PARTITION, paymentKey), '[1,1,"m')
    await test.redis.xadd(STREAM, '*', ...aWake(paymentKey))
    await worker.work()
    const [letter] = await listDeadLetters(test.redis, PARTITION + 1)
    expect(letter).to.deep.include({
      reason: 'A stored payment is not a list with a format number.',
      command: { paymentId: payment.terms.id, kind: 'wake' }
    })
    expect(await worker.wakeUpOf(payment)).to.equal(null)
  })
})

describe('commands of another version in a stream', () => {
  const test = useRedis()
  let blocking: Redis
  let loop: CommandLoop
  const lines: string[] = []
  const handled: CommandEntry[] = []
  const log = createLogger('test', 'warn', writingTo(lines))
  const foreign = aWake(PAYMENT_KEY).map(inAnotherFormat)
  const unknownKind = ['e', `[${FORMAT},"${PAYMENT_KEY}",[99]]`]

  const start = async (leaveMs: number): Promise<void> => {
    loop = await startCommandLoop({
      work: paymentWork,
      blocking,
      redis: test.redis,
      partitions: PARTITION + 1,
      consumer: 'worker',
      concurrency: 1,
      heartbeatMs: 1_000,
      leaveMs,
      handle: async entry => {
        handled.push(entry)
        await test.redis.xack(STREAM, paymentWork.group, entry.entryId)
        await test.redis.xdel(STREAM, entry.entryId)
        return 'done'
      },
      log
    })
  }

  before(async () => {
    blocking = await connect(test.url, 'blocking', log)
  })
  beforeEach(async () => {
    await test.redis.flushdb()
    lines.length = 0
    handled.length = 0
  })
  after(() => disconnect(blocking))

  it('are left untouched, keep no slot, and flood no log', async () => {
    const entries = Array.from({ length: 40 }, (_, index) => (index % 2 === 0 ? foreign : unknownKind))
    for (const fields of entries) await test.redis.xadd(STREAM, '*', ...fields)
    await start(300)
    try {
      await test.redis.xadd(STREAM, '*', ...aWake(PAYMENT_KEY))
      await until('the readable command is handled', () => handled.length === 1)
      const [first] = (await test.redis.xrange(STREAM, '-', '+', 'COUNT', 1)).map(([id]) => id)
      await until('each has come back to the stream', async () => {
        const ids = (await test.redis.xrange(STREAM, '-', '+')).map(([id]) => id)
        return ids.length === entries.length && !ids.includes(first ?? '')
      })
    } finally {
      await loop.stop()
    }
    const left = (await test.redis.xrange(STREAM, '-', '+')).map(([, fields]) => fields)
    expect(left).to.have.deep.members(entries)
    expect(await test.redis.xlen(keys.deadLetters(PARTITION))).to.equal(0)
    expect(lines).to.have.length(1)
    expect(lines[0]).to.contain('a command was left to workers of another version')
    expect(lines[0]).to.contain('A stored command has format 2, and this version reads format 1')
    expect(handled).to.have.length(1)
  })

  it('go back at once when the worker stops', async () => {
    await start(60_000)
    await test.redis.xadd(STREAM, '*', ...foreign)
    await until('the worker has it', async () => {
      return (await test.redis.xpending(STREAM, paymentWork.group, '-', '+', 10, 'worker')).length === 1
    })
    await loop.stop()
    expect((await test.redis.xrange(STREAM, '-', '+')).map(([, fields]) => fields)).to.deep.equal([foreign])
    expect(await test.redis.xpending(STREAM, paymentWork.group, '-', '+', 10)).to.deep.equal([])
  })

  it('stay with a dead worker: a takeover counts as a delivery, which this version cannot write down', async () => {
    await start(60_000)
    await loop.stop()
    await test.redis.xadd(STREAM, '*', ...foreign)
    await test.redis.xreadgroup('GROUP', paymentWork.group, 'dead', 'STREAMS', STREAM, '>')
    const tookOver: string[] = []
    await takeoverRound(test.redis, paymentWork, PARTITION + 1, new Set(), worker => void tookOver.push(worker))
    expect(tookOver).to.deep.equal([])
    expect(await test.redis.xpending(STREAM, paymentWork.group, '-', '+', 10, 'dead')).to.have.length(1)
  })
})
