import { expect } from 'chai'
import { keys } from '../../../redis/keys.js'
import { createTokenStore, newCvvTokenId, newTokenId, type TokenStore } from '../../../redis/tokens/tokens.js'
import { aToken } from '../../support/cards.js'
import { useRedis } from '../../support/redis.js'

const CLAIM_TTL_MS = 900_000
const PAYMENT_ID = '0192f1c0-5b7e-7c3d-8a9b-0123456789ab'

describe('token store', () => {
  const test = useRedis()
  let store: TokenStore

  before(() => {
    store = createTokenStore(test.secrets)
  })
  afterEach(async () => {
    await test.secrets.flushdb()
  })

  const ttlMs = (tokenId: string) => test.secrets.pttl(keys.token(tokenId))

  it('gives ids of one form, never twice', () => {
    const ids = Array.from({ length: 100 }, newTokenId)
    for (const id of ids) expect(id).to.match(/^tok_[0-9a-v]{26}$/)
    expect(new Set(ids)).to.have.lengthOf(100)
  })

  it('shows what a token is, without its boxes', async () => {
    const token = aToken()
    await store.put(token, 60_000)
    const { cardBox: _, typedBox: __, ...summary } = token
    expect(await store.peek(token.tokenId)).to.deep.equal({ ...summary, owner: null })
    expect(await store.peek(newTokenId())).to.equal(null)
  })

  it('forgets a token when it expires', async () => {
    const token = aToken()
    await store.put(token, 60_000)
    expect(await ttlMs(token.tokenId)).to.be.within(50_000, 60_000)
    await store.put(aToken({ tokenId: 'tok_short' }), 1)
    const deadlineMs = performance.now() + 2_000
    while ((await store.peek('tok_short')) !== null && performance.now() < deadlineMs);
    expect(await store.claim('tok_short', 'm_1', PAYMENT_ID)).to.deep.equal({ kind: 'missing' })
  })

  it('gives a token to the first owner, again if asked, and to no other owner', async () => {
    const token = aToken()
    await store.put(token, 60_000)
    const { cardBox, typedBox, brand, last4 } = token
    const claimed = { kind: 'claimed', cardBox, typedBox, brand, last4 }
    expect(await store.claim(token.tokenId, 'm_1', PAYMENT_ID)).to.deep.equal(claimed)
    expect(await store.claim(token.tokenId, 'm_1', PAYMENT_ID)).to.deep.equal(claimed)
    expect(await store.claim(token.tokenId, 'm_1', 'card')).to.deep.equal({ kind: 'taken' })
    expect(await store.peek(token.tokenId)).to.include({ owner: PAYMENT_ID })
  })

  it('answers many claims and drops, also beside a key of another type', async () => {
    const tokens = Array.from({ length: 5 }, (_, at) => aToken({ typedBox: `v1.k1.${at}` }))
    for (const token of tokens) await store.put(token, 60_000)
    await test.secrets.set(keys.token('tok_text'), 'a text')
    const ids = [...tokens.map(({ tokenId }) => tokenId), 'tok_text', newTokenId()]
    const claims = await Promise.allSettled(ids.map(id => store.claim(id, 'm_1', PAYMENT_ID)))
    expect(claims.map(claim => (claim.status === 'fulfilled' ? claim.value.kind : claim.reason.message))).to.deep.equal(
      [
        ...tokens.map(() => 'claimed'),
        'WRONGTYPE Operation against a key holding the wrong kind of value (the key token:tok_text)',
        'missing'
      ]
    )
    const boxes = claims.flatMap(claim =>
      claim.status === 'fulfilled' && 'typedBox' in claim.value ? claim.value.typedBox : []
    )
    expect(boxes).to.deep.equal(tokens.map(({ typedBox }) => typedBox))
    await Promise.all(ids.map(store.drop))
    expect(await test.secrets.dbsize()).to.equal(0)
  })

  it('hides the token of another merchant, and leaves it unclaimed', async () => {
    const token = aToken()
    await store.put(token, 60_000)
    const lifeMs = await ttlMs(token.tokenId)
    expect(await store.claim(token.tokenId, 'm_2', PAYMENT_ID)).to.deep.equal({ kind: 'missing' })
    expect(await store.peek(token.tokenId)).to.include({ owner: null })
    expect(await ttlMs(token.tokenId)).to.be.at.most(lifeMs)
    expect((await store.claim(token.tokenId, 'm_1', PAYMENT_ID)).kind).to.equal('claimed')
    expect(await store.claim(token.tokenId, 'm_2', PAYMENT_ID)).to.deep.equal({ kind: 'missing' })
  })

  it('keeps a claimed token long enough for its owner, and never shortens its lifetime', async () => {
    const [short, long] = [aToken(), aToken()]
    await store.put(short, 5_000)
    await store.put(long, 1_900_000)
    for (const { tokenId } of [short, long]) await store.claim(tokenId, 'm_1', PAYMENT_ID)
    expect(await ttlMs(short.tokenId)).to.be.within(CLAIM_TTL_MS - 10_000, CLAIM_TTL_MS)
    expect(await ttlMs(long.tokenId)).to.be.within(1_890_000, 1_900_000)
  })

  it('lets another owner have a token that was released, for the rest of its life', async () => {
    const token = aToken()
    await store.put(token, 60_000)
    await store.claim(token.tokenId, 'm_1', 'owner', 'request')
    const before = await ttlMs(token.tokenId)
    for (const request of ['request', undefined]) await store.release(token.tokenId, 'another', request)
    expect(await store.peek(token.tokenId)).to.include({ owner: 'owner' })
    await store.release(token.tokenId, 'owner', 'request')
    expect(await ttlMs(token.tokenId)).to.be.within(before - 1_000, before)
    expect(await store.peek(token.tokenId)).to.include({ owner: null })
    expect((await store.claim(token.tokenId, 'm_1', 'another')).kind).to.equal('claimed')
  })

  for (const second of ['another request', '']) {
    it(`lets no request give a token back that ${second || 'a worker'} has claimed for the same owner`, async () => {
      const token = aToken()
      await store.put(token, 60_000)
      for (const request of ['request', second, 'request']) await store.claim(token.tokenId, 'm_1', 'owner', request)
      for (const request of ['request', 'another request']) await store.release(token.tokenId, 'owner', request)
      expect(await store.peek(token.tokenId)).to.include({ owner: 'owner' })
      await store.release(token.tokenId, 'owner')
      expect(await store.peek(token.tokenId)).to.include({ owner: null })
    })
  }

  it('leaves nothing behind when a token is dropped, also twice', async () => {
    const token = aToken()
    await store.put(token, 60_000)
    await store.drop(token.tokenId)
    await store.drop(token.tokenId)
    expect(await store.claim(token.tokenId, 'm_1', PAYMENT_ID)).to.deep.equal({ kind: 'missing' })
    expect(await test.secrets.dbsize()).to.equal(0)
  })

  it('keeps the CVV of a payment for its time only', async () => {
    expect(await store.readCvv(PAYMENT_ID)).to.equal(null)
    await store.putCvv(PAYMENT_ID, 'v1.k1.cvv')
    expect(await store.readCvv(PAYMENT_ID)).to.equal('v1.k1.cvv')
    expect(await test.secrets.pttl(keys.cvv(PAYMENT_ID))).to.be.within(CLAIM_TTL_MS - 10_000, CLAIM_TTL_MS)
    await store.dropCvv(PAYMENT_ID)
    expect(await store.readCvv(PAYMENT_ID)).to.equal(null)
  })

  describe('of a CVV', () => {
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
})
