import { expect } from 'chai'
import { delay } from '../../../runtime/delay.js'
import { until } from '../../support/conditions.js'
import { expectLedgerToAgree } from '../../support/ledger-audit.js'
import { PATIENT_TIMEOUT_MS, usePayingService } from '../../support/paying-service.js'

/** More than the life of a lock, which is TAKEOVER_AFTER_MS. */
const LOCK_GONE_MS = 3_000

describe('a call to the card network that outlives the lock of its payment', function () {
  this.timeout(40_000)
  const { service, merchant, network } = usePayingService(PATIENT_TIMEOUT_MS)

  const whileLockIsLost = async (): Promise<void> => {
    await until('the call has arrived', () => network.held === 1)
    service().kill('secrets-redis')
    await delay(LOCK_GONE_MS)
    network.answerHeld()
  }

  it('is an authorisation: its answer is committed, and the payment is captured', async () => {
    network.hold('arrived')
    const answer = merchant.create({ waitS: 20 })
    await whileLockIsLost()
    const { status, payment } = await answer
    expect([status, payment.status]).to.deep.equal([201, 'captured'])
    expectLedgerToAgree(network, payment)
  })

  it('is a refund: its answer is committed, and the refund is not sent again', async () => {
    const { id } = (await merchant.create()).payment
    network.hold('arrived', '/void')
    const answer = merchant.cancel(id, { amount: 4_000, waitS: 20 })
    await whileLockIsLost()
    const { status, payment } = await answer
    expect([status, payment.status, payment.refunded_cents]).to.deep.equal([200, 'partially_refunded', 4_000])
    expectLedgerToAgree(network, await merchant.settled(id))
    expect(network.sales(id)[0]?.requests.void).to.equal(1)
  })
})
