import { expect } from 'chai'
import { typedCard, useTokensApp } from '../../support/tokens-app.js'

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
