import { expect } from 'chai'
import { keys } from '../../../redis/keys.js'
import { createRateLimiter, type Grant } from '../../../redis/merchants/rate-limit.js'
import { createLogger } from '../../../runtime/log.js'
import { until } from '../../support/conditions.js'
import { useRedis } from '../../support/redis.js'
import { useApi } from '../running-api.js'

const log = createLogger('test', 'silent')
const grant: Grant = { isAllowed: true, remaining: 41, retryAfterMs: 0, fullAfterMs: 1_580 }

describe('rate limit over HTTP', () => {
  let next: Grant | null
  const taken: string[] = []
  const take = async (name: string): Promise<Grant | null> => {
    taken.push(name)
    return next
  }
  const api = useApi({ rateLimiter: { burst: 200, windowS: 2, take } })

  it('reports the limit of the key with every answer', async () => {
    next = grant
    const answer = await api.request('GET', '/v1/capabilities')
    expect(answer.status).to.equal(200)
    expect(answer.headers.get('RateLimit-Policy')).to.equal('"key";q=200;w=2')
    expect(answer.headers.get('RateLimit')).to.equal('"key";r=41;t=2')
    expect(taken).to.deep.equal(['k_full'])
  })

  it('7: a request over the limit is 429 rate_limited with Retry-After', async () => {
    next = { isAllowed: false, remaining: 0, retryAfterMs: 1_200, fullAfterMs: 5_000 }
    const answer = await api.request('GET', '/v1/capabilities')
    expect(answer.status).to.equal(429)
    expect(answer.error).to.include({ code: 'rate_limited', retryable: true })
    expect(answer.headers.get('Retry-After')).to.equal('2')
    expect(answer.headers.get('RateLimit')).to.equal('"key";r=0;t=5')
  })

  it('counts only requests with a valid key', async () => {
    taken.length = 0
    await api.request('GET', '/v1/capabilities', { headers: { Authorization: 'Bearer x' } })
    expect(taken).to.deep.equal([])
  })

  it('lets requests pass, without headers, while the limiter is unavailable', async () => {
    next = null
    const answer = await api.request('GET', '/v1/capabilities')
    expect(answer.status).to.equal(200)
    expect(answer.headers.has('RateLimit')).to.equal(false)
  })
})

describe('token buckets', () => {
  const servers = useRedis()
  const limiterOf = (perSecond: number, burst: number) => {
    const limiter = createRateLimiter(servers.secrets, { perSecond, burst }, log)
    if (limiter === null) throw new Error('a limit was wanted')
    return limiter
  }

  let buckets = 0
  /** What `count` requests of one bucket get. A Redis that is not scheduled for a moment counts none: then another bucket. */
  const granted = (count: number, take: (name: string) => Promise<Grant | null>, isAtOnce: boolean): Promise<Grant[]> =>
    until('all are counted', async () => {
      const name = `bucket ${++buckets}`
      const grants: (Grant | null)[] = []
      if (isAtOnce) grants.push(...(await Promise.all(Array.from({ length: count }, () => take(name)))))
      else for (let taken = 0; taken < count; taken++) grants.push(await take(name))
      return grants.every(given => given !== null) && grants
    })

  it('grant a burst, then nothing until the next token', async () => {
    // One in a thousand seconds: none comes back while the test runs.
    const limiter = limiterOf(0.001, 3)
    const grants = await granted(4, limiter.take, false)
    expect(grants.map(given => given.isAllowed)).to.deep.equal([true, true, true, false])
    expect(grants.map(given => given.remaining)).to.deep.equal([2, 1, 0, 0])
    expect(grants[3]?.retryAfterMs).to.be.within(1, 1_000_000)
    expect(grants[3]?.fullAfterMs).to.be.within(2_000_000, 3_000_000)
  })

  it('grant exactly the burst to many at once', async () => {
    const grants = await granted(50, limiterOf(0.001, 10).take, true)
    expect(grants.filter(given => given.isAllowed)).to.have.length(10)
  })

  it('are not drained by a clock that was set back', async () => {
    const name = `bucket ${++buckets}`
    await servers.secrets.set(keys.rateLimit(name), `[1,2.000000,${Date.now() + 3_600_000}]`)
    const [grant] = await granted(1, () => limiterOf(1, 3).take(name), false)
    expect(grant).to.include({ isAllowed: true, remaining: 1 })
  })

  it('fill again with time', async () => {
    const limiter = limiterOf(50, 1)
    await limiter.take('fills')
    await until('a new token', async () => (await limiter.take('fills'))?.isAllowed)
  })

  it('are separate for each name, and expire when they are full', async () => {
    const limiter = limiterOf(100, 1)
    for (const name of ['one', 'other']) await until('a grant', async () => (await limiter.take(name))?.isAllowed)
    await until('no bucket', async () => (await servers.secrets.exists('rate:one')) === 0)
  })

  it('do not exist when the limit is 0', () => {
    expect(createRateLimiter(servers.secrets, { perSecond: 0, burst: 1 }, log)).to.equal(null)
  })

  it('let requests pass when Redis does not answer, and do not call it for a while', async () => {
    let asked = 0
    const away = new Proxy(servers.secrets, {
      get: (target, name) => {
        if (name !== 'evalsha') return Reflect.get(target, name)
        asked += 1
        return () => Promise.reject(new Error('Connection is closed.'))
      }
    })
    const limiter = createRateLimiter(away, { perSecond: 1, burst: 1 }, log)
    for (let count = 0; count < 5; count += 1) expect(await limiter?.take('away')).to.equal(null)
    expect(asked).to.equal(1)
  })

  it('ask a Redis that stays silent once a second, however many requests come', async () => {
    let asked = 0
    const silent = new Proxy(servers.secrets, {
      get: (target, name) => {
        if (name !== 'evalsha') return Reflect.get(target, name)
        asked += 1
        return () => new Promise(() => undefined)
      }
    })
    const limiter = createRateLimiter(silent, { perSecond: 1, burst: 1 }, log)
    await Promise.all(Array.from({ length: 20 }, () => limiter?.take('silent')))
    expect(asked).to.equal(20)
    const sinceMs = performance.now()
    await until('it is asked twice more', () => {
      void limiter?.take('silent')
      return asked === 22
    })
    expect(performance.now() - sinceMs).to.be.above(1_000)
  })

  it('let requests pass that waited while the process stood still', async () => {
    const limiter = limiterOf(0.1, 3)
    await limiter.take('frozen')
    const endMs = performance.now() + 2_500
    while (performance.now() < endMs);
    const grants = await Promise.all(Array.from({ length: 20 }, () => limiter.take('frozen')))
    expect(grants.filter(given => given?.isAllowed === false)).to.deep.equal([])
    await until('requests are counted again', async () => (await limiter.take('frozen')) !== null)
  })
})
