import { expect } from 'chai'
import { createTestToken } from '../../../client/index.js'
import { demoCustomer } from '../../../scripts/start/demo-customer.js'
import { useService } from '../../support/service.js'
import { contentOf, metricsOf } from './left-behind.js'
import { findNeedles, longSecret } from './needles.js'
import { call, QUICK } from './shopping.js'

const DOCUMENT = '12ABC34501DE35'
const needles = [longSecret('document', DOCUMENT)]

describe('a CNPJ with letters', () => {
  const service = useService(QUICK)

  const pay = async (document: string): ReturnType<typeof call> => {
    const { tokensUrl, publishableKey } = service()
    const { token_id } = await createTestToken({ tokensUrl, publishableKey })
    return await call(service(), 'POST', '/v1/payments', {
      amount_cents: 1_990,
      external_reference: 'order-of-a-company',
      payment_source: { source_type: 'token', token_id },
      customer: { ...demoCustomer, document }
    })
  }

  it('pays, and is in no answer, log, metric, key or value afterwards', async () => {
    const paid = await pay(DOCUMENT)
    expect([paid.status, paid.body.status]).to.deep.equal([201, 'captured'])
    const read = await call(service(), 'GET', `/v1/payments/${paid.body.id}`)
    const refused = await pay(`${DOCUMENT.slice(0, -1)}6`)
    expect([read.status, refused.status]).to.deep.equal([200, 400])
    expect(findNeedles(JSON.stringify([paid, read]), needles), 'answers').to.deep.equal([])
    expect(JSON.stringify(refused)).not.to.contain(DOCUMENT.slice(0, -2))
    expect(findNeedles(service().logs(), needles), 'logs').to.deep.equal([])
    expect(findNeedles(await metricsOf(service().dataDir), needles), 'metrics').to.deep.equal([])
    for (const url of [service().redisUrl, service().secretsRedisUrl]) {
      expect(findNeedles(await contentOf(url), needles), 'Redis').to.deep.equal([])
    }
  })

  it('is announced by the capabilities', async () => {
    expect((await call(service(), 'GET', '/v1/capabilities')).body).to.include({ cnpj_with_letters: true })
  })
})
