import { expect } from 'chai'
import { type CardStore, createCardStore, type NewCard } from '../../../redis/cards/cards.js'
import { unreplicated } from '../../../redis/connection/writes.js'
import { keys, partitionOf } from '../../../redis/keys.js'
import { aCard } from '../../support/cards.js'
import { useRedis } from '../../support/redis.js'

const PARTITIONS = 16
const DAY_MS = 24 * 3_600_000

describe('card store', () => {
  const test = useRedis()
  let store: CardStore

  before(() => {
    store = createCardStore(unreplicated(test.redis), PARTITIONS)
  })
  const stored = async (card: NewCard) => {
    const result = await store.store(card)
    if (result === null) throw new Error('The card was erased.')
    return result
  }
  afterEach(async () => {
    await test.redis.flushdb()
  })

  it('keeps a card as it was given, under an id of its own', async () => {
    const given = aCard()
    const { card, isNew } = await stored(given)
    expect(isNew).to.equal(true)
    expect(card.cardId).to.match(/^card_[0-9a-v]{26}$/)
    expect(card).to.deep.equal({ ...given, cardId: card.cardId })
    expect(await store.read('m_1', card.cardId)).to.deep.equal(card)
    expect(await store.findByToken('m_1', given.tokenId)).to.deep.equal(card)
  })

  it('gives the first card for the same token, with any other data', async () => {
    const first = await stored(aCard())
    const again = await stored({ ...first.card, holderName: 'Another Holder' })
    expect(again).to.deep.equal({ card: first.card, isNew: false })
    expect(await test.redis.keys('*:card:*')).to.have.lengthOf(1)
  })

  it("answers for another merchant's card as if it did not exist, in the same partition too", async () => {
    const stranger = merchantBesides('m_1')
    const { card } = await stored(aCard())
    expect(await store.read(stranger, card.cardId)).to.equal(null)
    expect(await store.findByToken(stranger, card.tokenId)).to.equal(null)
    expect(await store.read('m_1', 'card_00000000000000000000000000')).to.equal(null)
  })

  it('remembers the token for 30 days, and the card for ever', async () => {
    const { card } = await stored(aCard())
    const partition = partitionOf('m_1', PARTITIONS)
    expect(await test.redis.pttl(keys.cardOfToken(partition, card.tokenId))).to.be.within(29.9 * DAY_MS, 30 * DAY_MS)
    expect(await test.redis.pttl(keys.card(partition, card.cardId))).to.equal(-1)
  })

  it('erases a card in one step, for its merchant only, and never stores it again under its token', async () => {
    const given = aCard()
    const { card } = await stored(given)
    expect(await store.erase(merchantBesides('m_1'), card.cardId)).to.equal(false)
    expect(await store.read('m_1', card.cardId)).to.deep.equal(card)
    expect(await store.erase('m_1', card.cardId)).to.equal(true)
    expect(await store.erase('m_1', card.cardId)).to.equal(false)
    expect(await store.read('m_1', card.cardId)).to.equal(null)
    // A request for the token that was slow: it read the token before the card was erased.
    expect(await store.store(given)).to.equal(null)
    expect(await store.findByToken('m_1', given.tokenId)).to.equal(null)
    const left = await test.redis.keys('*')
    expect(left).to.deep.equal([keys.cardOfToken(partitionOf('m_1', PARTITIONS), given.tokenId)])
    expect(await test.redis.get(left[0] ?? '')).to.equal(card.cardId)
  })

  function merchantBesides(merchantId: string): string {
    const candidates = Array.from({ length: 1_000 }, (_, index) => `m_other${index}`)
    const found = candidates.find(id => partitionOf(id, PARTITIONS) === partitionOf(merchantId, PARTITIONS))
    if (found === undefined) throw new Error('No other merchant in the partition.')
    return found
  }
})
