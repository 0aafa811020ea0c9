import { expect } from 'chai'
import { createAuthenticator } from '../../../api/http/authenticator.js'
import { ServiceError } from '../../../api/http/service-error.js'
import type { KeyRecord, Permission } from '../../../redis/merchants/merchants.js'
import { until } from '../../support/conditions.js'
import { aCreateBody, PAYMENT_ID } from '../builders.js'
import { API_KEY, aKey, CARD_ID, SECRET, useApi } from '../running-api.js'

const routes: readonly [method: string, path: string, permission: Permission, body?: unknown][] = [
  ['GET', '/v1/capabilities', 'payments:read'],
  ['GET', '/v1/payments', 'payments:read'],
  ['GET', `/v1/payments/${PAYMENT_ID}`, 'payments:read'],
  ['POST', '/v1/payments', 'payments:write', aCreateBody()],
  ['POST', `/v1/payments/${PAYMENT_ID}/capture`, 'payments:write'],
  ['POST', `/v1/payments/${PAYMENT_ID}/cancel`, 'payments:write'],
  ['POST', '/v1/cards', 'cards:write', { token_id: 'tok_1' }],
  ['GET', `/v1/cards/${CARD_ID}`, 'cards:write'],
  ['DELETE', `/v1/cards/${CARD_ID}`, 'cards:write']
]

const keyIdFor = (permission: Permission): string => permission.replace(':', '-')

describe('authentication and permissions over HTTP', () => {
  const api = useApi()
  before(() => {
    api.keys.set('k_revoked', aKey('k_revoked', { isRevoked: true }))
    api.keys.set('k_live', aKey('k_live', { environment: 'live' }))
    api.keys.set('k_off', aKey('k_off', { isMerchantEnabled: false }))
    api.keys.set('k_pub', aKey('k_pub', { isPublishable: true, secretHash: null, permissions: ['tokens:write'] }))
    for (const [, , permission] of routes) api.keys.set(keyIdFor(permission), aKey('', { permissions: [permission] }))
  })

  const refused: readonly [name: string, header: string | null][] = [
    ['no key', null],
    ['an empty key', 'Bearer '],
    ['another scheme', `Basic ${API_KEY}`],
    ['text that is no key', 'Bearer abc'],
    ['too many parts', `Bearer ${API_KEY}.x`],
    ['an unknown key id', `Bearer svc_test.k_unknown.${SECRET}`],
    ['a wrong secret', 'Bearer svc_test.k_full.wrong'],
    ['an empty secret', 'Bearer svc_test.k_full.'],
    ['a secret key without its secret', 'Bearer svc_test.k_full'],
    ['a publishable key with a secret', `Bearer svc_test.k_pub.${SECRET}`],
    ['a revoked key', `Bearer svc_test.k_revoked.${SECRET}`],
    ['the prefix of the other environment', `Bearer svc_live.k_full.${SECRET}`],
    ['a key of the other environment', `Bearer svc_test.k_live.${SECRET}`],
    ['an id that is a name of JavaScript', `Bearer svc_test.__proto__.${SECRET}`]
  ]
  for (const [name, header] of refused) {
    it(`5: ${name} is 401 unauthorized with WWW-Authenticate, on every route`, async () => {
      for (const [method, path, , body] of routes) {
        const answer = await api.request(method, path, { body, headers: { Authorization: header } })
        expect(answer.status, path).to.equal(401)
        expect(answer.error).to.include({ code: 'unauthorized', retryable: false })
        expect(answer.headers.get('WWW-Authenticate')).to.equal('Bearer')
        expect(answer.text).not.to.contain(SECRET)
      }
    })
  }

  for (const [method, path, permission, body] of routes) {
    it(`5: ${method} ${path} takes a key with ${permission}, and 403s a key with every other permission`, async () => {
      for (const other of ['payments:read', 'payments:write', 'cards:write'] as const) {
        const headers = { Authorization: `Bearer svc_test.${keyIdFor(other)}.${SECRET}` }
        const answer = await api.request(method, path, { body, headers })
        expect(answer.status === 403, other).to.equal(other !== permission)
        if (other === permission) continue
        expect(answer.error['code']).to.equal('insufficient_scope')
        expect(answer.error.fields?.[0]?.message, 'what is missing').to.contain(permission)
      }
    })

    it(`5: ${method} ${path} is 403 merchant_disabled without the online payments product`, async () => {
      const headers = { Authorization: `Bearer svc_test.k_off.${SECRET}` }
      const answer = await api.request(method, path, { body, headers })
      expect(answer.status).to.equal(403)
      expect(answer.error['code']).to.equal('merchant_disabled')
    })

    it(`${method} ${path} refuses publishable keys`, async () => {
      const answer = await api.request(method, path, { body, headers: { Authorization: 'Bearer svc_test.k_pub' } })
      expect(answer.status).to.equal(403)
      expect(answer.error['code']).to.equal('insufficient_scope')
    })
  }

  it('5: the scheme Bearer is case-insensitive', async () => {
    const answer = await api.request('GET', '/v1/capabilities', { headers: { Authorization: `bearer ${API_KEY}` } })
    expect(answer.status).to.equal(200)
  })

  it('checks the key first, then the Idempotency-Key, then the body', async () => {
    const broken = { body: '{', headers: { Authorization: null, 'Idempotency-Key': null } }
    expect((await api.request('POST', '/v1/payments', broken)).error['code']).to.equal('unauthorized')
    const noKey = { body: '{', headers: { 'Idempotency-Key': null } }
    expect((await api.request('POST', '/v1/payments', noKey)).error['code']).to.equal('missing_idempotency_key')
    expect((await api.request('POST', '/v1/payments', { body: '{' })).error['code']).to.equal('invalid_request')
  })
})

