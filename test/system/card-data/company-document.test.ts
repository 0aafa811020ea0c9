import { expect } from 'chai'
import { demoCustomer } from '../../../scripts/start/demo-customer.js'
import { Merchant, orderOf } from '../../support/merchant.js'
import { useService } from '../../support/service.js'
import { contentOf, metricsOf } from './left-behind.js'
import { findNeedles, longSecret } from './needles.js'
import { QUICK } from './shopping.js'

const DOCUMENT = '12ABC34501DE35'
const needles = [longSecret('document', DOCUMENT)]

describe('a CNPJ with letters', () => {
  const service = useService(QUICK)
  const merchant = new Merchant(service)

  const pay = async (document: string): ReturnType<typeof merchant.post> => {
    const source = { source_type: 'token', token_id: await merchant.token() }
    const customer = { ...demoCustomer, document }
    return await merchant.post('/v1/payments', { ...orderOf({}), payment_source: source, customer })
  }

  it('pays, and is in no answer, log, metric, key or value afterwards', async () => {
    const paid = await pay(DOCUMENT)
    expect([paid.status, paid.payment.status]).to.deep.equal([201, 'captured'])
    const read = await merchant.read(paid.payment.id)
    const refused = await pay(`${DOCUMENT.slice(0, -1)}6`)
    expect(refused.status).to.equal(400)
    expect(findNeedles(JSON.stringify([paid, read]), needles), 'answers').to.deep.equal([])
    expect(JSON.stringify(refused)).not.to.contain(DOCUMENT.slice(0, -2))
    expect(findNeedles(service().logs(), needles), 'logs').to.deep.equal([])
    expect(findNeedles(await metricsOf(service().dataDir), needles), 'metrics').to.deep.equal([])
    for (const url of [service().redisUrl, service().secretsRedisUrl]) {
      expect(findNeedles(await contentOf(url), needles), 'Redis').to.deep.equal([])
    }
  })

  it('is announced by the capabilities', async () => {
    expect(await merchant.get('/v1/capabilities')).to.include({ cnpj_with_letters: true })
  })
})
