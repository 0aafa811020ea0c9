import { expect } from 'chai'
import { Registry } from 'prom-client'
import { ArchiveUnavailable } from '../../../archive/archive.js'
import { withArchive } from '../../../archive/payment-store.js'
import type { Payment } from '../../../machines/model.js'
import type { Redis } from '../../../redis/connection/connections.js'
import { unreplicated } from '../../../redis/connection/writes.js'
import { keys, paymentKeyOf } from '../../../redis/keys.js'
import { createPaymentStore } from '../../../redis/payments/payments.js'
import { createLogger } from '../../../runtime/log.js'
import { createArchiveMetrics } from '../../../workers/archive/archive-metrics.js'
import { type MoverDeps, moveRound } from '../../../workers/archive/mover.js'
import { type Moving, pauseAfterMs, startMoving } from '../../../workers/archive/moving.js'
import { until } from '../../support/conditions.js'
import { armNamedPoints } from '../../support/crash-steps.js'
import { listedPages, moveTo, storePayment } from '../../support/listed-payments.js'
import { MemoryArchive } from '../../support/memory-archive.js'
import { CREATED_MS, DAY_MS, MERCHANT, PARTITION } from '../../support/payments.js'
import { useRedis } from '../../support/redis.js'

const AFTER_MS = 90 * DAY_MS
/** A round past this moves everything that was stored at `CREATED_MS`. */
const LATE_MS = CREATED_MS + AFTER_MS + DAY_MS
/** With so many, the merchant of the tests is in `PARTITION`. */
const PARTITIONS = 5
const never = new AbortController().signal
const log = createLogger('test', 'silent')

