import { expect } from 'chai'
import { ServiceError } from '../../../api/http/service-error.js'
import { capabilitiesOf } from '../../../api/payments/capabilities-route.js'
import { requireKnownBrands } from '../../../api/payments/require-known-brands.js'
import { cardBrands } from '../../../machines/card-brands.js'
import { ConfigError, readConfig } from '../../../runtime/config.js'
import { CARD_ID, startApi, useApi } from '../running-api.js'

const card = {
  cardId: 'card_1',
  brand: 'visa',
  last4: '0060',
  expirationMonth: '12',
  expirationYear: '2030',
  holderName: 'MARIA DA SILVA',
  cardBox: 'sealed'
}

describe('POST /v1/cards', () => {
  const api = useApi({}, beforeEach)

  for (const [isNew, status] of [
    [true, 201],
    [false, 200]
  ] as const) {
    it(`2.3: a card that is ${isNew ? 'new' : 'there already'} is ${status}, and shows these fields only`, async () => {
      api.cards.answer = { card, isNew }
      const answer = await api.request('POST', '/v1/cards', {
        body: { token_id: 'tok_1' },
        headers: { 'Idempotency-Key': null }
      })
      expect(answer.status).to.equal(status)
      expect(answer.body).to.deep.equal({
        card_id: 'card_1',
        status: 'active',
        brand: 'visa',
        last4: '0060',
        expiration_month: '12',
        expiration_year: '2030',
        holder_name: 'MARIA DA SILVA'
      })
      expect(api.cards.asked).to.deep.equal([['m_one', 'tok_1']])
    })
  }

  it('a token that cannot be used is 422 invalid_token', async () => {
    api.cards.answer = new ServiceError('invalid_token')
    const answer = await api.request('POST', '/v1/cards', { body: { token_id: 'tok_1' } })
    expect(answer.status).to.equal(422)
    expect(answer.error['code']).to.equal('invalid_token')
  })

  for (const [body, path] of [
    [{}, 'token_id'],
    [{ token_id: '' }, 'token_id'],
    [{ token_id: 1 }, 'token_id'],
    [{ token_id: 'a b' }, 'token_id'],
    [{ token_id: 'tok_1', cvv: '123' }, 'cvv'],
    [[], 'body']
  ] as const) {
    it(`4.6: ${JSON.stringify(body)} is 400 and names ${path}`, async () => {
      const answer = await api.request('POST', '/v1/cards', { body })
      expect(answer.status).to.equal(400)
      expect(answer.error.fields?.map(field => field.path)).to.deep.equal([path])
      expect(api.cards.asked).to.have.length(0)
    })
  }
})

describe('GET and DELETE /v1/cards/{id}', () => {
  const api = useApi({}, beforeEach)

  it('show the card of the merchant of the key, and erase it without a body', async () => {
    api.cards.found = { ...card, cardId: CARD_ID }
    const read = await api.request('GET', `/v1/cards/${CARD_ID}`)
    expect(read.status).to.equal(200)
    expect(read.body)
      .to.include({ card_id: CARD_ID, status: 'active', last4: '0060' })
      .and.not.to.have.property('cardBox')
    const erased = await api.request('DELETE', `/v1/cards/${CARD_ID}`)
    expect([erased.status, erased.headers.get('Content-Type')]).to.deep.equal([204, null])
    expect(api.cards.asked).to.deep.equal([
      ['m_one', CARD_ID],
      ['m_one', CARD_ID]
    ])
  })

  it('show that a card is expired, when its month has ended everywhere', async () => {
    for (const [expirationYear, status] of [
      ['2020', 'expired'],
      ['2099', 'active']
    ] as const) {
      api.cards.found = { ...card, cardId: CARD_ID, expirationYear }
      expect((await api.request('GET', `/v1/cards/${CARD_ID}`)).body['status']).to.equal(status)
    }
  })

  it("answer 404 not_found for an unknown card and for another merchant's, without a lookup for malformed ids", async () => {
    for (const method of ['GET', 'DELETE']) {
      for (const id of [CARD_ID, 'card_1', 'card_%3A', CARD_ID.toUpperCase()]) {
        const answer = await api.request(method, `/v1/cards/${id}`)
        expect([answer.status, answer.error.code]).to.deep.equal([404, 'not_found'])
      }
    }
    expect(api.cards.asked).to.have.length(2)
  })
})

describe('GET /v1/capabilities', () => {
  const capabilitiesWith = async (env: NodeJS.ProcessEnv): Promise<Record<string, unknown>> => {
    const api = await startApi({ env })
    try {
      const answer = await api.request('GET', '/v1/capabilities')
      expect(answer.status).to.equal(200)
      return answer.body
    } finally {
      await api.stop()
    }
  }

  it('2.5, 7.1: shows the capabilities of the test environment', async () => {
    expect(await capabilitiesWith({})).to.deep.equal({
      key_environment: 'test',
      currencies: ['BRL'],
      max_installments: 18,
      cnpj_with_letters: false,
      authorize_within_seconds: 900,
      preauth_ttl_days: 7,
      preauth_ttl_days_by_brand: {},
      idempotency_retention_days: 90,
      rate_limit: { requests_per_second: 100, burst: 200 },
      tokenization: { available: true, sandbox: true, url: 'http://localhost:3001' }
    })
  })

  it('2.5: shows that the live environment is not a sandbox', () => {
    const live = capabilitiesOf({ ...readConfig({ SERVICE_ENV: 'test' }), environment: 'live' })
    expect(live).to.include({ key_environment: 'live' }).and.have.nested.property('tokenization.sandbox', false)
  })

  it('follows the configuration', async () => {
    const env = {
      RATE_LIMIT_PER_SECOND: '0',
      CNPJ_WITH_LETTERS: 'yes',
      PREAUTH_TTL_DAYS: '5,visa=3,elo=15',
      TOKENS_URL: 'https://tokens.example'
    }
    expect(await capabilitiesWith(env)).to.deep.include({
      cnpj_with_letters: true,
      preauth_ttl_days: 5,
      preauth_ttl_days_by_brand: { visa: 3, elo: 15 },
      rate_limit: null,
      tokenization: { available: true, sandbox: true, url: 'https://tokens.example' }
    })
  })
})

describe('PREAUTH_TTL_DAYS_BY_BRAND', () => {
  const take = (...brands: readonly string[]): void =>
    requireKnownBrands({ preauthTtlDays: { days: 7, byName: Object.fromEntries(brands.map(brand => [brand, 5])) } })

  it('takes every brand of the card network', () => {
    expect(() => take(...cardBrands)).not.to.throw()
  })

  it('refuses a brand that is misspelt', () => {
    expect(() => take('visa', 'vissa')).to.throw(ConfigError, 'names the brand vissa; there are visa, ')
  })
})
