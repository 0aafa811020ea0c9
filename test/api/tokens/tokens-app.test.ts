import { expect } from 'chai'
import { createTokenStore } from '../../../redis/tokens/tokens.js'
import { codeOf, TOKEN_TTL_MS, typedCard, useTokensApp } from '../../support/tokens-app.js'

describe('POST /v1/tokens', () => {
  const app = useTokensApp()

  it('answers 201 with a token that holds the sealed card for its merchant', async () => {
    const sentMs = Date.now()
    const response = await app.post(typedCard)
    const answer = (await response.json()) as { token_id: string; expires_at: string }
    expect(response.status).to.equal(201)
    expect(answer).to.have.all.keys('token_id', 'brand', 'last4', 'expires_at')
    expect(answer).to.include({ brand: 'visa', last4: '0060' })
    expect(Date.parse(answer.expires_at)).to.be.within(sentMs + TOKEN_TTL_MS, Date.now() + TOKEN_TTL_MS)

    const claim = await createTokenStore(app.redis.secrets).claim(answer.token_id, app.merchantId, 'payment')
    if (claim.kind !== 'claimed') throw new Error(`The token is ${claim.kind}.`)
    const context = { merchantId: app.merchantId, subjectId: answer.token_id }
    expect(app.opener.openTyped(claim.typedBox, context).cvv).to.equal(typedCard.cvv)
    expect(app.opener.openCard(claim.cardBox, context)).to.deep.equal({
      number: typedCard.card_number,
      holderName: typedCard.holder_name,
      expirationMonth: '12',
      expirationYear: '2199'
    })
  })

  it('answers a CVV alone with a token of another kind, which holds the sealed CVV', async () => {
    const response = await app.post({ cvv: typedCard.cvv, holder_name: null })
    const answer = (await response.json()) as { token_id: string; expires_at: string }
    expect(response.status).to.equal(201)
    expect(answer).to.include({ brand: null, last4: null }).and.have.property('token_id').that.matches(/^cvt_/)
    const claim = await createTokenStore(app.redis.secrets).claimCvv(answer.token_id, app.merchantId, 'payment')
    if (claim.kind !== 'claimed') throw new Error(`The token is ${claim.kind}.`)
    expect(app.opener.openCvv(claim.cvvBox, { merchantId: app.merchantId, subjectId: answer.token_id })).to.equal(
      typedCard.cvv
    )
    expect(claim.cvvBox).not.to.contain(typedCard.cvv)
  })

  it('refuses a CVV alone by its own rule only', async () => {
    for (const [cvv, message] of [
      ['12', 'must be 3 or 4 digits'],
      [123, 'must be a string, in quotes'],
      [null, 'must be a string, in quotes']
    ]) {
      const { error } = (await (await app.post({ cvv })).json()) as { error: Record<string, unknown> }
      expect(error).to.deep.include({ code: 'invalid_request', fields: [{ path: 'cvv', message }] })
    }
    const { error } = (await (await app.post({ cvv: '123', brand: 'visa' })).json()) as { error: { fields: unknown } }
    expect(error.fields).to.deep.equal([{ path: 'brand', message: 'is not a property of this request' }])
  })

  it('answers with the error envelope, all broken fields at once', async () => {
    const correlation = '0192f1c0-5b7e-7c3d-8a9b-0123456789ab'
    const response = await app.post({ card_number: '1' }, { 'X-Correlation-Id': correlation })
    const { error } = (await response.json()) as { error: Record<string, unknown> }
    expect(response.status).to.equal(400)
    expect(error).to.include({ code: 'invalid_request', retryable: false, correlation_id: correlation })
    expect(error['request_id']).to.equal(response.headers.get('X-Request-Id'))
    expect(error['fields']).to.have.lengthOf(5)
  })

  it('can be called by a page of any origin, and lets it read every answer', async () => {
    const origin = { Origin: 'https://loja.example' }
    const preflight = await fetch(`${app.url}/v1/tokens`, {
      method: 'OPTIONS',
      headers: {
        ...origin,
        'Access-Control-Request-Method': 'POST',
        'Access-Control-Request-Headers': 'authorization,baggage,content-type,sentry-trace,traceparent'
      }
    })
    expect(preflight.status).to.equal(204)
    expect(preflight.headers.get('Access-Control-Allow-Origin')).to.equal('*')
    expect(preflight.headers.get('Access-Control-Allow-Methods')).to.equal('POST')
    expect(preflight.headers.get('Access-Control-Max-Age')).to.equal('86400')
    expect(preflight.headers.get('Access-Control-Allow-Headers')).to.equal(
      'authorization,baggage,content-type,sentry-trace,traceparent'
    )
    for (const response of [
      await app.post(typedCard, origin),
      await app.post({}, origin),
      await app.post('', { ...origin, Authorization: '' })
    ]) {
      expect(response.headers.get('Access-Control-Allow-Origin')).to.equal('*')
      const exposed = ['X-Request-Id', 'X-Correlation-Id', 'RateLimit', 'RateLimit-Policy', 'Retry-After']
      const told = response.headers.get('Access-Control-Expose-Headers')?.split(', ')
      expect(told).to.have.members([...exposed, 'X-Service-Warning'])
      expect(response.headers.has('Access-Control-Allow-Credentials')).to.equal(false)
    }
  })

  it('answers with headers that keep cards out of caches and frames', async () => {
    for (const response of [await app.post(typedCard), await app.post({})]) {
      expect(response.headers.get('Cache-Control')).to.equal('no-store')
      expect(response.headers.get('Content-Security-Policy')).to.contain("default-src 'none'")
      expect(response.headers.get('X-Content-Type-Options')).to.equal('nosniff')
    }
  })

  it('refuses what is not a small JSON body at its address', async () => {
    const big = await app.post({ ...typedCard, holder_name: 'A'.repeat(70_000) })
    expect([big.status, await codeOf(big)]).to.deep.equal([413, 'payload_too_large'])
    const form = await app.post('card_number=1', { 'Content-Type': 'application/x-www-form-urlencoded' })
    expect([form.status, await codeOf(form)]).to.deep.equal([415, 'unsupported_media_type'])
    const get = await fetch(`${app.url}/v1/tokens`)
    expect([get.status, get.headers.get('Allow')]).to.deep.equal([405, 'OPTIONS, POST'])
  })

  it('accepts its paths in their exact spelling only', async () => {
    const { path } = (await (await fetch(`${app.url}/v1/fields.json`)).json()) as { path: string }
    const addresses = ['/v1/fields.js', '/v1/fields.json', '/v1/fields/frame', path]
    for (const address of addresses) expect((await fetch(`${app.url}${address}`)).status, address).to.equal(200)
    const written = [
      '/v1/token',
      ...[...addresses, '/v1/tokens'].flatMap(one => [`${one}/`, one.replace('/v1', '/V1')])
    ]
    for (const address of written) {
      for (const method of ['GET', 'POST']) {
        const response = await fetch(`${app.url}${address}`, { method })
        expect([response.status, await codeOf(response)], address).to.deep.equal([404, 'not_found'])
      }
    }
  })
})

