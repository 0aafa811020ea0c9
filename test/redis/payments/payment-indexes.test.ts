import { expect } from 'chai'
import type { PaymentStatus } from '../../../machines/model.js'
import type { Redis } from '../../../redis/connection/connections.js'
import { keys, paymentKeyOf } from '../../../redis/keys.js'
import { referencePrefix } from '../../../redis/payments/payment-indexes.js'
import { createRandom } from '../../simulation/random.js'
import { listedPages, moveTo, storePayment, type Wanted } from '../../support/listed-payments.js'
import { MERCHANT, PARTITION } from '../../support/payments.js'
import { useRedis } from '../../support/redis.js'

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS
const START_MS = Date.UTC(2026, 0, 31, 23)

describe('the indexes of payments', () => {
  const test = useRedis()
  const store = async (wanted: Wanted): Promise<string> => (await storePayment(test.redis, wanted)).terms.id
  const captured = (atMs: number): Promise<string> => store({ atMs, status: 'captured' })
  const someCaptured = async (): Promise<string[]> => {
    const ids: string[] = []
    for (let i = 0; i < 3; i++) ids.unshift(await captured(START_MS - DAY_MS + i))
    return ids
  }

  afterEach(async () => {
    await test.redis.flushdb()
  })

  it('give the pages of all payments in order, of all statuses and references', async () => {
    const random = createRandom(1)
    const pick = <T>(values: readonly T[]): T => values[Math.floor(random.next() * values.length)] as T
    // Some at the same moment.
    const offsets = [-DAY_MS, -HOUR_MS, -1, -1, 0, 0, 0, 1, HOUR_MS, 2 * HOUR_MS, DAY_MS - 1, DAY_MS]
    const stored: { id: string; status: PaymentStatus; externalReference: string }[] = []
    for (let i = 0; i < 120; i++) {
      const status = pick(['pending', 'captured', 'captured', 'failed'] as const)
      const externalReference = pick(['a', 'a', 'b', 'c'])
      const payment = await storePayment(test.redis, { atMs: START_MS + pick(offsets), status, externalReference })
      const isRefunded = status === 'captured' && random.next() < 0.6
      const before = { ...payment, version: 2, progress: { ...payment.progress, status } }
      if (isRefunded) await moveTo(test.redis, before, 'refunded')
      stored.push({ id: payment.terms.id, status: isRefunded ? 'refunded' : status, externalReference })
    }
    stored.sort((a, b) => (a.id < b.id ? 1 : -1))
    for (const status of [null, 'captured', 'failed', 'refunded'] as const) {
      for (const externalReference of [null, 'a', 'b', 'none']) {
        const ids = stored
          .filter(one => status === null || one.status === status)
          .filter(one => externalReference === null || one.externalReference === externalReference)
          .map(({ id }) => id)
        for (const limit of [1, 2, 3, 7, 20, ids.length, 100]) {
          if (limit === 0) continue
          const pages = await listedPages(test.redis, { status, externalReference, limit })
          expect(pages.flat(), `${status} ${externalReference} ${limit}`).to.deep.equal(ids)
          // With both filters the last full page cannot know that only payments of other statuses follow.
          const spare = status !== null && externalReference !== null ? 1 : 0
          const count = Math.max(1, Math.ceil(ids.length / limit))
          expect(pages.length, `${status} ${externalReference} ${limit}`).to.be.within(count, count + spare)
        }
      }
    }
  })

  it('show a payment first whose time is ahead, because a clock was', async () => {
    const old = await someCaptured()
    const ahead = await captured(START_MS + 3 * HOUR_MS)
    const later = await captured(START_MS)
    expect(await listedPages(test.redis, { status: 'captured' })).to.deep.equal([
      [ahead, later],
      old.slice(0, 2),
      old.slice(2)
    ])
  })

  it('go on at the same place while payments arrive', async () => {
    const ids = await someCaptured()
    for (const atMs of [0, 10, 20, 30]) ids.unshift(await captured(START_MS + atMs))
    const late: string[] = []
    const pages = await listedPages(test.redis, { limit: 2 }, async page => {
      if (page !== 1) return
      for (const atMs of [40, HOUR_MS]) await captured(START_MS + atMs)
      // Of an API that was slow: its id is older than the cursor.
      late.push(await captured(START_MS + 15))
    })
    expect(pages.flat()).to.deep.equal([...ids.slice(0, 2), ...late, ...ids.slice(2)])
  })

  it('show a payment once whose status changes while a page is put together', async () => {
    const old = await someCaptured()
    const pending = []
    for (let i = 0; i < 6; i++) {
      pending.unshift(await storePayment(test.redis, { atMs: START_MS + i * HOUR_MS }))
    }
    const left = [...pending]
    const evalsha = async (...args: Parameters<Redis['evalsha']>): Promise<unknown> => {
      const found = await test.redis.evalsha(...args)
      const moving = left.pop()
      if (moving !== undefined) await moveTo(test.redis, moving, 'captured')
      return found
    }
    const moving: Redis = Object.create(test.redis, { evalsha: { value: evalsha } })
    const pages = await listedPages(moving, { limit: 2 })
    expect(pages.flat()).to.deep.equal([...pending.map(({ terms }) => terms.id), ...old])
  })

  it('show no payment of another reference that has the same prefix', async () => {
    const [mine, other] = [await store({ atMs: START_MS }), await store({ atMs: START_MS, externalReference: 'b' })]
    const index = keys.byReference(PARTITION, MERCHANT)
    await test.redis.zadd(index, 0, `${referencePrefix('a')}${paymentKeyOf(other)}`)
    expect((await listedPages(test.redis, { externalReference: 'a' })).flat()).to.deep.equal([mine])
  })
})

