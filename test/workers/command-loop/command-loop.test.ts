import { expect } from 'chai'
import { ensureGroups } from '../../../redis/commands/read-commands.js'
import { paymentWork } from '../../../redis/commands/work-kind.js'
import { connect, disconnect, type Redis } from '../../../redis/connection/connections.js'
import { keys, newPaymentId, paymentKeyOf } from '../../../redis/keys.js'
import { createLogger } from '../../../runtime/log.js'
import { startCommandLoop } from '../../../workers/command-loop/command-loop.js'
import { returnEntry } from '../../../workers/command-loop/return-entry.js'
import { createSlots } from '../../../workers/command-loop/slots.js'
import { untilFree } from '../../../workers/command-loop/until-free.js'
import { until } from '../../support/conditions.js'
import { aWake } from '../../support/payments.js'
import { useRedis } from '../../support/redis.js'

const log = createLogger('payments', 'silent')

describe('an entry that a worker does not end', () => {
  /** Redis is away for the first two tries. */
  async function triesOf(stopping: AbortSignal): Promise<number> {
    let tries = 0
    const move = async (): Promise<void> => {
      if (++tries <= 2) throw new Error('Connection is closed.')
    }
    await returnEntry(move, { log, ids: {}, stopping })
    return tries
  }

  it('is returned by a living worker however often that fails: its entries are not taken over', async () => {
    expect(await triesOf(new AbortController().signal)).to.equal(3)
  })

  it('is left to its next worker when the worker stops', async () => {
    expect(await triesOf(AbortSignal.abort())).to.equal(1)
  })
})

/** Works that end when the test says so. */
function stage() {
  const running: string[] = []
  const ends = new Map<string, () => void>()
  const work = (name: string) => (): Promise<void> => {
    running.push(name)
    return new Promise(resolve =>
      ends.set(name, () => {
        running.splice(running.indexOf(name), 1)
        resolve()
      })
    )
  }
  const end = async (name: string): Promise<void> => {
    ends.get(name)?.()
    await new Promise(setImmediate)
  }
  return { running, work, end }
}

describe('the slots of a worker', () => {
  it('run a suspect alone: after what runs, before what comes later', async () => {
    const { running, work, end } = stage()
    const slots = createSlots(10)
    slots.run(work('before'))
    slots.runAlone(work('suspect'))
    slots.run(work('after'))
    slots.runAlone(work('another'))
    expect(running).to.deep.equal(['before'])
    await end('before')
    expect(running).to.deep.equal(['suspect'])
    await end('suspect')
    expect(running).to.deep.equal(['another'])
    await end('another')
    expect(running).to.deep.equal(['after'])
    await end('after')
    await slots.allFree()
  })

  it('take nothing more while a suspect waits or runs', async () => {
    const { work, end } = stage()
    const slots = createSlots(10)
    slots.run(work('before'))
    slots.runAlone(work('suspect'))
    let isFree = false
    const free = slots.someFree().then(() => {
      isFree = true
    })
    await end('before')
    expect(isFree).to.equal(false)
    await end('suspect')
    await free
  })
})

describe('untilFree', () => {
  /** Answers these one after the other; errors are thrown. */
  const outcomeOf = async (
    answers: ('done' | 'taken' | 'again' | Error)[],
    stopping = new AbortController().signal
  ) => {
    const attempt = async () => {
      const answer = answers.shift() ?? 'done'
      if (answer instanceof Error) throw answer
      return answer
    }
    const waitsFor = (error: unknown) => (error instanceof RangeError ? 'it waits' : null)
    return await untilFree(attempt, { lockedPauseMs: () => 10, waitsFor, ids: {}, log, stopping }).catch(
      (error: Error) => error.message
    )
  }

  it('waits for the lock, and while something is unavailable', async () => {
    expect(await outcomeOf(['taken', new RangeError(), 'again', 'taken'])).to.equal('done')
  })

  it('rethrows an error that is not an outage', async () => {
    expect(await outcomeOf(['taken', new Error('broken')])).to.equal('broken')
  })

  it('ends with its worker', async () => {
    const stopping = new AbortController()
    const answers = Array<'taken'>(1_000).fill('taken')
    setTimeout(() => stopping.abort(), 60)
    expect(await outcomeOf(answers, stopping.signal)).to.equal('stopped')
    expect(await outcomeOf(['done'], AbortSignal.abort())).to.equal('stopped')
  })
})

