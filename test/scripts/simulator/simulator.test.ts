/** The simulator on the wire, as the acquirer's documents describe it; no adapter in between. */
import { expect } from 'chai'
import type { Simulator } from '../../../scripts/simulator/simulator.js'
import { saleBody } from '../../../workers/network/sale-request.js'
import { credentials, purchase, startTestSimulator } from '../../support/card-network.js'

const headers = {
  MerchantId: credentials.networkMerchantId,
  MerchantKey: credentials.networkMerchantKey,
  'Content-Type': 'application/json'
}

describe('the simulator on the wire', () => {
  let simulator: Simulator

  before(async () => {
    simulator = await startTestSimulator()
  })
  after(() => simulator.stop())

  async function call(method: string, path: string, body?: string, changes: Record<string, string> = {}) {
    const init = { method, headers: { ...headers, ...changes }, ...(body === undefined ? {} : { body }) }
    const response = await fetch(simulator.url + path, init)
    const text = await response.text()
    return { status: response.status, text, json: text === '' ? undefined : JSON.parse(text) }
  }

  async function sell(orderId: string, capture: boolean, amountCents = 10_000) {
    const { json } = await call('POST', '/1/sales', saleBody(purchase({ orderId, capture, amountCents })) ?? '')
    return String(json.Payment.PaymentId)
  }

  it('creates a sale with 201, a masked card and the links of its state', async () => {
    const { status, json } = await call('POST', '/1/sales/', saleBody(purchase({ orderId: 'wire1' })) ?? '')
    expect(status).to.equal(201)
    expect(json.MerchantOrderId).to.equal('wire1')
    expect(json.Payment).to.deep.include({ Status: 2, ReturnCode: '6', Amount: 10_000, CapturedAmount: 10_000 })
    expect(json.Payment.CreditCard.CardNumber).to.equal('402400******0060')
    expect(json.Payment.ReceivedDate).to.match(/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$/)
    expect(json.Payment.Tid).to.match(/^\d{13}$/)
    expect(json.Payment.Links.map((link: { Rel: string }) => link.Rel)).to.deep.equal(['self', 'void'])
    expect(json.Payment.Links[0].Href).to.equal(`${simulator.url}/1/sales/${json.Payment.PaymentId}`)
  })

  it('denies with 201, without the fields that only an approval has', async () => {
    const denied = saleBody(purchase({ orderId: 'wire2' }, '4024007153760003')) ?? ''
    const { status, json } = await call('POST', '/1/sales/', denied)
    expect(status).to.equal(201)
    expect(json.Payment).to.include({ Status: 3, ReturnCode: '57', ReturnMessage: 'Card Expired' })
    expect(json.Payment).not.to.have.any.keys('ProofOfSale', 'AuthorizationCode', 'CapturedAmount')
  })

  it('denies a card whose expiry is over, as its issuer would', async () => {
    const order = saleBody(purchase({ orderId: 'wireExpired' })) ?? ''
    const expired = order.replace(/"ExpirationDate":"[^"]+"/, '"ExpirationDate":"10/2020"')
    const { json } = await call('POST', '/1/sales/', expired)
    expect(json.Payment).to.include({ Status: 3, ReturnCode: '57', ReturnMessage: 'Card Expired' })
  })

  it('answers 401 without a body to wrong credentials', async () => {
    const { status, text } = await call('GET', '/1/sales/x', undefined, { MerchantKey: 'other' })
    expect({ status, text }).to.deep.equal({ status: 401, text: '' })
  })

  it('answers 400 with all errors of a sale in an array, and books nothing', async () => {
    const booked = [...simulator.ledger.sales()].length
    const bad = { MerchantOrderId: 'a-b', Payment: { Type: 'CreditCard', Amount: 0, CreditCard: { Holder: 'J0' } } }
    const { status, json } = await call('POST', '/1/sales/', JSON.stringify(bad))
    expect(status).to.equal(400)
    expect(json.map((error: { Code: number }) => error.Code)).to.deep.equal([107, 108, 123, 118, 214, 125, 182])
    expect((await call('POST', '/1/sales/', '{')).json[0].Code).to.equal(184)
    expect([...simulator.ledger.sales()]).to.have.length(booked)
  })

  it('answers 404 to what it does not know, 405 to the wrong method', async () => {
    expect((await call('GET', '/1/sales?merchantOrderId=none')).status).to.equal(404)
    expect((await call('GET', '/1/sales/none')).status).to.equal(404)
    expect((await call('PUT', '/1/sales/none/void')).status).to.equal(404)
    expect((await call('GET', '/2/sales')).status).to.equal(404)
    expect((await call('DELETE', '/1/sales')).status).to.equal(405)
  })

  it('voids an authorisation as a whole only', async () => {
    const saleId = await sell('wire5', false)
    expect((await call('PUT', `/1/sales/${saleId}/void?amount=1`)).status).to.equal(400)
    expect((await call('PUT', `/1/sales/${saleId}/void?amount=x`)).json[0].Code).to.equal(108)
    expect((await call('PUT', `/1/sales/${saleId}/void?amount=10000`)).json).to.include({ Status: 10 })
  })
})