describe('the mover of payments at rest', () => {
  const test = useRedis()
  let archive: MemoryArchive
  let nowMs: number

  beforeEach(async () => {
    await test.redis.flushdb()
    await test.secrets.flushdb()
    archive = new MemoryArchive()
    nowMs = LATE_MS
  })
  afterEach(() => armNamedPoints(null))

  const deps = (changes: Partial<MoverDeps> = {}): MoverDeps => ({
    writes: unreplicated(test.redis),
    archive,
    merchantIds: async () => [MERCHANT],
    partitions: PARTITIONS,
    afterMs: AFTER_MS,
    perSecond: 100_000,
    metrics: createArchiveMetrics({ now: () => nowMs }, new Registry()),
    clock: { now: () => nowMs },
    log,
    ...changes
  })
  const redisStore = () => createPaymentStore(unreplicated(test.redis))
  const store = () => withArchive(redisStore(), archive, { writes: unreplicated(test.redis) })
  const inRedis = ({ terms }: Payment) => redisStore().load(PARTITION, paymentKeyOf(terms.id))
  /** A payment whose last operation has ended. */
  const ended = async (status: 'captured' | 'refunded' | 'pre_authorized', atMs = CREATED_MS): Promise<Payment> => {
    const payment = await storePayment(test.redis, { atMs })
    const operation = { ...payment.progress.operation, state: 'succeeded' } as const
    await moveTo(test.redis, { ...payment, progress: { ...payment.progress, operation } }, status)
    const stored = await inRedis(payment)
    if (stored === null) throw new Error('it was stored')
    return stored
  }
  const rests = async ({ terms }: Payment): Promise<number> =>
    Number(await test.redis.zscore(keys.rests(PARTITION), paymentKeyOf(terms.id)))

  it('moves payments at rest, and notes when to look at the others', async () => {
    const [resting, held] = [await ended('captured'), await ended('pre_authorized')]
    const open = await storePayment(test.redis, { atMs: CREATED_MS })
    const young = await ended('captured', LATE_MS)
    await moveRound(deps(), never)
    expect([...archive.rows.keys()]).to.deep.equal([resting.terms.id])
    expect(await inRedis(resting)).to.equal(null)
    for (const payment of [held, open]) expect(await rests(payment)).to.equal(LATE_MS + AFTER_MS)
    expect(await rests(young)).to.equal(0)
    expect(await inRedis(young)).to.deep.equal(young)
  })

  it('moves a noted payment when it has rested since its last change', async () => {
    const payment = await ended('pre_authorized')
    await moveRound(deps(), never)
    const captured = {
      ...payment,
      history: [{ atMs: LATE_MS + 1, event: 'CAPTURED', status: 'captured', phase: null, detail: null, times: 1 }]
    } as const
    await moveTo(test.redis, captured, 'captured')
    nowMs = LATE_MS + AFTER_MS
    await moveRound(deps(), never)
    expect(await rests(payment)).to.equal(LATE_MS + 1 + AFTER_MS)
    nowMs++
    await moveRound(deps(), never)
    expect(await inRedis(payment)).to.equal(null)
    expect(await test.redis.exists(keys.rests(PARTITION))).to.equal(0)
  })

  it('keeps the note of a payment that returns while its old note is removed', async () => {
    const payment = await ended('captured')
    await moveRound(deps(), never)
    await test.redis.zadd(keys.rests(PARTITION), 1, paymentKeyOf(payment.terms.id))
    const redis = beforeZrem(test.redis, () => store().loadForChange(PARTITION, paymentKeyOf(payment.terms.id)))
    await moveRound(deps({ writes: unreplicated(redis) }), never)
    expect(await rests(payment)).to.equal(LATE_MS + AFTER_MS)
  })

  it('notes a payment again that changes while it is moved', async () => {
    const payment = await ended('captured')
    const put = archive.put.bind(archive)
    archive.put = async payments => {
      await put(payments)
      await moveTo(test.redis, payment, 'charged_back')
    }
    await moveRound(deps(), never)
    expect((await inRedis(payment))?.progress.status).to.equal('charged_back')
    expect(await rests(payment)).to.be.above(LATE_MS)
  })

  it('moves more than one batch, and later payments from where it stopped', async () => {
    const payments: Payment[] = []
    for (let i = 0; i < 450; i++) payments.push(await ended(i % 2 === 0 ? 'captured' : 'refunded', CREATED_MS + i))
    await moveRound(deps(), never)
    expect(archive.rows.size).to.equal(450)
    expect(await test.redis.hget(keys.archiveCursors(PARTITION), MERCHANT)).to.equal(
      paymentKeyOf(payments.at(-1)?.terms.id ?? '')
    )
    const later = await ended('captured', CREATED_MS + 3_600_000)
    await moveRound(deps(), never)
    expect(await inRedis(later)).to.equal(null)
    const listed = (await listedPages(test.redis, { limit: 100 }, undefined, store())).flat()
    expect(listed).to.deep.equal([...payments, later].map(({ terms }) => terms.id).reverse())
  })

  it('moves nothing once the archive has lost the newest that left: a newer one would hide the loss', async () => {
    await ended('captured')
    await moveRound(deps(), never)
    archive.rows.clear()
    const later = await ended('captured', CREATED_MS + 1)
    expect(await moveRound(deps(), never).catch(String)).to.contain('lacks payments that left Redis')
    expect(await inRedis(later)).not.to.equal(null)
  })

  it('leaves a payment in Redis that this version cannot read', async () => {
    const [strange, other] = [await ended('captured'), await ended('captured', CREATED_MS + 1)]
    const key = keys.payment(PARTITION, paymentKeyOf(strange.terms.id))
    await test.redis.set(key, `3 ${MERCHANT} {"z":99}`)
    await moveRound(deps(), never)
    expect(await test.redis.exists(key)).to.equal(1)
    expect(await inRedis(other)).to.equal(null)
  })

  it('moves at most ARCHIVE_PER_SECOND, and returns how long it looked where nothing was due', async () => {
    for (let i = 0; i < 20; i++) await ended('captured', CREATED_MS + i)
    const startedMs = performance.now()
    const idleMs = await moveRound(deps({ perSecond: 10 }), never)
    expect(performance.now() - startedMs).to.be.greaterThan(1_900)
    // The pauses of the pace are not part of it; the looks of a machine that is busy are.
    expect(idleMs).to.be.within(0, 1_900)
  })

  describe('while the archive is unavailable', () => {
    let moving: Moving
    let stopping: AbortController
    beforeEach(() => {
      stopping = new AbortController()
    })
    afterEach(async () => {
      stopping.abort()
      await moving.ended()
    })

    it('reports it, loses nothing, and continues after it', async () => {
      const payment = await ended('captured')
      const put = archive.put.bind(archive)
      archive.put = () => Promise.reject(new ArchiveUnavailable(new Error('connect ECONNREFUSED')))
      const warnings: string[] = []
      const noisy = Object.assign(Object.create(log), { warn: (_: object, text: string) => warnings.push(text) })
      let prepared = 0
      const prepare = async (): Promise<void> => {
        if (prepared++ === 0) throw new ArchiveUnavailable(new Error('connect ECONNREFUSED'))
      }
      moving = startMoving(deps({ log: noisy }), prepare, stopping.signal)
      await until('it was prepared', () => prepared === 2)
      await until('the problem is told', () => moving.problem() !== undefined)
      expect(moving.problem()).to.contain('The archive (ARCHIVE_URL) can')
      expect(await inRedis(payment)).to.deep.equal(payment)
      archive.put = put
      await until('it goes on', () => moving.problem() === undefined)
      expect(await inRedis(payment)).to.equal(null)
      expect(warnings).to.have.length(1)
      expect(prepared).to.equal(2)
    })
  })
})

describe('the pause of the mover', () => {
  it('is minutes at most, however long a round took', () => {
    expect(pauseAfterMs(10)).to.equal(1_000)
    expect(pauseAfterMs(1_000)).to.equal(20_000)
    expect(pauseAfterMs(10 * 3_600_000)).to.equal(300_000)
  })
})

/** A connection on which something happens right before members of a zset are removed. */
function beforeZrem(redis: Redis, work: () => Promise<unknown>): Redis {
  return new Proxy(redis, {
    get: (target, name) => {
      if (name !== 'zrem') return Reflect.get(target, name)
      return async (...given: [string, ...string[]]) => {
        await work()
        return await target.zrem(...given)
      }
    }
  })
}
