import { expect } from 'chai'
import { type StoreCardDeps, storeCard } from '../../../api/cards/store-card.js'
import { ServiceError } from '../../../api/http/service-error.js'
import { createCardStore } from '../../../redis/cards/cards.js'
import { unreplicated } from '../../../redis/connection/writes.js'
import { createTokenStore, newTokenId } from '../../../redis/tokens/tokens.js'
import { aToken } from '../../support/cards.js'
import { useRedis } from '../../support/redis.js'

const PAYMENT_ID = '0192f1c0-5b7e-7c3d-8a9b-0123456789ab'

/** Every call to a store, in the order of the flow: a process may die before or after each of them. */
const STEPS = ['claim', 'peek', 'store', 'drop'] as const
type Step = (typeof STEPS)[number]

class Crash extends Error {}

describe('storing a card', () => {
  const test = useRedis()
  let deps: StoreCardDeps
  let dropFailures: unknown[]

  beforeEach(() => {
    dropFailures = []
    deps = {
      tokens: createTokenStore(test.secrets),
      cards: createCardStore(unreplicated(test.redis), 16),
      onDropFailed: error => dropFailures.push(error)
    }
  })
  afterEach(async () => {
    await Promise.all([test.redis.flushdb(), test.secrets.flushdb()])
  })

  const tokens = () => createTokenStore(test.secrets)

  async function givenToken(): Promise<string> {
    const token = aToken()
    await tokens().put(token, 60_000)
    return token.tokenId
  }

  /** The dependencies of a process that dies before or after one of its steps. */
  function dying(moment: 'before' | 'after', step: Step): StoreCardDeps {
    const around = <A extends unknown[], R>(name: Step, call: (...args: A) => Promise<R>) => {
      return async (...args: A): Promise<R> => {
        if (name === step && moment === 'before') throw new Crash()
        const result = await call(...args)
        if (name === step) throw new Crash()
        return result
      }
    }
    return {
      tokens: {
        claim: around('claim', deps.tokens.claim),
        peek: around('peek', deps.tokens.peek),
        drop: around('drop', deps.tokens.drop)
      },
      cards: { store: around('store', deps.cards.store), findByToken: deps.cards.findByToken },
      onDropFailed: error => {
        throw error
      }
    }
  }

  async function codeOf(action: Promise<unknown>): Promise<string> {
    return action.then(
      () => 'success',
      (error: unknown) => (error instanceof ServiceError ? error.code : String(error))
    )
  }

  it('turns a token into a card and consumes it, CVV included', async () => {
    const tokenId = await givenToken()
    const { card, isNew } = await storeCard(deps, 'm_1', tokenId)
    expect(isNew).to.equal(true)
    expect(card).to.include({ merchantId: 'm_1', tokenId, brand: 'visa', last4: '0060', cardBox: 'v1.k1.card' })
    expect(await test.secrets.dbsize()).to.equal(0)
    expect(JSON.stringify(await dump())).not.to.contain('v1.k1.cvv')
  })

  it("refuses a token that is unknown, another merchant's, or used by a payment, and stores nothing", async () => {
    const foreign = await givenToken()
    const used = await givenToken()
    await tokens().claim(used, 'm_1', PAYMENT_ID)
    expect(await codeOf(storeCard(deps, 'm_1', newTokenId()))).to.equal('invalid_token')
    expect(await codeOf(storeCard(deps, 'm_2', foreign))).to.equal('invalid_token')
    expect(await codeOf(storeCard(deps, 'm_1', used))).to.equal('invalid_token')
    expect(await test.redis.dbsize()).to.equal(0)
    expect((await tokens().claim(foreign, 'm_1', PAYMENT_ID)).kind).to.equal('claimed')
  })

  for (const step of STEPS) {
    for (const moment of ['before', 'after'] as const) {
      it(`ends in one card when the process dies ${moment} "${step}" and the request comes again`, async () => {
        const tokenId = await givenToken()
        const crash = await storeCard(dying(moment, step), 'm_1', tokenId).catch((error: unknown) => error)
        expect(crash).to.be.instanceOf(Crash)

        const { card } = await storeCard(deps, 'm_1', tokenId)
        expect(await test.redis.keys('*:card:*')).to.have.lengthOf(1)
        expect(await deps.cards.findByToken('m_1', tokenId)).to.deep.equal(card)
        expect(await test.secrets.dbsize()).to.equal(0)
      })

      it(`leaves no token for a payment when the process dies ${moment} "${step}", unless nothing was done`, async () => {
        const tokenId = await givenToken()
        await storeCard(dying(moment, step), 'm_1', tokenId).catch(() => undefined)
        const isUntouched = step === 'claim' && moment === 'before'
        const claim = await tokens().claim(tokenId, 'm_1', PAYMENT_ID)
        expect(claim.kind === 'claimed').to.equal(isUntouched)
        expect(await test.secrets.pttl(`token:${tokenId}`)).not.to.equal(-1)
      })
    }
  }

  it('answers with the card when only the token could not be dropped, and reports it', async () => {
    const tokenId = await givenToken()
    const lost = new Error('Connection is closed.')
    const halfDead = { ...deps, tokens: { ...deps.tokens, drop: () => Promise.reject(lost) } }
    const { card, isNew } = await storeCard(halfDead, 'm_1', tokenId)
    expect(isNew).to.equal(true)
    expect(dropFailures).to.deep.equal([lost])
    expect((await storeCard(deps, 'm_1', tokenId)).card).to.deep.equal(card)
  })

  async function dump(): Promise<unknown[]> {
    const names = await test.redis.keys('*')
    return Promise.all(
      names.map(async name =>
        (await test.redis.type(name)) === 'hash' ? test.redis.hgetall(name) : test.redis.get(name)
      )
    )
  }
})
