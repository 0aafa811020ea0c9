import { expect } from 'chai'
import { delay } from '../../../runtime/delay.js'
import { expectLedgerToAgree } from '../../support/ledger-audit.js'
import { type ApiAnswer, asOperator } from '../../support/merchant.js'
import { PATIENT_TIMEOUT_MS, usePayingService } from '../../support/paying-service.js'

/** Payments that a test sends while the network goes and comes back. */
const TRAFFIC = 90

describe('when the card network is away', function () {
  this.timeout(60_000)
  const { service, merchant, network } = usePayingService(PATIENT_TIMEOUT_MS)

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

  it('settles all payments of the outage once it is over, in agreement with the ledger', async () => {
    const answers: Promise<ApiAnswer>[] = []
    for (let i = 0; i < TRAFFIC; i++) {
      answers.push(merchant.create())
      // Open loop: the next buyer does not wait for the answer to this one.
      await delay(15)
      if (i === 20) network.faults({ latency_ms: 300 })
      if (i === 40) await network.stop()
      if (i === 70) await network.start()
    }
    const sent = await Promise.all(answers)
    network.faults()
    const ids = sent.map(answer => answer.error.payment_id ?? answer.payment.id)
    const codes = sent.filter(answer => answer.status >= 400).map(answer => answer.error.code)
    expect(codes.every(code => code === 'network_unavailable')).to.equal(true)
    expect((await asOperator(service(), 'clock', 'advance', '11m')).code).to.equal(0)
    const payments = await Promise.all(ids.map(id => merchant.settled(id)))
    for (const payment of payments) expectLedgerToAgree(network, payment)
    const statuses = new Set(payments.map(payment => payment.status))
    expect([...statuses].sort()).to.deep.equal(['captured', 'failed'])
  })
})
