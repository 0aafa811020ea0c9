import { expect } from 'chai'
import { demoCustomer } from '../../../scripts/start/demo-customer.js'
import { useService } from '../../support/service.js'
import { filesIn } from './left-behind.js'
import { findNeedles, longSecret } from './needles.js'
import { call, QUICK } from './shopping.js'

const NUMBER = '5315281703921200'
const SPACED = '5315 2817 0392 1200'

describe('card numbers in texts of merchants', function () {
  this.timeout(60_000)
  const service = useService(QUICK)

  const misplaced: readonly [string, object][] = [
    ['metadata.note', { metadata: { note: `paid with ${SPACED}` } }],
    ['metadata.note', { metadata: { note: Number(NUMBER) } }],
    ['metadata.cvv', { metadata: { cvv: '0937' } }],
    ['metadata.(a card number)', { metadata: { [NUMBER]: true } }],
    ['(a card number)', { [NUMBER]: true }],
    ['external_reference', { external_reference: NUMBER }],
    ['external_reference', { external_reference: SPACED }],
    ['statement_descriptor', { statement_descriptor: NUMBER }],
    ['customer.name', { customer: { ...demoCustomer, name: `Ada ${NUMBER}` } }],
    ['customer.email', { customer: { ...demoCustomer, email: `${NUMBER}@example.com` } }],
    ['customer.address.street', { customer: { ...demoCustomer, address: { ...demoCustomer.address, street: SPACED } } }]
  ]

  it('are refused, and are in no answer, log or file', async () => {
    const answers: string[] = []
    for (const [path, fields] of misplaced) {
      const { status, body } = await call(service(), 'POST', '/v1/payments', {
        amount_cents: 100,
        external_reference: 'order-1',
        payment_source: { source_type: 'card', card_id: 'card_1' },
        customer: demoCustomer,
        ...fields
      })
      const { fields: problems = [] } = body['error'] as { fields?: { path: string }[] }
      expect([status, problems.map(problem => problem.path)], path).to.deep.equal([400, [path]])
      answers.push(JSON.stringify(body))
    }
    const { status, body } = await call(service(), 'GET', `/v1/payments?external_reference=${NUMBER}`)
    expect(status).to.equal(400)
    const needles = [longSecret('card number', NUMBER)]
    expect(findNeedles([...answers, JSON.stringify(body)].join('\n'), needles), 'answers').to.deep.equal([])
    expect(findNeedles(service().logs(), needles), 'logs').to.deep.equal([])
    for (const [file, content] of filesIn(service().dataDir))
      expect(findNeedles(content, needles), file).to.deep.equal([])
  })
})
