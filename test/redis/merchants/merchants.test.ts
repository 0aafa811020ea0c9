import { expect } from 'chai'
import { createAuthenticator } from '../../../api/http/authenticator.js'
import { MerchantStore, MerchantStoreError } from '../../../redis/merchants/merchants.js'
import { until, untilFast } from '../../support/conditions.js'
import { useRedis } from '../../support/redis.js'

describe('merchants and keys', () => {
  const servers = useRedis()
  let store: MerchantStore
  before(() => {
    store = new MerchantStore(servers.redis, 'test')
  })

  const newKey = async (permissions = ['payments:read'] as const) => {
    const { merchantId } = await store.createMerchant('Loja')
    return store.createKey({ merchantId, permissions })
  }
  const failure = async (promise: Promise<unknown>): Promise<string> => {
    try {
      await promise
    } catch (error) {
      if (error instanceof MerchantStoreError) return error.message
      throw error
    }
    return 'none'
  }

  for (const name of ['', '   ', 'a\nb', 'x'.repeat(121)]) {
    it(`a merchant is not called ${JSON.stringify(name.slice(0, 10))} (${name.length} characters)`, async () => {
      expect(await failure(store.createMerchant(name))).to.contain('1 to 120 characters')
    })
  }

  it('5: a key has three parts, and its secret is nowhere in Redis', async () => {
    const key = await newKey()
    const [prefix, keyId, secret] = key.fullKey.split('.')
    expect([prefix, keyId]).to.deep.equal(['svc_test', key.keyId])
    expect(Buffer.from(secret ?? '', 'base64url')).to.have.length(32)
    for (const name of await servers.redis.keys('*')) {
      const type = await servers.redis.type(name)
      const content = type === 'hash' ? await servers.redis.hgetall(name) : await servers.redis.zrange(name, '0', '-1')
      expect(JSON.stringify(content)).not.to.contain(secret)
    }
  })

  it('a publishable key has two parts and makes tokens only', async () => {
    const { merchantId } = await store.createMerchant('Loja')
    const key = await store.createKey({ merchantId, permissions: ['tokens:write'], isPublishable: true })
    expect(key.fullKey).to.equal(`svc_test.${key.keyId}`)
    expect((await store.findKey(key.keyId, Date.now()))?.secretHash).to.equal(null)
    const wrong = store.createKey({ merchantId, permissions: ['payments:write'], isPublishable: true })
    expect(await failure(wrong)).to.contain('tokens:write')
    expect(await failure(store.createKey({ merchantId, permissions: ['tokens:write'] }))).to.contain('publishable')
    expect(await failure(store.createKey({ merchantId, permissions: [] }))).to.contain('at least one permission')
  })

  it('names what does not exist', async () => {
    expect(await failure(store.setEnabled('m_none', true))).to.contain('no merchant m_none')
    expect(await failure(store.createKey({ merchantId: 'm_none', permissions: ['payments:read'] }))).to.contain(
      'm_none'
    )
    expect(await failure(store.listKeys('m_none'))).to.contain('m_none')
    expect(await failure(store.revokeKey('k_none'))).to.contain('no key k_none')
    expect(await store.findKey('k_none', Date.now())).to.equal(null)
    expect(await store.listMerchants()).not.to.deep.include({ merchantId: 'm_none' })
  })

  for (const [name, change] of [
    ['a revoked key', (key: { keyId: string }) => store.revokeKey(key.keyId)],
    ['a disabled merchant', (key: { merchantId: string }) => store.setEnabled(key.merchantId, false)]
  ] as const) {
    it(`5: ${name} is refused within 1 s by a process that has just seen it valid`, async () => {
      const { authenticate } = createAuthenticator({
        environment: 'test',
        findKey: id => store.findKey(id, Date.now())
      })
      await untilFast('a refusal', 1_000, async () => {
        const key = await newKey()
        await authenticate(`Bearer ${key.fullKey}`)
        await change(key)
        await until('a refusal', () =>
          authenticate(`Bearer ${key.fullKey}`).then(
            () => false,
            () => true
          )
        )
      })
    })
  }

  it('a key is refused after its expiry by a process that has just seen it valid', async () => {
    const { merchantId } = await newKey()
    const expiresAtMs = Date.now() + 3_600_000
    const key = await store.createKey({ merchantId, permissions: ['payments:read'], label: 'checkout', expiresAtMs })
    expect(await store.findKey(key.keyId, Date.now())).to.include({ label: 'checkout', expiresAtMs, isRevoked: false })
    let nowMs = Date.now()
    const { authenticate } = createAuthenticator({ environment: 'test', findKey: id => store.findKey(id, nowMs) })
    await authenticate(`Bearer ${key.fullKey}`)
    nowMs = expiresAtMs
    const refusal = (): Promise<string> => authenticate(`Bearer ${key.fullKey}`).then(() => '', String)
    await until('a refusal', async () => (await refusal()) !== '')
    const late = store.createKey({ merchantId, permissions: ['payments:read'], expiresAtMs: Date.now() - 1 })
    expect(await failure(late)).to.contain('would expire before')
  })

  it('a merchant that is enabled again is served again, a revoked key stays revoked', async () => {
    const key = await newKey()
    await store.setEnabled(key.merchantId, false)
    await store.setEnabled(key.merchantId, true)
    expect(await store.findKey(key.keyId, Date.now())).to.include({ isMerchantEnabled: true, isRevoked: false })
    await store.revokeKey(key.keyId)
    expect(await store.revokeKey(key.keyId)).to.include({ isRevoked: true })
    expect(await store.findKey(key.keyId, Date.now())).to.include({ isRevoked: true })
  })
})
