import { expect } from 'chai'
import { keys } from '../../../redis/keys.js'
import { createTokenStore, newCvvTokenId, newTokenId, type TokenStore } from '../../../redis/tokens/tokens.js'
import { aToken } from '../../support/cards.js'
import { useRedis } from '../../support/redis.js'

describe('token of a CVV', () => {
  const test = useRedis()
  let store: TokenStore

  before(() => {
    store = createTokenStore(test.secrets)
  })
  beforeEach(async () => {
    await test.secrets.flushdb()
  })

  const put = async (ttlMs = 60_000): Promise<string> => {
    const tokenId = newCvvTokenId()
    await store.putCvvToken({ tokenId, merchantId: 'm_1', cvvBox: 'v1.k1.cvv' }, ttlMs)
    return tokenId
  }

  it('belongs to the first owner of its merchant, again if asked, until it is dropped', async () => {
    const tokenId = await put()
    expect(tokenId).to.match(/^cvt_[0-9a-v]{26}$/)
    const claimed = { kind: 'claimed', cvvBox: 'v1.k1.cvv' }
    expect(await store.claimCvv(tokenId, 'm_2', 'a')).to.deep.equal({ kind: 'missing' })
    expect(await store.claimCvv(tokenId, 'm_1', 'a')).to.deep.equal(claimed)
    expect(await store.claimCvv(tokenId, 'm_1', 'a')).to.deep.equal(claimed)
    expect(await store.claimCvv(tokenId, 'm_1', 'b')).to.deep.equal({ kind: 'taken' })
    await store.drop(tokenId)
    expect(await store.claimCvv(tokenId, 'm_1', 'a')).to.deep.equal({ kind: 'missing' })
    expect(await test.secrets.dbsize()).to.equal(0)
  })

  it('is released like the token of a card, and lives as long', async () => {
    const tokenId = await put(5_000)
    expect(await test.secrets.pttl(keys.cvvToken(tokenId))).to.be.within(1, 5_000)
    await store.claimCvv(tokenId, 'm_1', 'a', 'request')
    expect(await test.secrets.pttl(keys.cvvToken(tokenId))).to.be.within(890_000, 900_000)
    await store.release(tokenId, 'a', 'another request')
    expect((await store.claimCvv(tokenId, 'm_1', 'b')).kind).to.equal('taken')
    await store.release(tokenId, 'a', 'request')
    expect((await store.claimCvv(tokenId, 'm_1', 'b')).kind).to.equal('claimed')
  })

  it('is not a card token, nor the reverse; a wrong use consumes neither', async () => {
    const cvvToken = await put()
    const card = aToken({ tokenId: newTokenId() })
    await store.put(card, 60_000)
    expect(await store.claim(cvvToken, 'm_1', 'a')).to.deep.equal({ kind: 'missing' })
    expect(await store.claimCvv(card.tokenId, 'm_1', 'a')).to.deep.equal({ kind: 'missing' })
    expect((await store.claimCvv(cvvToken, 'm_1', 'b')).kind).to.equal('claimed')
    expect((await store.claim(card.tokenId, 'm_1', 'b')).kind).to.equal('claimed')
  })
})