describe('POST /v1/tokens: permissions and rate limits', () => {
  const app = useTokensApp()

  it('takes publishable keys of this environment only', async () => {
    const [, secretKeyId, secret] = app.secretKey.split('.')
    const revoked = await app.newKey()
    await app.merchants.revokeKey(revoked.split('.')[1] ?? '')
    const refused: Record<string, string> = {
      'no key': '',
      'another scheme': `Basic ${app.publishableKey}`,
      'an unknown key': 'Bearer svc_test.k000000000000000',
      'a key of live': `Bearer ${app.publishableKey.replace('svc_test', 'svc_live')}`,
      'the id of a secret key': `Bearer svc_test.${secretKeyId}`,
      'a made-up secret': `Bearer ${app.publishableKey}.${secret}`,
      'a revoked key': `Bearer ${revoked}`
    }
    for (const [name, header] of Object.entries(refused)) {
      const response = await app.post(typedCard, { Authorization: header })
      expect(response.status, name).to.equal(401)
      expect(response.headers.get('WWW-Authenticate'), name).to.equal('Bearer')
      expect(await codeOf(response), name).to.equal('unauthorized')
    }
    expect(await codeOf(await app.post(typedCard, { Authorization: `Bearer ${app.secretKey}` }))).to.equal(
      'insufficient_scope'
    )
    expect(await app.redis.secrets.dbsize()).to.equal(0)
  })

  it('lets the hosted fields check their key, without a token', async () => {
    const ask = (key: string) => fetch(`${app.url}/v1/fields/key`, { headers: { Authorization: `Bearer ${key}` } })
    expect((await ask(app.publishableKey)).status).to.equal(200)
    expect((await ask('svc_test.k000000000000000')).status).to.equal(401)
    expect((await ask(app.secretKey)).status).to.equal(403)
    expect(await app.redis.secrets.dbsize()).to.equal(0)
  })

  it('warns of a secret key that a page uses in the place of the publishable one', async () => {
    const from = (key: string, headers = {}) => app.post(typedCard, { Authorization: `Bearer ${key}`, ...headers })
    const page = { Origin: 'https://shop.example' }
    const answers = [await from(app.secretKey, page), await from(app.publishableKey, page), await from(app.secretKey)]
    expect(answers.map(({ status }) => status)).to.deep.equal([403, 201, 403])
    expect(answers.map(({ headers }) => headers.get('X-Service-Warning'))).to.deep.equal([
      'secret-key-in-browser',
      null,
      null
    ])
    const warnings = app.logLines.filter(line => line.includes('used in a browser'))
    expect(warnings).to.have.length(1)
    expect(warnings[0]).to.contain(app.secretKey.split('.')[1]).and.not.contain(app.secretKey.split('.')[2])
  })

  it('names the route of a request in its log, and nothing of the address that only a client knows', async () => {
    await app.post(typedCard)
    await fetch(`${app.url}/v1/fields/of-another-build/fields.js`)
    await fetch(`${app.url}/v1/nothing`)
    const answered = app.logLines.map(line => JSON.parse(line)).filter(({ msg }) => msg === 'request answered')
    expect(answered.map(({ route }) => route)).to.deep.equal(['/v1/tokens', '/v1/fields/:version/fields.js', null])
  })

  it('refuses a disabled merchant', async () => {
    const other = await app.merchants.createMerchant('Outra loja')
    const key = await app.newKey(other.merchantId)
    await app.merchants.setEnabled(other.merchantId, false)
    const response = await app.post(typedCard, { Authorization: `Bearer ${key}` })
    expect([response.status, await codeOf(response)]).to.deep.equal([403, 'merchant_disabled'])
  })

  it('limits each publishable key', async () => {
    const limited = await app.start({ perSecond: 0.001, burst: 3 }, 1)
    const from = (address: string) => app.post(typedCard, { 'X-Forwarded-For': address }, limited)
    const answers = await app.counted(async () => {
      const given: Response[] = []
      for (const host of [1, 2, 3, 4]) given.push(await from(`203.0.113.${host}`))
      return given
    })
    expect(answers.map(({ status }) => status)).to.deep.equal([201, 201, 201, 429])
    const [refused] = answers.slice(3) as [Response]
    expect(Number(refused.headers.get('Retry-After'))).to.be.greaterThan(0)
    expect(await codeOf(refused)).to.equal('rate_limited')

    const otherKey = { 'X-Forwarded-For': '203.0.113.6', Authorization: `Bearer ${await app.newKey()}` }
    expect((await app.post(typedCard, otherKey, limited)).status).to.equal(201)
  })

  it('limits each client address before it looks at the key, and believes only its own proxy', async () => {
    const limited = await app.start({ perSecond: 0.001, burst: 4 }, 1)
    const from = (forwarded: string) =>
      app.post(typedCard, { 'X-Forwarded-For': forwarded, Authorization: 'Bearer svc_test.kguess' }, limited)
    const answers = await app.counted(async () => {
      const given: Response[] = []
      for (const forged of ['1.1.1.1, ', '2.2.2.2, ', '3.3.3.3, ', '']) given.push(await from(`${forged}198.51.100.1`))
      return given
    })
    expect(answers.map(({ status }) => status)).to.deep.equal([401, 401, 429, 429])
    const [refused] = answers.slice(3) as [Response]
    expect([await codeOf(refused), Number(refused.headers.get('Retry-After')) > 0]).to.deep.equal([
      'rate_limited',
      true
    ])
    expect((await from('1.1.1.1, 198.51.100.2')).status).to.equal(401)
  })
})
