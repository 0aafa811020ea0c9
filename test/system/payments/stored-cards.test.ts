import { expect } from 'chai'
import { expectLedgerToAgree } from '../../support/ledger-audit.js'
import { asOperator, Merchant } from '../../support/merchant.js'
import { usePayingService } from '../../support/paying-service.js'

describe('a stored card', () => {
  const { service, merchant, network } = usePayingService()

  it('pays again and again, with and without the security code', async () => {
    const stored = await merchant.storeCard()
    for (const cvv of ['123', undefined, '9876']) {
      const answer = await merchant.create({ source: { ...stored, ...(cvv === undefined ? {} : { cvv }) } })
      expect([answer.status, answer.payment.status], `cvv ${cvv}`).to.deep.equal([201, 'captured'])
      expect((answer.payment as unknown as { card: { card_id: string } }).card.card_id).to.equal(stored.card_id)
      expectLedgerToAgree(network, answer.payment)
    }
  })

  it('pays with the token of its security code, once, and for its own merchant only', async () => {
    const cvvToken = await merchant.cvvToken('987')
    const paid = { ...(await merchant.storeCard()), cvv_token_id: cvvToken }
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
    const source = await merchant.storeCard()
    const cardId = source.card_id
    const { payment } = await merchant.create({ source, capture: false })
    const other = await anotherMerchant()
    expect([await other.card('GET', cardId), await other.card('DELETE', cardId)]).to.deep.equal([404, 404])
    const [read, erased, again] = ['GET', 'DELETE', 'DELETE'] as const
    const statuses = [await merchant.card(read, cardId), await merchant.card(erased, cardId)]
    statuses.push(await merchant.card(read, cardId), await merchant.card(again, cardId))
    expect(statuses).to.deep.equal([200, 204, 404, 404])
    const refused = await merchant.create({ source })
    expect([refused.status, refused.error.code]).to.deep.equal([422, 'invalid_card'])
    await merchant.capture(payment.id)
    const refunded = await merchant.cancel(payment.id)
    expect(refunded.payment.status).to.equal('refunded')
    expectLedgerToAgree(network, refunded.payment)
  })

  it('does not exist for other merchants, and neither do payments and tokens', async () => {
    const source = await merchant.storeCard()
    const { id } = (await merchant.create({ capture: false })).payment
    const token = await merchant.token()
    const other = await anotherMerchant()
    expect((await other.create({ source })).error.code).to.equal('invalid_card')
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