describe('the cache of keys', () => {
  let nowMs: number
  let lookups: string[]
  let stored: KeyRecord | null | Error
  const authenticator = () =>
    createAuthenticator({
      environment: 'test',
      now: () => nowMs,
      findKey: async keyId => {
        lookups.push(keyId)
        if (stored instanceof Error) throw stored
        return stored
      }
    })

  beforeEach(() => {
    nowMs = 0
    lookups = []
    stored = aKey('k_full')
  })

  it('looks a key up once for concurrent requests, and again after half a second', async () => {
    const { authenticate } = authenticator()
    await Promise.all(Array.from({ length: 20 }, () => authenticate(`Bearer ${API_KEY}`)))
    nowMs = 499
    await authenticate(`Bearer ${API_KEY}`)
    expect(lookups).to.have.length(1)
    nowMs = 500
    await authenticate(`Bearer ${API_KEY}`)
    expect(lookups).to.have.length(2)
  })

  it('caches for half a second that a key is unknown', async () => {
    const { authenticate } = authenticator()
    stored = null
    for (const _ of [1, 2, 3]) await codeOf(authenticate(`Bearer ${API_KEY}`))
    expect(lookups).to.have.length(1)
  })

  it('does not cache a failed lookup', async () => {
    const { authenticate } = authenticator()
    stored = new Error('broken')
    expect(await codeOf(authenticate(`Bearer ${API_KEY}`))).to.equal('broken')
    stored = aKey('k_full')
    expect(await authenticate(`Bearer ${API_KEY}`)).to.include({ merchantId: 'm_one' })
  })

  it('evicts the oldest entries, so that random key ids cannot fill the memory', async () => {
    const { authenticate } = authenticator()
    await authenticate(`Bearer ${API_KEY}`)
    stored = null
    for (let count = 0; count < 10_000; count += 1) {
      await codeOf(authenticate(`Bearer svc_test.k${count}.x`))
    }
    lookups.length = 0
    stored = aKey('k_full')
    await authenticate(`Bearer ${API_KEY}`)
    expect(lookups).to.deep.equal(['k_full'])
  })

  it('exposes no hash of a secret', async () => {
    const principal = await authenticator().authenticate(`Bearer ${API_KEY}`)
    expect(principal).to.have.all.keys('merchantId', 'keyId', 'permissions', 'isPublishable')
  })
})

async function codeOf(promise: Promise<unknown>): Promise<string> {
  try {
    await promise
  } catch (error) {
    if (error instanceof ServiceError) return error.code
    if (error instanceof Error) return error.message
  }
  return 'none'
}

const ROUNDS = 500

describe('guessing keys', () => {
  const authenticator = createAuthenticator({
    environment: 'test',
    findKey: async keyId => (keyId === 'k_full' ? aKey('k_full') : null)
  })

  async function costOf(key: string): Promise<number> {
    const startedAtMs = performance.now()
    const refusal = await authenticator.authenticate(`Bearer ${key}`).catch((error: Error) => error.message)
    if (typeof refusal !== 'string') throw new Error('the guess was right')
    return performance.now() - startedAtMs
  }

  it('takes the same time whether the id exists or not, and however close the secret is', async () => {
    const guesses = [
      `svc_test.k_full.${'x'.repeat(SECRET.length)}`,
      `svc_test.k_full.${SECRET.slice(0, -1)}x`,
      `svc_test.k_none.${SECRET}`
    ]
    await until('the same time', async () => {
      const costs = guesses.map((): number[] => [])
      // One after the other, so that other load of the machine affects all alike.
      for (let round = 0; round < ROUNDS; round++) {
        for (const [index, guess] of guesses.entries()) costs[index]?.push(await costOf(guess))
      }
      const medians = costs.map(middleOf)
      return Math.max(...medians) / Math.min(...medians) < 1.5
    })
  })

  it('gives the same answer to every wrong key', async () => {
    const answers = await Promise.all(
      ['svc_test.k_full.wrong', 'svc_test.k_none.wrong', 'svc_live.k_full.wrong', 'nonsense'].map(key =>
        authenticator.authenticate(`Bearer ${key}`).catch((error: Error) => error.message)
      )
    )
    expect(new Set(answers).size).to.equal(1)
  })
})

function middleOf(values: readonly number[]): number {
  return [...values].sort((one, other) => one - other)[Math.floor(values.length / 2)] ?? 0
}
