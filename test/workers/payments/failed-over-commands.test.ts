import { expect } from 'chai'
import type { CommandEntry } from '../../../redis/commands/command-entry.js'
import { paymentWork } from '../../../redis/commands/command-stream.js'
import { connect, disconnect, type Redis } from '../../../redis/connection/connections.js'
import { keys, PAYMENTS_GROUP } from '../../../redis/keys.js'
import { createLogger } from '../../../runtime/log.js'
import { type CommandLoop, startCommandLoop } from '../../../workers/payments/command-loop.js'
import { handleCommand } from '../../../workers/payments/handle-command.js'
import type { HandlingOutcome } from '../../../workers/payments/intake.js'
import { until } from '../../support/conditions.js'
import { approvedAndCaptured } from '../../support/fake-network.js'
import { aWake } from '../../support/payments.js'
import { useRedis } from '../../support/redis.js'
import { aWorker } from '../../support/worker.js'

const log = createLogger('test', 'silent')
const STREAM = keys.commands(0)

describe('a command that is delivered again as new, as by a master that took over without its last writes', () => {
  const test = useRedis()
  let blocking: Redis
  let loop: CommandLoop
  let seen: CommandEntry[]

  const start = async (outcome: HandlingOutcome): Promise<void> => {
    await test.redis.flushdb()
    seen = []
    loop = await startCommandLoop({
      work: paymentWork,
      blocking,
      redis: test.redis,
      partitions: 1,
      consumer: 'worker',
      concurrency: 4,
      heartbeatMs: 1_000,
      handle: async entry => {
        seen.push(entry)
        return outcome
      },
      log
    })
  }
  /** The group forgets that it has ever handed anything out. */
  const failOver = async (): Promise<void> => {
    await test.redis.xack(STREAM, PAYMENTS_GROUP, seen[0]?.entryId ?? '')
    await test.redis.xgroup('SETID', STREAM, PAYMENTS_GROUP, '0')
  }

  before(async () => {
    blocking = await connect(test.url, 'blocking', log)
  })
  after(() => disconnect(blocking))
  afterEach(() => loop.stop())

  it('is reconciled, not done twice, by a worker that has ended it before', async () => {
    await start('ended')
    await test.redis.xadd(STREAM, '*', ...aWake('0'.repeat(26)))
    await until('the command is handled', () => seen.length === 1)
    await failOver()
    await until('the command is handled again', () => seen.length === 2)
    expect(seen.map(entry => entry.deliveryCount)).to.deep.equal([0, 1])
  })

  it('is taken like a new one when the worker had done nothing', async () => {
    await start('delivery_lost')
    await test.redis.xadd(STREAM, '*', ...aWake('0'.repeat(26)))
    await until('the command is handled', () => seen.length === 1)
    await failOver()
    await until('the command is handled again', () => seen.length === 2)
    expect(seen.map(entry => entry.deliveryCount)).to.deep.equal([0, 0])
  })
})

describe('an authorisation where replicas are waited for', () => {
  const test = useRedis()

  it('is not sent by a worker whose delivery the new master does not know', async () => {
    const worker = aWorker(test, ({ commits }) => ({ commits: { ...commits, begin: async () => false } }))
    const payment = await worker.accept()
    worker.network.willAnswer(approvedAndCaptured)
    expect(await handleCommand(await worker.takeOne(), worker.deps, new AbortController().signal)).to.equal(
      'delivery_lost'
    )
    expect(worker.network.asked).to.deep.equal([])
    expect((await worker.load(payment)).progress.status).to.equal('pending')
    expect((await worker.left()).commands).to.equal(1)
  })
})