describe('a command loop', () => {
  const test = useRedis()
  const handled: string[] = []
  let stops: (() => Promise<void>)[] = []
  afterEach(async () => {
    await Promise.all(stops.map(stop => stop()))
    stops = []
  })

  /** `reads`: what does the reading, over this connection. */
  async function start(
    reads: (blocking: Redis) => Redis = blocking => blocking,
    options: { consumer?: string; readsLast?: () => boolean; handles?: (entryId: string) => void } = {}
  ): Promise<void> {
    const { consumer = 'worker', handles = entryId => handled.push(entryId), ...more } = options
    await ensureGroups(test.redis, 2, paymentWork)
    const blocking = await connect(test.url, 'blocking', log)
    const loop = await startCommandLoop({
      redis: test.redis,
      blocking: reads(blocking),
      work: paymentWork,
      partitions: 2,
      consumer,
      concurrency: 4,
      heartbeatMs: 1_000,
      handle: async ({ entryId }) => {
        handles(entryId)
        return 'done'
      },
      ...more,
      log
    })
    stops.push(async () => {
      await loop.stop()
      await disconnect(blocking)
    })
  }

  it('that reads last gets what others leave: with another worker nothing, alone everything', async () => {
    let isUnusable = true
    const byUnusable: string[] = []
    const handles = (entryId: string) => byUnusable.push(entryId)
    await start(undefined, { consumer: 'unusable', readsLast: () => isUnusable, handles })
    const add = async (): Promise<string> =>
      String(await test.redis.xadd(keys.commands(0), '*', ...aWake(paymentKeyOf(newPaymentId(0, Date.now())))))
    const alone = await add()
    await until('it takes what is left', () => byUnusable.includes(alone))
    await start(undefined, { consumer: 'usable' })
    for (let times = 0; times < 10; times++) {
      const entryId = await add()
      await until('the other takes it', () => handled.includes(entryId))
    }
    expect(byUnusable).to.deep.equal([alone])
    isUnusable = false
    await until('it has its share again', async () => {
      await add()
      return byUnusable.length > 1
    })
  })

  it('takes what was delivered with an answer that was lost', async () => {
    let lost = 0
    const losing = (blocking: Redis): Redis =>
      Object.create(blocking, {
        xreadgroup: {
          value: async (...given: Parameters<Redis['xreadgroup']>) => {
            const answer = await blocking.xreadgroup(...given)
            if (answer === null || lost++ > 0) return answer
            throw new Error('Connection is closed.')
          }
        }
      })
    await start(losing)
    const entryId = await test.redis.xadd(keys.commands(1), '*', ...aWake(paymentKeyOf(newPaymentId(1, Date.now()))))
    // Far sooner than the look that comes without a reason.
    await until('the entry is taken', () => handled.includes(String(entryId)), 20_000)
    expect(lost).to.be.greaterThan(0)
  })

  it('goes on reading the others beside a stream of another type, also when an entry of theirs could not be set aside', async () => {
    await start()
    await test.redis.rename(keys.commands(0), '{p00}:aside')
    await test.redis.set(keys.commands(0), 'no stream')
    await test.redis.set(keys.deadLetters(1), 'no stream')
    await test.redis.xadd(keys.commands(1), '*', 'nonsense', '1')
    const pending = async (): Promise<boolean> =>
      Number((await test.redis.xpending(keys.commands(1), paymentWork.group))[0]) === 1
    await until('the entry is read', pending)
    await test.redis.del(keys.deadLetters(1))
    await test.redis.xadd(keys.commands(1), '*', 'nonsense', '2')
    await until('both are set aside', async () => (await test.redis.xlen(keys.deadLetters(1))) === 2)
  })
})
