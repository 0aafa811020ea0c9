import { expect } from 'chai'
import { Registry } from 'prom-client'
import { expiries } from '../../../redis/commands/fire-wake-ups.js'
import { ensureGroups, readCommands } from '../../../redis/commands/read-commands.js'
import { writeHeartbeat } from '../../../redis/commands/takeover.js'
import { paymentWork } from '../../../redis/commands/work-kind.js'
import { connectInBackground, type Redis } from '../../../redis/connection/connections.js'
import { unreplicated } from '../../../redis/connection/writes.js'
import { keys } from '../../../redis/keys.js'
import { createPaymentStore } from '../../../redis/payments/payments.js'
import { createReconcilePace } from '../../../redis/reconciliation/reconcile-pace.js'
import { deliveryWork } from '../../../redis/webhooks/webhook-queue.js'
import { systemClock } from '../../../runtime/clock.js'
import { delay } from '../../../runtime/delay.js'
import { createLogger } from '../../../runtime/log.js'
import { ConsumerWatch } from '../../../workers/timers/consumer-watch.js'
import { wakeRound } from '../../../workers/timers/rounds.js'
import { type RoundsLoop, startRounds } from '../../../workers/timers/rounds-loop.js'
import { createTimersMetrics } from '../../../workers/timers/timers-metrics.js'
import { until } from '../../support/conditions.js'
import { unboundedPace } from '../../support/pace.js'
import { anAcceptance, aPayment, createCommand, PARTITION } from '../../support/payments.js'
import { useRedis } from '../../support/redis.js'

/** Longer than the gap between two looks at the workers (500 ms), so that a look comes before the silence is over. */
const SILENCE_MS = 1_200
const DUE_INTERVAL_MS = 20
/** On a busy machine, between the last round that failed and the end of the outage. Without the rule all of the silence is missing. */
const TOLERATED_MS = 300

describe('the timers after an outage of Redis', () => {
  const test = useRedis()
  let isAway = false
  let loop: RoundsLoop
  let stopping: AbortController
  let takeovers: { atMs: number; commands: number }[]

  /** A worker has taken a command. Then Redis is away for longer than the silence that counts as death. */
  const outage = async (): Promise<void> => {
    await test.redis.flushdb()
    await ensureGroups(test.redis, PARTITION + 1, paymentWork)
    await ensureGroups(test.redis, PARTITION + 1, deliveryWork)
    await createPaymentStore(unreplicated(test.redis)).acceptPayment(
      aPayment({ idempotencyKey: 'r' }),
      createCommand,
      anAcceptance({ idempotencyKey: 'r' })
    )
    expect((await readCommands(test.redis, paymentWork, 'worker', [PARTITION], 1)).entries).to.have.lengthOf(1)
    isAway = true
    takeovers = []
    stopping = new AbortController()
    loop = startRounds({
      webhookPollMs: 50,
      redis: leaving(test.redis),
      pace: createReconcilePace(test.redis, 100),
      metrics: {
        ...createTimersMetrics(new Registry()),
        tookOver: (commands = 0) => void takeovers.push({ atMs: performance.now(), commands })
      },
      partitions: PARTITION + 1,
      timersIntervalMs: DUE_INTERVAL_MS,
      takeoverAfterMs: SILENCE_MS,
      clock: { ...systemClock, real: systemClock, isApart: () => false },
      log: createLogger('timers', 'silent'),
      stopping: stopping.signal
    })
    await delay(SILENCE_MS + 300)
    expect(await loop.problem().catch(String)).to.contain('there is no connection to Redis')
    isAway = false
  }
  const end = async (): Promise<void> => {
    stopping.abort()
    await loop.ended()
  }

  it('give workers their full silence anew before their commands go to others', async () => {
    await outage()
    const backAtMs = performance.now()
    const taken = await until('the command is handed over', () => takeovers.find(({ commands }) => commands > 0))
    expect(taken.commands).to.equal(1)
    expect(taken.atMs - backAtMs).to.be.above(SILENCE_MS - TOLERATED_MS)
    await until('its rounds work', async () => (await loop.problem().catch(String)) === undefined)
    await end()
  })

  it('take nothing from a worker that lived through it', async () => {
    // A pause of this process or of Redis may be longer than the silence: then once more.
    await until('they take nothing', async () => {
      await outage()
      const life = setInterval(() => void writeHeartbeat(test.redis, 'worker').catch(() => undefined), 100)
      await until('they look after the silence', () => takeovers.length > 0)
      clearInterval(life)
      await end()
      return takeovers.every(({ commands }) => commands === 0)
    })
  })

  /** The same connection, whose commands fail while Redis is away. */
  function leaving(redis: Redis): Redis {
    return new Proxy(redis, {
      get: (target, name) => {
        const value: unknown = Reflect.get(target, name)
        if (typeof value !== 'function') return value
        return isAway ? () => Promise.reject(new Error('Connection is closed.')) : value.bind(target)
      }
    })
  }
})

