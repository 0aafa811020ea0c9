/** What needs most rights in Redis: lives of payments, one of them with a worker that dies. */
import { expect } from 'chai'
import { Merchant } from '../../support/merchant.js'
import type { ServiceUnderTest } from '../../support/service.js'
import { chargeBack } from '../../support/simulator.js'
import { UNANSWERED } from '../card-data/shopping.js'

/** Needs settings with which an unknown outcome is known soon (`QUICK`). */
export async function livePayments(service: ServiceUnderTest): Promise<void> {
  const merchant = new Merchant(() => service)
  const source = { ...(await merchant.storeCard()), cvv: '123' }
  expect((await merchant.create({ source })).payment.status).to.equal('captured')
  const { id } = (await merchant.create()).payment
  expect((await merchant.cancel(id, { amount: 1_000 })).payment.status).to.equal('partially_refunded')
  expect(await merchant.get('/v1/payments?status=captured')).to.have.property('items')
  const inFlight = merchant.create({ token: await merchant.token(UNANSWERED) })
  service.kill('payments')
  // Another worker takes over.
  await merchant.settled((await inFlight).payment.id)
  await chargeBack(service.networkUrl, id)
  await merchant.settled(id, 'charged_back')
}
