import { expect } from 'chai'
import { issueLimit } from '../../../api/tokens/address-limit.js'
import type { RateLimit } from '../../../redis/merchants/rate-limit.js'
import { codeOf, TOKEN_TTL_MS, typedCard, useTokensApp } from '../../support/tokens-app.js'

const MAX = 100
/** What a flood may take of the memory of all; some 2 KB a token (bytes). */
const ROOM = 1_000_000
const FLOOD = 1_500
const CONCURRENCY = 20
const NO_LIMIT = { perSecond: 0, burst: 1 }

describe('the tokens that a publishable key gets', () => {
  const app = useTokensApp()
  const { redis } = app

  it('do not fill the memory-only Redis: a flood of one merchant leaves room for another', async () => {
    const url = await app.start(NO_LIMIT, 0, issueLimit(NO_LIMIT, MAX, TOKEN_TTL_MS))
    const { merchantId } = await app.merchants.createMerchant('Vizinha')
    const neighbour = { Authorization: `Bearer ${await app.newKey(merchantId)}` }
    const used = Number(/^used_memory:(\d+)/m.exec(await redis.secrets.info('memory'))?.[1])
    await redis.secrets.config('SET', 'maxmemory', used + ROOM)
    try {
      const answers = await app.counted(async () => {
        const given: Response[] = []
        while (given.length < FLOOD) {
          given.push(...(await Promise.all(Array.from({ length: CONCURRENCY }, () => app.post(typedCard, {}, url)))))
        }
        return given
      })
      expect(answers.filter(({ status }) => status === 201).length).to.be.within(MAX, 2 * MAX)
      const refused = answers.filter(({ status }) => status !== 201)
      expect(new Set(refused.map(({ status }) => status))).to.deep.equal(new Set([429]))
      const last = refused.at(-1)
      if (last === undefined) throw new Error('nothing was refused')
      expect(Number(last.headers.get('Retry-After'))).to.be.at.least(1)
      expect(await codeOf(last)).to.equal('rate_limited')
      expect((await app.post(typedCard, neighbour, url)).status).to.equal(201)
    } finally {
      await redis.secrets.config('SET', 'maxmemory', 0)
    }
  })

  it('are not counted where the request limit is lower, or where there is no limit', () => {
    const limit = { perSecond: 100, burst: 200 }
    expect(issueLimit(limit, 100_000, TOKEN_TTL_MS).perSecond).to.equal(0)
    expect(issueLimit(NO_LIMIT, 0, TOKEN_TTL_MS).perSecond).to.equal(0)
    expect(issueLimit(limit, 9_000, TOKEN_TTL_MS)).to.deep.equal({ perSecond: 10, burst: 9_000 })
  })

  it('are not reduced when the request limit is raised', () => {
    const rates = [1, 50, 100, 111, 112, 200, 1_000, 0]
    for (const ofKey of [({ perSecond }: RateLimit) => perSecond, ({ burst }: RateLimit) => burst]) {
      const allowed = rates.map(perSecond => {
        const limit = { perSecond, burst: 2 * perSecond }
        const issued = issueLimit(limit, 100_000, TOKEN_TTL_MS)
        const [requests, tokens] = [limit, issued].map(one =>
          one.perSecond === 0 ? Number.POSITIVE_INFINITY : ofKey(one)
        )
        return Math.min(requests ?? 0, tokens ?? 0)
      })
      expect(allowed).to.deep.equal([...allowed].sort((one, other) => one - other))
    }
  })
})