describe('the timers while the clocks of their machine and of Redis differ by more than a minute', () => {
  const test = useRedis()

  it('fire no wake-up, however long it is due, and all of them when the clocks agree', async () => {
    await ensureGroups(test.redis, PARTITION + 1, paymentWork)
    await ensureGroups(test.redis, PARTITION + 1, deliveryWork)
    for (const list of [keys.due, keys.reconcile]) await test.redis.zadd(list(PARTITION), 1, list(PARTITION).slice(6))
    const stopping = new AbortController()
    let isApart = true
    let rounds = 0
    const loop = startRounds({
      webhookPollMs: 50,
      redis: test.redis,
      pace: createReconcilePace(test.redis, 100),
      metrics: createTimersMetrics(new Registry()),
      partitions: PARTITION + 1,
      timersIntervalMs: DUE_INTERVAL_MS,
      takeoverAfterMs: SILENCE_MS,
      clock: {
        ...systemClock,
        real: systemClock,
        isApart: () => {
          rounds++
          return isApart
        }
      },
      log: createLogger('timers', 'silent'),
      stopping: stopping.signal
    })
    await until('some rounds', () => rounds > 10)
    expect(await test.redis.xlen(keys.commands(PARTITION))).to.equal(0)
    isApart = false
    await until('both are fired', async () => (await test.redis.xlen(keys.commands(PARTITION))) === 2)
    stopping.abort()
    await loop.ended()
  })
})

const log = createLogger('test', 'silent')
const [LOST, KEPT, PARTITIONS] = [0, 1, 2]

describe('a round of timers on a Cluster', () => {
  const test = useRedis()

  /** Two masters, as the rounds see them: the one of partition `LOST` is away. */
  const halfOfACluster = (): Redis => {
    const real = connectInBackground('redis-cluster://127.0.0.1:1', 'commands', log, 'REDIS_URL')
    real.disconnect()
    const evalsha = (hash: string, count: number, ...keysAndArgs: string[]) =>
      keysAndArgs.includes(keys.due(LOST))
        ? Promise.reject(new Error('Connection is closed.'))
        : test.redis.evalsha(hash, count, ...keysAndArgs)
    return new Proxy(test.redis, {
      getPrototypeOf: () => Object.getPrototypeOf(real),
      get: (redis, name) => ({ evalsha, nodes: () => [redis, redis] })[String(name)] ?? Reflect.get(redis, name)
    })
  }

  it('fires what is due at the reachable masters, then fails', async () => {
    for (const partition of [LOST, KEPT]) await test.redis.zadd(keys.due(partition), 1, 'payment')
    const failure = await wakeRound(halfOfACluster(), expiries, unboundedPace, PARTITIONS, 10).catch(String)
    expect(failure).to.contain('Connection is closed.')
    expect(await test.redis.zcount(keys.due(KEPT), '-inf', 10)).to.equal(0)
  })
})

describe('the check of the consumers', () => {
  let watch: ConsumerWatch
  beforeEach(() => {
    watch = new ConsumerWatch()
    watch.saw(['a', 'b'])
    watch.looked(0)
  })

  it('is due at the start, and every 8 s', () => {
    expect(new ConsumerWatch().isLookDue(0)).to.equal(true)
    expect([watch.isLookDue(7_999), watch.isLookDue(8_001)]).to.deep.equal([false, true])
  })

  it('is due as soon as a worker is silent, until a check leaves nothing of it', () => {
    watch.saw(['b'])
    expect(watch.isLookDue(500)).to.equal(true)
    watch.saw(['b'])
    expect(watch.isLookDue(1_000)).to.equal(true)
    watch.looked(1_000)
    expect(watch.isLookDue(1_500)).to.equal(false)
  })

  it('is due for a worker that came after the last check, and went', () => {
    watch.saw(['a', 'b', 'c'])
    expect(watch.isLookDue(500)).to.equal(false)
    watch.saw(['a', 'b'])
    expect(watch.isLookDue(1_000)).to.equal(true)
  })

  it('is not due for a worker that came back before it', () => {
    watch.saw(['a'])
    watch.saw(['a', 'b'])
    expect(watch.isLookDue(1_000)).to.equal(false)
  })
})
