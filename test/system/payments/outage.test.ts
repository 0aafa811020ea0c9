import { expect } from 'chai'
import { expectLedgerToAgree } from '../../support/ledger-audit.js'
import { usePayingService } from '../../support/paying-service.js'

describe('when the card network is away', () => {
  const { merchant, network } = usePayingService()

  it('moves no money, and answers that a new try is safe', async () => {
    const [held, paid] = [await merchant.create({ capture: false }), await merchant.create()]
    const token = await merchant.token()
    await network.stop()
    const answers = await Promise.all([
      merchant.create({ token }),
      merchant.capture(held.payment.id),
      merchant.cancel(paid.payment.id, { amount: 1_000 })
    ])
    for (const answer of answers) {
      expect([answer.status, answer.error.code, answer.error.retryable]).to.deep.equal([
        503,
        'network_unavailable',
        true
      ])
    }
    await network.start()
    const after = await Promise.all(answers.map(answer => merchant.read(answer.error.payment_id ?? '')))
    expect(after.map(payment => payment.status)).to.deep.equal(['failed', 'pre_authorized', 'captured'])
    for (const payment of after) expectLedgerToAgree(network, payment)
    expect((await merchant.cancel(held.payment.id)).payment.status).to.equal('canceled')
    expect((await merchant.create({ token })).payment.status, 'the same token with a new key').to.equal('captured')
  })
})
