import { expect } from 'chai'
import { unreplicated } from '../../../redis/connection/writes.js'
import { keys, partitionOf } from '../../../redis/keys.js'
import {
  createWebhookEndpointStore,
  ROTATION_OVERLAP_MS,
  type WebhookEndpoint
} from '../../../redis/webhooks/webhook-endpoints.js'
import { useRedis } from '../../support/redis.js'

const PARTITIONS = 4
const MERCHANT = 'm_1'
const URL = 'https://shop.example/hooks'
const HOUR_MS = 3_600_000

describe('the store of webhook endpoints', () => {
  const test = useRedis()
  const store = () => createWebhookEndpointStore(unreplicated(test.redis), PARTITIONS)
  const key = keys.webhookEndpoint(partitionOf(MERCHANT, PARTITIONS), MERCHANT)
  const register = (nowMs: number, changes: { url?: string; isRotation?: boolean } = {}): Promise<WebhookEndpoint> =>
    store().register({ merchantId: MERCHANT, url: URL, isRotation: true, keyId: 'k1', nowMs, ...changes })
  const salts = ({ seed, previous }: WebhookEndpoint): string[] => [seed, ...previous].map(({ salt }) => salt)

  beforeEach(() => test.redis.flushdb())

  it('keeps every secret that was rotated away for its own 24 hours, however often the rotation is repeated', async () => {
    expect(ROTATION_OVERLAP_MS).to.equal(24 * HOUR_MS)
    const first = await register(0)
    const second = await register(HOUR_MS)
    const third = await register(2 * HOUR_MS)
    expect(salts(third)).to.deep.equal([third.seed.salt, second.seed.salt, first.seed.salt])
    expect(third.previous.map(({ untilMs }) => untilMs)).to.deep.equal([
      2 * HOUR_MS + ROTATION_OVERLAP_MS,
      HOUR_MS + ROTATION_OVERLAP_MS
    ])
    expect(await store().find(MERCHANT)).to.deep.equal(third)
    const late = await register(HOUR_MS + ROTATION_OVERLAP_MS)
    expect(salts(late)).to.deep.equal([late.seed.salt, third.seed.salt, second.seed.salt])
  })

  it('keeps the oldest and the latest of too many', async () => {
    const all = [await register(0)]
    for (let times = 1; times < 20; times++) all.push(await register(times))
    const stored = await store().find(MERCHANT)
    const kept = stored === null ? [] : salts(stored)
    expect(kept).to.have.length(9)
    expect(kept.at(-1)).to.equal(all[0]?.seed.salt)
    expect(kept.slice(0, 8)).to.deep.equal(
      all
        .slice(-8)
        .reverse()
        .map(({ seed }) => seed.salt)
    )
  })

  it('ends all secrets of a URL with the URL', async () => {
    await register(0)
    await register(1)
    expect((await register(2, { url: `${URL}/2`, isRotation: false })).previous).to.deep.equal([])
  })

  it('still reads records of earlier versions', async () => {
    const seed = { keyId: 'k1', salt: 'new' }
    const previous = [{ keyId: 'k0', salt: 'old', untilMs: 5 }]
    const stored = { url: URL, seed, previous, updatedAtMs: 1, offSinceMs: null }
    await test.redis.set(key, `[1,"${URL}",["k1","new"],[["k0","old",5]],1]`)
    expect(await store().find(MERCHANT)).to.deep.equal(stored)
    expect(await register(2, { isRotation: false })).to.deep.equal(stored)
  })
})
