/** The audit: a payment as its merchant sees it, against the network's own ledger. */
import { expect } from 'chai'
import { LedgerStatus } from '../../scripts/simulator/ledger.js'
import type { PaymentView } from './merchant.js'
import type { TestNetwork } from './paying-service.js'

/** What the network holds of a payment, all its sales together (cents). */
export interface LedgerSums {
  readonly captured: number
  readonly refunded: number
  /** Authorised, and neither captured nor voided. */
  readonly held: number
  /** Requests that reached the network and were booked as a sale. */
  readonly sales: number
}

export function ledgerSumsOf(network: TestNetwork, paymentId: string): LedgerSums {
  const sums = { captured: 0, refunded: 0, held: 0, sales: 0 }
  for (const sale of network.sales(paymentId)) {
    sums.sales++
    sums.captured += sale.capturedAmount
    if (sale.capturedAmount > 0) sums.refunded += sale.voidedAmount
    if (sale.status === LedgerStatus.authorised) sums.held += sale.amount
  }
  return sums
}

/** The money of a settled payment is what the network's ledger says, and it was charged at most once. */
export function expectLedgerToAgree(network: TestNetwork, payment: PaymentView): void {
  const sums = ledgerSumsOf(network, payment.id)
  const about = `${payment.status} ${payment.id}`
  expect(sums.sales, `sales of ${about}`).to.be.at.most(1)
  expect({ captured: sums.captured, refunded: sums.refunded, held: sums.held }, `ledger of ${about}`).to.deep.equal({
    captured: payment.captured_cents,
    refunded: payment.refunded_cents,
    held: payment.status === 'pre_authorized' ? payment.amount_cents : 0
  })
  const given = payment.refunds.filter(({ state }) => state === 'succeeded')
  const listed = given.reduce((sum, { amount_cents }) => sum + amount_cents, 0)
  expect(listed, `list of refunds of ${about}`).to.equal(sums.refunded)
  expect(payment.refunded_cents).to.be.at.most(payment.captured_cents)
  expect(payment.captured_cents).to.be.at.most(payment.amount_cents)
}
