import { expect } from 'chai'
import { expectLedgerToAgree } from '../../support/ledger-audit.js'
import { asOperator, Merchant, testCards } from '../../support/merchant.js'
import { usePayingService } from '../../support/paying-service.js'

describe('a stored card', () => {
  const { service, merchant, network } = usePayingService()

  const stored = async (card: string = testCards.approved): Promise<{ cardId: string; token: string }> => {
    const token = await merchant.token(card)
    const { status, payment } = await merchant.post('/v1/cards', { token_id: token })
    expect(status).to.equal(201)
    return { cardId: (payment as unknown as { card_id: string }).card_id, token }
  }
  const source = (cardId: string, cvv?: string): Record<string, unknown> => ({
    source_type: 'card',
    card_id: cardId,
    ...(cvv === undefined ? {} : { cvv })
  })

  it('pays again and again, with and without the security code', async () => {
    const { cardId } = await stored()
    for (const cvv of ['123', undefined, '9876']) {
      const answer = await merchant.create({ source: source(cardId, cvv) })
      expect([answer.status, answer.payment.status], `cvv ${cvv}`).to.deep.equal([201, 'captured'])
      expect((answer.payment as unknown as { card: { card_id: string } }).card.card_id).to.equal(cardId)
      expectLedgerToAgree(network, answer.payment)
    }
  })

  it('pays with the token of its security code, once, and for its own merchant only', async () => {
    const { cardId } = await stored()
    const cvvToken = await merchant.cvvToken('987')
    const paid = { source_type: 'card', card_id: cardId, cvv_token_id: cvvToken }
    const answer = await merchant.create({ source: paid, key: 'with-cvv-token' })
    expect([answer.status, answer.payment.status]).to.deep.equal([201, 'captured'])
    expectLedgerToAgree(network, answer.payment)
    expect((await merchant.create({ source: paid, key: 'with-cvv-token' })).status).to.equal(200)
    const theirs = await (await anotherMerchant()).cvvToken()
    for (const cvv_token_id of [cvvToken, theirs, await merchant.token(), 'cvt_0']) {
      const refused = await merchant.create({ source: { ...paid, cvv_token_id } })
      expect([refused.status, refused.error.code]).to.deep.equal([422, 'invalid_token'])
    }
    const asCard = await merchant.create({ token: await merchant.cvvToken() })
    expect([asCard.status, asCard.error.code]).to.deep.equal([422, 'invalid_token'])
    expect((await merchant.post('/v1/cards', { token_id: await merchant.cvvToken() })).status).to.equal(422)
  })

  it('is erased: it cannot pay any more, and a payment that was sent with it continues', async () => {
    const { cardId, token } = await stored()
    const { payment } = await merchant.create({ source: source(cardId), capture: false })
    const other = await anotherMerchant()
    expect([await other.card('GET', cardId), await other.card('DELETE', cardId)]).to.deep.equal([404, 404])
    const [read, erased, again] = ['GET', 'DELETE', 'DELETE'] as const
    const statuses = [await merchant.card(read, cardId), await merchant.card(erased, cardId)]
    statuses.push(await merchant.card(read, cardId), await merchant.card(again, cardId))
    expect(statuses).to.deep.equal([200, 204, 404, 404])
    const refused = await merchant.create({ source: source(cardId) })
    expect([refused.status, refused.error.code]).to.deep.equal([422, 'invalid_card'])
    expect((await merchant.post('/v1/cards', { token_id: token })).error.code).to.equal('invalid_token')
    await merchant.capture(payment.id)
    const refunded = await merchant.cancel(payment.id)
    expect(refunded.payment.status).to.equal('refunded')
    expectLedgerToAgree(network, refunded.payment)
  })

  it('does not exist for other merchants, and neither do payments and tokens', async () => {
    const { cardId } = await stored()
    const { id } = (await merchant.create({ capture: false })).payment
    const token = await merchant.token()
    const other = await anotherMerchant()
    expect((await other.create({ source: source(cardId) })).error.code).to.equal('invalid_card')
    expect((await other.create({ token })).error.code).to.equal('invalid_token')
    expect((await other.capture(id)).status).to.equal(404)
    expect((await other.cancel(id)).status).to.equal(404)
    expect((await merchant.capture(id)).payment.status).to.equal('captured')
    expect((await merchant.create({ token })).payment.status).to.equal('captured')
  })

  async function anotherMerchant(): Promise<Merchant> {
    const made = await asOperator(service(), 'merchant', 'create', 'Another', '--json')
    const { merchant_id: id } = made.json() as { merchant_id: string }
    const keyWith = async (...options: string[]): Promise<string> => {
      const { json } = await asOperator(service(), 'key', 'create', '--merchant', id, '--json', ...options)
      return (json() as { key: string }).key
    }
    return new Merchant(service, {
      apiKey: await keyWith('--permissions', 'payments:read,payments:write,cards:write'),
      publishableKey: await keyWith('--permissions', 'tokens:write', '--publishable')
    })
  }
})