describe('the indexes of payments, from a time to a time', () => {
  const test = useRedis()

  it('give the payments of a range of times, and read nothing outside of it', async () => {
    const stored: { id: string; atMs: number }[] = []
    const offsets = [-2 * HOUR_MS, -HOUR_MS, -1, 0, 1, HOUR_MS - 1, HOUR_MS, HOUR_MS + 1, 2 * HOUR_MS, DAY_MS]
    for (const offset of offsets) {
      for (const status of ['captured', 'captured', 'failed'] as const) {
        const atMs = START_MS + offset
        stored.push({ id: (await storePayment(test.redis, { atMs, status })).terms.id, atMs })
      }
    }
    stored.sort((a, b) => (a.id < b.id ? 1 : -1))
    const edges = [null, ...offsets.map(offset => START_MS + offset), START_MS + 500]
    for (const createdFromMs of edges) {
      for (const createdToMs of edges) {
        const wanted = stored
          .filter(({ atMs }) => createdFromMs === null || atMs >= createdFromMs)
          .filter(({ atMs }) => createdToMs === null || atMs < createdToMs)
          .map(({ id }) => id)
        const [counted, loaded] = countingReads(test.redis)
        for (const externalReference of [null, 'a']) {
          const pages = await listedPages(counted, { createdFromMs, createdToMs, externalReference, limit: 7 })
          expect(pages.flat(), `${createdFromMs} ${createdToMs}`).to.deep.equal(wanted)
        }
        // One more than a page is looked up in the indexes, never loaded.
        expect(loaded.count).to.be.at.most(2 * wanted.length + 2 * Math.ceil(wanted.length / 7))
      }
    }
  })
})

/** A connection that counts the payments that are read. */
function countingReads(redis: Redis): [Redis, { count: number }] {
  const loaded = { count: 0 }
  const mget = (names: string[]): Promise<(string | null)[]> => {
    loaded.count += names.length
    return redis.mget(names)
  }
  return [Object.create(redis, { mget: { value: mget } }), loaded]
}
