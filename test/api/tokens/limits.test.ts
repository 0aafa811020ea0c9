import { expect } from 'chai'
import { addressGroup, issueLimit } from '../../../api/tokens/address-limit.js'
import type { RateLimit } from '../../../redis/merchants/rate-limit.js'
import { codeOf, TOKEN_TTL_MS, typedCard, useTokensApp } from '../../support/tokens-app.js'

describe('address limit', () => {
  const groups: [address: string, group: string][] = [
    ['203.0.113.7', '203.0.113.7'],
    ['::ffff:203.0.113.7', '203.0.113.7'],
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
    ['2001:0DB8:0001:0002::1', '2001:db8:1:2::/64'],
    ['2001:db8::1', '2001:db8:0:0::/64'],
    ['::1', '0:0:0:0::/64'],
    ['fe80::1%eth0', 'fe80:0:0:0::/64'],
    ['203.0.113.7:51234', '203.0.113.7'],
    ['[2001:db8::1]:51234', '2001:db8:0:0::/64'],
    ['[2001:db8::1]', '2001:db8:0:0::/64'],
    ['[::ffff:203.0.113.7]:51234', '203.0.113.7'],
    ['', 'unknown'],
    ['not an address', 'unknown']
  ]
  it('counts the subnets of one customer together where it asks for three groups', () => {
    for (const subnet of ['2001:db8:7:1::1', '2001:db8:7:ffff::9'])
      expect(addressGroup(subnet, 3)).to.equal('2001:db8:7::/48')
    expect(addressGroup('203.0.113.7', 3)).to.equal('203.0.113.7')
  })

  for (const [address, group] of groups) {
    it(`counts ${address || 'an empty address'} as ${group}`, () => {
      expect(addressGroup(address)).to.equal(group)
    })
  }
})

/** The default limit of a key, but for its refill: what is taken is gone while the test runs, however slow it is. */
const LIMIT = { perSecond: 0.001, burst: 200 }
const FLOOD = 105
const SENDERS = 10
const BUYERS = 60

const octet = (n: number): string => `203.0.113.${n}`
/** Different /64 of one /48, which one customer of a provider may have. */
const subnet = (n: number): string => `2001:db8:7:${n}::1`

describe('the buyers of a shop, while its publishable key is abused', () => {
  const app = useTokensApp()
  let url = ''
  const send = async (address: string, body: unknown): Promise<number> =>
    (await app.post(body, { 'X-Forwarded-For': address }, url)).status

  beforeEach(async () => {
    url = await app.start(LIMIT, 1)
  })

  async function flood(addresses: readonly string[], body: unknown): Promise<number[]> {
    const statuses: number[] = []
    const left = addresses.flatMap(address => Array<string>(FLOOD).fill(address))
    const sendAll = async (): Promise<void> => {
      for (let address = left.shift(); address !== undefined; address = left.shift())
        statuses.push(await send(address, body))
    }
    await Promise.all(Array.from({ length: SENDERS }, sendAll))
    return statuses
  }

  async function buyersKeptOut(): Promise<number> {
    const statuses: number[] = []
    for (let buyer = 1; buyer <= BUYERS; buyer++) statuses.push(await send(`198.51.100.${buyer}`, typedCard))
    return statuses.filter(status => status !== 201).length
  }

  for (const count of [2, 6]) {
    const attackers = Array.from({ length: count }, (_, at) => octet(at + 1))

    it(`are not blocked by bodies without a card, from ${count} addresses`, async () => {
      const statuses = await app.counted(() => flood(attackers, {}))
      expect(new Set(statuses), 'each address is bounded').to.deep.equal(new Set([400, 429]))
      expect(await buyersKeptOut()).to.equal(0)
    })

    it(`are not kept out by good cards from ${count} addresses`, async () => {
      await flood(attackers, typedCard)
      expect(await buyersKeptOut()).to.equal(0)
    })
  }

  it('are not kept out by a flood from 8 IPv6 networks of one provider', async () => {
    await flood(
      Array.from({ length: 8 }, (_, at) => subnet(at + 1)),
      typedCard
    )
    expect(await buyersKeptOut()).to.equal(0)
  })

  it('get a token from an address that sends much, as long as the key has plenty', async () => {
    const statuses = await app.counted(() => flood([octet(1)], typedCard))
    expect(statuses.filter(status => status === 201)).to.have.length(100)
  })

  it('read what is left of the key for them', async () => {
    const [first, refused] = await app.counted(async () => {
      const response = await app.post(typedCard, { 'X-Forwarded-For': octet(1) }, url)
      await flood([octet(1)], typedCard)
      return [response.headers.get('RateLimit'), await send(octet(1), typedCard)]
    })
    expect(first).to.match(/^"key";r=199;/)
    expect(refused).to.equal(429)
  })
})

const MAX = 100
/** What a flood may take of the memory of all; some 2 KB a token (bytes). */
const ROOM = 1_000_000
const TOKENS_ASKED = 1_500
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
        while (given.length < TOKENS_ASKED) {
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
